// The card shown beside a token: p, q, the draw against the accept probability, alternatives.

const SV_TIP_ROWS = 8; // alternatives in a list, and tokens of a step: files may hold any number
const SV_TIP_TOKENS = 20;
const SV_TIP_GAP = 8; // px between the card and the lines that it belongs to

class SvTip {
  constructor(root, say, show) {
    this.root = root;
    this.say = say;
    this.show = show;
    this.box = svNode("div", "sv-tip", root);
    this.box.id = "sv-tip";
    this.box.setAttribute("role", "tooltip");
    this.box.hidden = true;
  }

  hide() {
    this.box.hidden = true;
  }

  // Fill and place the card for a token of a step.
  token(token, step, { rule, anchor }) {
    const fate = svFate(token, step);
    this.box.textContent = "";
    const head = svNode("div", "sv-tip-head", this.box);
    svNode("b", "sv-tip-token sv-t sv-" + fate, head).textContent = svLabel(token);
    svNode("span", "sv-tip-fate", head).textContent = this.say("sv_" + fate);
    svNode("span", "sv-tip-step", head).textContent = this.say("sv_step_n", { n: step.i + 1 });
    svNode("p", "sv-tip-why", this.box).textContent = this.why(token, step, rule);
    if (token.p !== undefined) this.bar("sv_tip_p", token.p, "p");
    if (token.q !== undefined) this.bar("sv_tip_q", token.q, "q");
    if (token.a !== undefined && !svGreedy(rule)) this.bar("sv_tip_accept", token.a, "a", token.u);
    if (token.src) svNode("p", "sv-tip-src", this.box).textContent = this.source(token, step);
    const lists = svNode("div", "sv-tip-lists", this.box);
    if (token.rt) this.list(lists, "sv_tip_residual", token.rt, token);
    if (token.tt) this.list(lists, "sv_tip_target", token.tt, token);
    if (token.dt) this.list(lists, "sv_tip_draft", token.dt, token);
    this.place(anchor, true);
  }

  // One sentence: what happened to the token, and why.
  why(token, step, rule) {
    const values = { u: this.show.prob(token.u), a: this.show.prob(token.a) };
    return this.say(svWhy(token, step, rule), values);
  }

  source(token, step) {
    const { src } = token;
    const at = step.tok.indexOf(token);
    if (src[0] === "ngram") return this.say("sv_src_ngram", { n: src[2], at: src[1] + at + 1 });
    if (src[0] === "layer") return this.say("sv_src_layer", { n: src[1] });
    const pieces = src[2].slice(0, SV_TIP_TOKENS).map((x) => svLabel({ x }));
    return this.say("sv_src_pieces", { x: pieces.join(" \u00b7 ") });
  }

  bar(key, value, name, draw) {
    const row = svNode("div", "sv-tip-bar sv-bar-" + name, this.box);
    svNode("span", "sv-tip-key", row).textContent = this.say(key);
    const track = svNode("span", "sv-track", row);
    svNode("span", "sv-fill", track).style.width = 100 * Math.min(1, value) + "%";
    if (draw !== undefined) {
      const mark = svNode("span", "sv-draw", track);
      mark.style.left = 100 * draw + "%";
      mark.title = this.say("sv_tip_draw", { u: this.show.prob(draw) });
    }
    svNode("span", "sv-tip-num", row).textContent = this.show.prob(value);
  }

  list(parent, key, rows, token) {
    const box = svNode("div", "sv-tip-list", parent);
    svNode("h4", "", box).textContent = this.say(key);
    for (const [id, x, prob] of rows.slice(0, SV_TIP_ROWS)) {
      const row = svNode("div", "sv-alt" + (id === token.id ? " sv-same" : ""), box);
      svNode("span", "sv-alt-x", row).textContent = svLabel({ x });
      svNode("span", "sv-tip-num", row).textContent = this.show.prob(prob);
      row.style.setProperty("--sv-prob", String(prob || 0));
    }
  }

  // The card of a whole step, for the strip; `broken`: its bar is longer than the axis.
  step(step, anchor, broken) {
    this.box.textContent = "";
    const head = svNode("div", "sv-tip-head", this.box);
    svNode("b", "", head).textContent = this.say("sv_step_n", { n: step.i + 1 });
    const words = svNode("p", "sv-tip-words", this.box);
    for (const token of step.tok.slice(0, SV_TIP_TOKENS)) {
      const face = svNode("span", "sv-t sv-" + svFate(token, step), words);
      face.textContent = svLabel(token);
    }
    const [draft, verify, other] = step.ms.map((ms) => this.show.ms(ms));
    svNode("p", "sv-tip-why", this.box).textContent =
      this.say("sv_step_times", { draft, verify, other });
    if (broken) svNode("p", "sv-tip-src", this.box).textContent = this.say("sv_step_broken");
    if (step.cut) svNode("p", "sv-tip-src", this.box).textContent = this.say("sv_cut_" + step.cut);
    this.place(anchor);
  }

  // Beside the lines of the anchor, never over them, and inside the window: above where it is to
  // leave free what is read next, else below; where neither has room, without its lists.
  place(anchor, above = false) {
    this.box.hidden = false;
    this.box.classList.remove("sv-short");
    const frame = this.root.getBoundingClientRect();
    const gaps = 2 * SV_TIP_GAP;
    const room = { up: anchor.top - gaps, down: window.innerHeight - anchor.bottom - gaps };
    if (this.box.offsetHeight > Math.max(room.up, room.down)) this.box.classList.add("sv-short");
    const { offsetWidth: w, offsetHeight: h } = this.box;
    const fits = { up: h <= room.up, down: h <= room.down };
    const up = fits.up && fits.down ? above : fits.up || (!fits.down && room.up > room.down);
    const left = Math.min(Math.max(0, anchor.left - frame.left - 12), Math.max(0, frame.width - w));
    const top = up ? anchor.top - h - SV_TIP_GAP : anchor.bottom + SV_TIP_GAP;
    this.box.style.left = left + "px";
    this.box.style.top = top - frame.top + "px";
  }
}
