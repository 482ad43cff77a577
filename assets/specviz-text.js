// The token text of one lane: boxes in blocks, so that a long run stays cheap to lay out.

const SV_BLOCK_STEPS = 24; // a block ends at the next newline
const SV_BLOCK_LIMIT = 48; // and without one at the next end of a sentence

function svNode(tag, name, parent) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (parent) parent.appendChild(node);
  return node;
}
const SV_SHORT_BLOCKS = 4; // beyond these, blocks out of sight are not laid out

// Write a text only where it changed: writing the same text again would cost a layout.
function svSet(node, text) {
  if (node.svText !== text) {
    node.textContent = text;
    node.svText = text;
  }
}

// A token's box, and what stands before and after it.
function svBox(token, kind, parent) {
  const face = svFace(token);
  const first = !parent.previousSibling && !parent.firstChild && parent.closest(".sv-block + .sv-block");
  if (face.before && !first) parent.appendChild(document.createTextNode(face.before));
  const node = svNode("span", "sv-t sv-" + kind, parent);
  node.textContent = face.text;
  if (face.sign) node.classList.add("sv-sign");
  if (face.wide) node.classList.add("sv-wide");
  if (face.after) parent.appendChild(document.createTextNode(face.after));
  return node;
}

class SvText {
  constructor(parent) {
    this.box = svNode("div", "sv-text", parent);
    this.box.tabIndex = 0;
    this.box.dir = "auto";
    this.box.setAttribute("role", "group");
    this.prompt = svNode("span", "sv-prompt", this.box);
    this.ghost = null;
    this.blocks = [];
    this.given = []; // boxes of the prompt's tokens
    this.skipped = 0;
    this.spans = [];
    this.tokens = [];
    this.kept = []; // entries of `tokens` that became output
    this.shown = 0;
    this.top = 0;
    this.following = true; // until somebody scrolls up
    this.box.addEventListener("scroll", () => this.scrolled());
    this.box.addEventListener("copy", (event) => this.copy(event));
  }

  // The prompt, dimmed, as the model sees it: one box per token.
  start(start, skipped) {
    this.prompt.textContent = "";
    this.skipped = start.skipped || 0;
    this.given = [];
    if (this.skipped) svNode("em", "sv-skipped", this.prompt).textContent = skipped;
    this.promptTokens = (start.prompt || []).map(([x, h]) => ({ x, h }));
    (start.prompt || []).forEach(([x, h], index) => {
      const node = svNode("span", "sv-pt", this.prompt);
      const face = svFace({ x, h });
      node.textContent = face.before + face.text + face.after;
      node.dataset.p = index;
      this.given.push(node);
    });
  }

  // Append steps that came in; the caller decides whether they are visible yet.
  add(steps, visible) {
    this.drop();
    for (const step of steps) this.addStep(step);
    this.show(visible ? this.spans.length : this.shown, false);
  }

  addStep(step) {
    const block = this.openBlock();
    const span = svNode("span", "sv-step", block.node);
    span.dataset.s = this.spans.length;
    for (const token of step.tok) this.addToken(token, span, step);
    this.spans.push(span);
    block.end = this.spans.length;
    const text = svKeptText(step.tok);
    block.closed = /\n$/.test(text);
    block.pause = /[.!?]["\u201d']?\s*$/.test(text) || block.end - block.begin > 2 * SV_BLOCK_LIMIT;
  }

  // The block for the next step, as {node, begin, end, part, size}: of the `size` steps that were
  // looked at, `part` are visible.
  openBlock() {
    const last = this.blocks[this.blocks.length - 1];
    const size = last ? last.end - last.begin : 0;
    const full = last && ((size >= SV_BLOCK_STEPS && last.closed)
      || (size >= SV_BLOCK_LIMIT && last.pause));
    if (last && !full) return last;
    const at = this.spans.length;
    const block = { node: svNode("div", "sv-block", this.box), begin: at, end: at, part: 0, size: 0 };
    this.blocks.push(block);
    this.box.classList.toggle("sv-long", this.blocks.length > SV_SHORT_BLOCKS);
    return block;
  }

  addToken(token, span, step) {
    const node = svBox(token, svFate(token, step) || "drafted", span);
    if (svLossy(token)) node.classList.add("sv-lossy");
    node.dataset.k = this.tokens.length;
    const entry = { token, step: this.spans.length, node };
    this.tokens.push(entry);
    if (SV_KEPT.has(token.f)) this.kept.push(entry);
  }

  // A token of the context as {token, node}, counted from the start of the prompt.
  at(index) {
    const place = index - this.skipped;
    const over = place - this.given.length;
    if (place < 0) return undefined;
    if (over >= 0) return this.kept[over];
    return { node: this.given[place], token: this.promptTokens[place] };
  }

  // Drafted tokens that are being verified right now.
  wait(pending) {
    this.drop();
    if (!pending || !pending.x.length) return;
    this.ghost = svNode("span", "sv-step sv-ghost", this.openBlock().node);
    for (const [x, h] of pending.x) svBox({ x, h }, "drafted", this.ghost);
  }

  drop() {
    if (this.ghost) this.ghost.remove();
    this.ghost = null;
  }

  // Show the first `count` steps only: whole blocks at once, single steps in one block at most.
  show(count, follow) {
    for (const block of this.blocks) {
      const part = Math.max(0, Math.min(count, block.end) - block.begin);
      const hidden = part === 0 && !block.node.contains(this.ghost);
      if (block.node.hidden !== hidden) block.node.hidden = hidden;
      if (!hidden) this.cut(block, part);
    }
    this.shown = count;
    const last = this.spans[count - 1];
    if (follow && last) this.reveal(last);
  }

  cut(block, part) {
    const size = block.end - block.begin;
    if (block.part === part && block.size === size) return;
    Object.assign(block, { part, size });
    for (let i = 0; i < size; i++) {
      const span = this.spans[block.begin + i];
      if (span.hidden !== i >= part) span.hidden = i >= part;
    }
  }

  // Scroll inside the text only, never the page, and by whole lines, so that none is cut.
  reveal(node) {
    const box = this.box.getBoundingClientRect();
    const rect = node.getBoundingClientRect();
    const below = rect.bottom > box.bottom - 6;
    if (!below && rect.top >= box.top + 4) return;
    const { line, top, rows } = this.measure(box);
    const slack = (line - (rect.height % line)) / 2; // between a token's box and its line
    this.box.scrollTop += below ? rect.bottom + slack - top - rows * line : rect.top - slack - top;
  }

  // Height of a line, where the first one begins, and how many fit.
  measure(box) {
    const style = getComputedStyle(this.box);
    const line = parseFloat(style.lineHeight);
    const pads = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
    const top = box.top + this.box.clientTop + parseFloat(style.paddingTop);
    return { line, top, rows: Math.round((this.box.clientHeight - pads) / line) };
  }

  // Blocks that come into sight may change the height, so being at the end is no sign by itself.
  scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.box;
    if (scrollHeight - scrollTop - clientHeight < 36) this.following = true;
    else if (scrollTop < this.top) this.following = false;
    this.top = scrollTop;
  }

  follow() {
    if (this.following) this.box.scrollTop = this.box.scrollHeight;
  }

  // Copying takes the output's own text: no signs, no rejected tokens.
  copy(event) {
    const range = window.getSelection();
    if (!range || range.isCollapsed) return;
    const prompt = this.given.filter((node) => range.containsNode(node, true));
    const picked = this.tokens.filter(({ node, step }) =>
      step < this.shown && range.containsNode(node, true));
    const head = prompt.map((node) => this.promptText(Number(node.dataset.p))).join("");
    event.clipboardData.setData("text/plain", head + svKeptText(picked.map((t) => t.token)));
    event.preventDefault();
  }

  promptText(index) {
    return (this.promptTokens && this.promptTokens[index].x) || "";
  }
}
