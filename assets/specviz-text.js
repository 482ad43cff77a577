// The token text of one lane: boxes in blocks, so that a long run stays cheap to lay out.

const SV_BLOCK_STEPS = 40; // a block ends at the next end of a line or sentence
const SV_BLOCK_LIMIT = 80; // and without one here, with an early line break

function svNode(tag, name, parent) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (parent) parent.appendChild(node);
  return node;
}

// Write a text only where it changed: writing the same text again would cost a layout.
function svSet(node, text) {
  if (node.svText !== text) {
    node.textContent = text;
    node.svText = text;
  }
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
    this.spans = [];
    this.tokens = [];
    this.shown = 0;
    this.box.addEventListener("copy", (event) => this.copy(event));
  }

  // The prompt, dimmed, as the model sees it: one box per token.
  start(start) {
    this.prompt.textContent = "";
    this.promptTexts = (start.prompt || []).map(([x]) => x);
    (start.prompt || []).forEach(([x, h], index) => {
      const node = svNode("span", "sv-pt", this.prompt);
      const face = svFace({ x, h });
      node.textContent = face.text;
      node.dataset.p = index;
      if (face.sign) node.classList.add("sv-sign");
    });
  }

  // Append steps that came in; the caller decides whether they are visible yet.
  add(steps, visible) {
    const follow = this.atEnd();
    this.drop();
    for (const step of steps) this.addStep(step);
    this.show(visible ? this.spans.length : this.shown, false);
    if (follow && visible) this.toEnd();
  }

  addStep(step) {
    const block = this.openBlock();
    const span = svNode("span", "sv-step", block.node);
    span.dataset.s = this.spans.length;
    for (const token of step.tok) this.addToken(token, span);
    this.spans.push(span);
    block.end = this.spans.length;
    block.closed = /[\n.!?]["\u201d']?\s*$/.test(svKeptText(step.tok));
  }

  // The block for the next step, as {node, begin, end, part}: `part` steps of it are visible.
  openBlock() {
    const last = this.blocks[this.blocks.length - 1];
    const size = last ? last.end - last.begin : SV_BLOCK_LIMIT;
    if (size < SV_BLOCK_STEPS || (size < SV_BLOCK_LIMIT && !last.closed)) return last;
    const at = this.spans.length;
    const block = { node: svNode("div", "sv-block", this.box), begin: at, end: at, part: 0 };
    this.blocks.push(block);
    return block;
  }

  // A token's box; the blank before a word stands in front of the box, where a line can break.
  addToken(token, span) {
    const face = svFace(token);
    const apart = /^ [^ ]/.test(face.text);
    if (apart) span.appendChild(document.createTextNode(" "));
    const node = svNode("span", "sv-t sv-" + (SV_FATES[token.f] || "drafted"), span);
    if (svLossy(token)) node.classList.add("sv-lossy");
    node.textContent = apart ? face.text.slice(1) : face.text;
    if (face.sign) node.classList.add("sv-sign");
    node.dataset.k = this.tokens.length;
    this.tokens.push({ token, step: this.spans.length, node });
  }

  // Mark a token of the context, counted from the start of the prompt.
  mark(at) {
    const given = this.prompt.children;
    if (at < 0) return;
    if (at < given.length) return given[at].classList.add("sv-src");
    const kept = this.tokens.filter((entry) => SV_KEPT.has(entry.token.f));
    const entry = kept[at - given.length];
    if (entry) entry.node.classList.add("sv-src");
  }

  // Drafted tokens that are being verified right now.
  wait(pending) {
    const follow = this.atEnd();
    this.drop();
    if (!pending || !pending.x.length) return;
    this.ghost = svNode("span", "sv-step sv-ghost", this.openBlock().node);
    for (const [x, h] of pending.x) {
      const node = svNode("span", "sv-t sv-drafted", this.ghost);
      const { text } = svFace({ x, h });
      const apart = /^ [^ ]/.test(text);
      if (apart) this.ghost.insertBefore(document.createTextNode(" "), node);
      node.textContent = apart ? text.slice(1) : text;
    }
    if (follow) this.toEnd();
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
      if (hidden) continue;
      this.cut(block, part);
    }
    this.shown = count;
    const last = this.spans[count - 1];
    if (follow && last) this.reveal(last);
  }

  cut(block, part) {
    const size = block.end - block.begin;
    for (let i = 0; i < size; i++) {
      const span = this.spans[block.begin + i];
      if (span.hidden !== i >= part) span.hidden = i >= part;
    }
  }

  // Scroll inside the text only, never the page.
  reveal(node) {
    const box = this.box.getBoundingClientRect();
    const rect = node.getBoundingClientRect();
    if (rect.bottom > box.bottom - 6) this.box.scrollTop += rect.bottom - box.bottom + 14;
    else if (rect.top < box.top + 4) this.box.scrollTop -= box.top - rect.top + 14;
  }

  atEnd() {
    return this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight < 36;
  }

  toEnd() {
    this.box.scrollTop = this.box.scrollHeight;
  }

  // Copying takes the output's own text: no signs, no rejected tokens.
  copy(event) {
    const range = window.getSelection();
    if (!range || range.isCollapsed) return;
    const prompt = [...this.prompt.children].filter((node) => range.containsNode(node, true));
    const picked = this.tokens.filter(({ node, step }) =>
      step < this.shown && range.containsNode(node, true));
    const head = prompt.map((node) => this.promptText(Number(node.dataset.p))).join("");
    event.clipboardData.setData("text/plain", head + svKeptText(picked.map((t) => t.token)));
    event.preventDefault();
  }

  promptText(index) {
    return (this.promptTexts && this.promptTexts[index]) || "";
  }
}
