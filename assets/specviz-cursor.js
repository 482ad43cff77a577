// Pointing at tokens: hovering shows a card, a click or the arrow keys keep it.

class SvCursor {
  constructor(viewer) {
    this.viewer = viewer;
    this.at = null; // {place, k}: lane and number of the token whose card is kept
    this.marks = []; // [node, class] of the places that a draft was copied from
    this.copied = null; // [lane, step] whose copied words are marked while no token is pointed at
    const { root } = viewer;
    root.addEventListener("pointerover", (event) => this.hover(event));
    root.addEventListener("click", (event) => this.click(event));
    root.addEventListener("keydown", (event) => this.key(event));
    root.addEventListener("pointerleave", () => this.leave());
  }

  get tip() {
    return this.viewer.tip;
  }

  laneOf(node) {
    return this.viewer.lanes.find((lane) => lane.box.contains(node));
  }

  tokenAt(event) {
    const node = event.target.closest(".sv-text .sv-t");
    return node && node.dataset.k !== undefined ? node : null;
  }

  hover(event) {
    if (this.at) return;
    const node = this.tokenAt(event);
    if (node) this.card(this.laneOf(node), Number(node.dataset.k));
    else if (!event.target.closest(".sv-strip, .sv-tip")) this.leave();
  }

  leave() {
    if (this.at) return;
    this.tip.hide();
    this.source(null);
  }

  // The step looked at: its copied words are marked in the text.
  sources(place, step, lane) {
    this.copied = step && lane ? [lane, step] : null;
    if (!this.at) this.source(null);
  }

  click(event) {
    const node = this.tokenAt(event);
    if (node) this.pin(this.laneOf(node), Number(node.dataset.k));
    else if (!event.target.closest(".sv-tip, .sv-strip, .sv-bar, .sv-inspect")) this.unpin();
  }

  // A column of a strip: its step, or on a click its first token.
  step(place, index, event, click) {
    const { lanes, feed } = this.viewer;
    const step = feed.run.lanes[place].steps[index];
    if (!step || (this.at && !click)) return;
    if (click) {
      const k = lanes[place].text.tokens.findIndex((entry) => entry.step === index);
      if (k >= 0) this.pin(lanes[place], k);
      return;
    }
    const { clientX: x, clientY: y } = event;
    this.tip.step(step, { left: x, right: x, top: y - 8, bottom: y + 8 },
      svStepTime(step) > this.viewer.scale.slowest);
  }

  card(lane, k) {
    const entry = lane.text.tokens[k];
    if (!entry || entry.step >= this.viewer.shown[lane.place]) return;
    const data = this.viewer.feed.run.lanes[lane.place];
    const step = data.steps[entry.step];
    const anchor = entry.node.getBoundingClientRect();
    this.tip.token(entry.token, step, { rule: svRule(data), anchor });
    this.source(lane, step, step.tok.indexOf(entry.token));
    if (step.light) this.detail(lane, entry.step, k);
  }

  // Prompt lookup: show in the text what matched, and what was copied: the token at this place of
  // the draft, or without one all of the step looked at.
  source(lane, step, at = -1) {
    for (const [node, name] of this.marks) node.classList.remove(name);
    this.marks = [];
    if (!lane) {
      if (this.copied) this.mark(...this.copied, -1);
    } else this.mark(lane, step, at);
  }

  mark(lane, step, at) {
    const { src } = step.tok[Math.max(at, 0)];
    if (!src || src[0] !== "ngram") return;
    const [, start, size] = src;
    const count = step.tok.filter((token) => token.src).length;
    const put = (index, name) => {
      const entry = lane.text.at(index);
      if (!entry) return;
      entry.node.classList.add(name);
      this.marks.push([entry.node, name]);
    };
    for (let i = start - size; i < start; i++) put(i, "sv-match");
    for (let i = 0; i < count; i++) if (at < 0 || at === i) put(start + i, "sv-src");
  }

  // Alternatives that were left out while the run was too fast.
  async detail(lane, index, k) {
    const { run } = this.viewer.feed;
    const step = run.lanes[lane.place].steps[index];
    const text = await server.detail([run.id, lane.place, index]);
    if (!text || run !== this.viewer.feed.run) return;
    JSON.parse(text).tok.forEach((token, i) => Object.assign(step.tok[i], token));
    delete step.light;
    if (!this.tip.box.hidden) this.card(lane, k);
  }

  // Keep a token; `quiet` without its card, as when it was chosen in the inspector.
  pin(lane, k, quiet = false) {
    const entry = lane.text.tokens[k];
    if (!entry) return;
    this.unpin(false);
    this.at = { place: lane.place, k };
    this.viewer.choose(lane.place);
    entry.node.classList.add("sv-cur");
    lane.text.reveal(entry.node);
    if (!quiet) this.card(lane, k);
    this.viewer.draw();
    const data = this.viewer.feed.run.lanes[lane.place];
    const step = data.steps[entry.step];
    const fate = this.viewer.say("sv_" + svFate(entry.token, step));
    const why = this.tip.why(entry.token, step, svRule(data));
    this.viewer.announce(svLabel(entry.token) + ", " + fate + ". " + why);
  }

  unpin(draw = true) {
    if (this.at) {
      const lane = this.viewer.lanes[this.at.place];
      const entry = lane && lane.text.tokens[this.at.k];
      if (entry) entry.node.classList.remove("sv-cur");
    }
    this.at = null;
    this.leave();
    if (draw && this.viewer.lanes.length) this.viewer.draw();
  }

  // The step looked at in a lane, −1 for none.
  marked(place) {
    if (!this.at || this.at.place !== place) return -1;
    const entry = this.viewer.lanes[place].text.tokens[this.at.k];
    return entry ? entry.step : -1;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") this.unpin();
    else if (event.key === "?") this.viewer.inspector.keys();
    else if (this.viewer.bar.key(event) || this.walk(event)) event.preventDefault();
  }

  // Arrow keys, Home and End walk over the tokens of a text; True if this was one.
  walk(event) {
    const text = event.target.closest(".sv-text");
    const inspecting = Boolean(event.target.closest(".sv-inspect"));
    const lane = inspecting ? this.viewer.lanes[this.viewer.active] : text && this.laneOf(text);
    if (!lane) return false;
    const shown = this.viewer.shown[lane.place];
    const last = lane.text.tokens.findLastIndex((entry) => entry.step < shown);
    const at = this.at && this.at.place === lane.place ? this.at.k : -1;
    const next = {
      ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(0, at - 1), Home: 0, End: last,
    }[event.key];
    if (next === undefined || last < 0) return false;
    this.pin(lane, next, inspecting);
    return true;
  }
}
