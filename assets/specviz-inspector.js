// The step inspector: one step taken apart. Its draft as a row of cards, the token looked at with
// the distributions at its place, where the draft came from, and the whole step as one plain line.

const SV_CARDS = 40; // tokens of a step that are drawn
const SV_CALM = 500; // ms between two drawings while the run plays
const SV_KEYS = {
  sv_inspect_key_token: "\u2190 \u2192", sv_inspect_key_ends: "Home End", sv_inspect_key_step: ", .",
  sv_inspect_key_play: "Space", sv_inspect_key_close: "Esc", sv_inspect_key_list: "?",
};

class SvInspector {
  constructor(parent, viewer) {
    this.viewer = viewer;
    this.say = (key, values) => viewer.say(key, values);
    this.key = "";
    this.drawn = 0; // when it was drawn last
    this.asked = new Set(); // steps whose alternatives were asked for
    this.box = svNode("section", "sv-inspect", parent);
    this.box.tabIndex = 0;
    this.box.hidden = true;
    const head = svNode("header", "sv-inspect-head", this.box);
    this.title = svNode("h3", "", head);
    this.facts = svNode("p", "sv-inspect-facts", head);
    this.help = svNode("button", "sv-small-button sv-help", head);
    this.help.type = "button";
    this.help.addEventListener("click", () => this.keys());
    this.list = svNode("dl", "sv-keys", this.box);
    this.list.hidden = true;
    this.guide = svNode("p", "sv-guide", this.box); // to the lesson, where there is one
    this.guide.hidden = true;
    this.pinned = svNode("p", "sv-inspect-pinned", this.box);
    this.pinned.hidden = true;
    this.pin = svNode("span", "", this.pinned);
    this.follow = svNode("button", "sv-small-button", this.pinned);
    this.follow.type = "button";
    this.follow.addEventListener("click", () => this.viewer.cursor.unpin());
    this.line = new SvLine(this.box, this);
    this.chain = svNode("ol", "sv-chain", this.box);
    this.chain.addEventListener("click", (event) => this.click(event));
    this.detail = svNode("div", "sv-inspect-detail", this.box);
    this.detail.setAttribute("aria-live", "off");
  }

  words() {
    this.key = "";
    this.box.setAttribute("aria-label", this.say("sv_inspect_label"));
    this.help.textContent = "?";
    this.help.title = this.say("sv_inspect_keys");
    this.help.setAttribute("aria-label", this.say("sv_inspect_keys"));
    this.help.setAttribute("aria-expanded", String(!this.list.hidden));
    this.list.textContent = "";
    for (const [word, keys] of Object.entries(SV_KEYS)) {
      const row = svNode("div", "", this.list);
      const name = svNode("dt", "", row);
      for (const key of keys.split(" ")) {
        svNode("kbd", "", name).textContent = key === "Space" ? this.say("sv_key_space") : key;
      }
      svNode("dd", "", row).textContent = this.say(word);
    }
    this.follow.textContent = this.say("sv_inspect_follow");
    this.line.words();
  }

  // Show or hide the list of keys.
  keys() {
    this.list.hidden = !this.list.hidden;
    this.guide.hidden = this.list.hidden || !this.guide.firstChild;
    this.help.setAttribute("aria-expanded", String(!this.list.hidden));
  }

  // Bring the panel up to date, soon; of a run that moves, the first step that comes after a rest.
  draw() {
    const { player, feed } = this.viewer;
    const moving = player.mode === "play" || (feed.run.kind === "live" && !feed.run.end);
    if (this.due && moving) return;
    clearTimeout(this.due); // what waited while the run moved is due at once when it rests
    const wait = moving ? Math.max(0, this.drawn + SV_CALM - performance.now()) : 0;
    this.due = setTimeout(() => { this.due = null; this.show(); }, wait);
  }

  // The step looked at: that of the kept token, else the last one shown.
  where() {
    const { viewer } = this;
    const place = viewer.active;
    const lane = viewer.feed.run.lanes[place];
    const marked = viewer.cursor.marked(place);
    const index = marked >= 0 ? marked : (viewer.shown[place] || 0) - 1;
    return { place, lane, index, step: lane && lane.steps[index] };
  }

  show() {
    const { place, lane, index, step } = this.where();
    this.box.hidden = !lane || !this.viewer.lanes[place];
    if (this.box.hidden) return;
    this.tellPinned(place, index);
    const picked = step ? this.picked(place, index, step) : -1;
    const key = [this.viewer.feed.run.id, place, index, picked, Boolean(step && step.light)].join();
    if (key === this.key) return;
    this.key = key;
    this.drawn = performance.now();
    const count = { n: index + 1, all: lane.steps.length };
    this.title.textContent = this.say(step ? "sv_inspect_head" : "sv_inspect_none", count);
    for (const node of [this.facts, this.chain, this.detail]) node.textContent = "";
    this.viewer.cursor.sources(place, step, this.viewer.lanes[place]);
    this.line.draw(lane, index);
    if (!step) return;
    this.facts.textContent = this.factsOf(step, lane).join(" \u00b7 ");
    this.cards(lane, step, picked);
    new SvDetail(this.detail, this).draw(lane, step, picked, this.viewer.lanes[place]);
    if (step.light) this.ask(place, index);
  }

  // A kept token may stand in another step than the player: say so, and how to go on with it.
  tellPinned(place, index) {
    const { viewer } = this;
    const at = viewer.shown[place] || 0;
    this.pinned.hidden = viewer.cursor.marked(place) < 0 || index === at - 1;
    if (!this.pinned.hidden) svSet(this.pin, this.say("sv_inspect_pinned", { n: at }));
  }

  // A card per token; of very long drafts the first ones, the one looked at, and the last.
  cards(lane, step, picked) {
    const last = step.tok.length - 1;
    step.tok.forEach((token, at) => {
      if (at >= SV_CARDS && at !== picked && at !== last) return;
      this.card(lane, step, token, at, at === picked);
    });
    if (last < SV_CARDS) return;
    const more = svNode("li", "sv-link-more", this.chain);
    more.textContent = this.say("sv_inspect_more", { n: last - SV_CARDS });
  }

  // The token of the step that is looked at: the one pointed at, else the first that the target
  // alone would not have put there, else the last.
  picked(place, index, step) {
    const { cursor } = this.viewer;
    if (cursor.marked(place) === index) return cursor.at.k - this.first(place, index);
    const odd = step.tok.findIndex((token) => token.f === "r" || svLossy(token));
    return odd >= 0 ? odd : step.tok.length - 1;
  }

  // Number of the first token of a step in its lane's text.
  first(place, index) {
    let k = 0;
    const { steps } = this.viewer.feed.run.lanes[place];
    for (let i = 0; i < index; i++) k += steps[i].tok.length;
    return k;
  }

  factsOf(step, lane) {
    const show = this.viewer.formats;
    const [draft, verify, other] = step.ms.map((ms) => show.ms(ms));
    const facts = lane.key === "plain" ? [] : ["\u03b3 " + step.g];
    const request = (lane.start && lane.start.request) || {};
    const weight = (request.config || request).ensemble_weight;
    if (!lane.lossless && weight) {
      facts.push(this.say("sv_inspect_weight", { w: weight, v: Number((1 - weight).toFixed(3)) }));
    }
    facts.push(this.say("sv_step_times", { draft, verify, other }));
    facts.push(this.say("sv_inspect_forwards", { d: step.n[0], t: step.n[1] }));
    if (step.c) facts.push(this.say("sv_inspect_confidence", { c: show.prob(step.c) }));
    if (step.n[2]) facts.push(this.say("sv_inspect_unsent", { n: step.n[2] }));
    const end = svEnd(lane, step);
    if (end) facts.push(this.say("sv_cut_" + end));
    return facts;
  }

  // One token of the step: its place, its fate, p and q, the draw against the accept probability.
  card(lane, step, token, at, picked) {
    const fate = svFate(token, step);
    const rule = svRule(lane);
    const box = svNode("li", "sv-link" + (picked ? " sv-picked" : ""), this.chain);
    box.dataset.at = at;
    if (picked) box.setAttribute("aria-current", "true");
    const head = svNode("div", "sv-link-head", box);
    const own = token.f === "s" || token.f === "b";
    svNode("span", "sv-link-n", head).textContent = own ? this.say("sv_inspect_own") : String(at + 1);
    svNode("span", "sv-link-fate", head).textContent = fate === "own" ? "" : this.say("sv_" + fate);
    const face = svNode("span", "sv-t sv-" + fate + (svLossy(token) ? " sv-lossy" : ""), box);
    face.textContent = svLabel(token);
    const bars = new SvBars(box, this);
    if (token.p !== undefined) bars.add("sv_inspect_p", token.p, "p");
    if (token.q !== undefined) bars.add("sv_inspect_q", token.q, "q");
    if (token.m !== undefined) bars.add("sv_inspect_m", token.m, "m");
    if (token.a !== undefined && !svGreedy(rule)) bars.add("sv_inspect_a", token.a, "a", token.u);
    const verdict = svNode("p", "sv-link-verdict", box);
    verdict.textContent = this.verdict(token, rule);
    if (token.src && token.src[0] === "layer") {
      const key = lane.key === "early_exit" ? "sv_inspect_layers" : "sv_inspect_depth";
      svNode("p", "sv-link-src", box).textContent = this.say(key, { n: token.src[1] });
    }
  }

  // "u 0.036 ≥ 0.000", "≠ arg max p", whether the target drew it, or nothing: as the rule judges.
  verdict(token, rule) {
    const show = this.viewer.formats;
    const judged = token.f === "a" || token.f === "r";
    if (svGreedy(rule)) {
      if (!judged) return "";
      const held = rule === "greedy_match" ? "p" : this.say("sv_inspect_m");
      return (token.f === "a" ? "= " : "\u2260 ") + "arg max " + held;
    }
    if (judged && rule === "sample_match") {
      return this.say(token.f === "a" ? "sv_inspect_drew_it" : "sv_inspect_drew_other");
    }
    if (token.u === undefined || token.a === undefined) return "";
    const sign = token.u < token.a ? "<" : "\u2265";
    return "u " + show.prob(token.u) + " " + sign + " " + show.prob(token.a);
  }

  click(event) {
    const card = event.target.closest(".sv-link");
    const { place, index } = this.where();
    if (!card) return;
    const k = this.first(place, index) + Number(card.dataset.at);
    this.viewer.cursor.pin(this.viewer.lanes[place], k, true);
    this.box.focus({ preventScroll: true });
  }

  // Alternatives that were left out while the run was too fast.
  async ask(place, index) {
    const name = this.viewer.feed.run.id + "," + place + "," + index;
    if (this.asked.has(name)) return;
    this.asked.add(name);
    await this.viewer.cursor.detail(this.viewer.lanes[place], index, -1);
    this.draw();
  }
}

// Bars with a key in front and a number behind.
class SvBars {
  constructor(parent, host) {
    this.host = host;
    this.box = svNode("div", "sv-bars", parent);
  }

  add(key, value, name, draw) {
    const row = svNode("div", "sv-bar-row sv-bar-" + name, this.box);
    svNode("span", "sv-tip-key", row).textContent = this.host.say(key);
    const track = svNode("span", "sv-track", row);
    svNode("span", "sv-fill", track).style.width = 100 * Math.min(1, value) + "%";
    if (draw !== undefined) {
      const mark = svNode("span", "sv-draw", track);
      mark.style.left = 100 * draw + "%";
      mark.title = this.host.say("sv_tip_draw", { u: this.host.viewer.formats.prob(draw) });
    }
    svNode("span", "sv-tip-num", row).textContent = this.host.viewer.formats.prob(value);
  }
}

// The step as one line of text: what was kept before it | accepted | rejected | next.
class SvLine {
  constructor(parent, host) {
    this.host = host;
    this.box = svNode("div", "sv-line-box", parent);
    this.text = svNode("code", "sv-plain-line", this.box);
    this.text.tabIndex = 0;
    this.button = svNode("button", "sv-small-button", this.box);
    this.button.type = "button";
    this.button.addEventListener("click", () => this.copy());
  }

  words() {
    this.button.textContent = this.host.say("sv_inspect_copy");
    this.text.setAttribute("aria-label", this.host.say("sv_inspect_line"));
    this.text.title = this.host.say("sv_inspect_line");
  }

  draw(lane, index) {
    this.box.hidden = index < 0;
    const parts = ["kept", "accepted", "rejected", "next"];
    const names = parts.map((part) => this.host.say("sv_inspect_" + part));
    this.value = index < 0 ? "" : svStepLine(lane.steps, index, names);
    this.text.textContent = this.value;
    this.button.textContent = this.host.say("sv_inspect_copy");
  }

  async copy() {
    const done = await this.write();
    this.button.textContent = this.host.say(done ? "sv_inspect_copied" : "sv_inspect_select");
    if (!done) window.getSelection().selectAllChildren(this.text);
  }

  // Browsers without a clipboard, or pages without leave to use it, get the line selected.
  async write() {
    try {
      await navigator.clipboard.writeText(this.value);
      return true;
    } catch {
      return false;
    }
  }
}
