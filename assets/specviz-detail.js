// The lower part of the step inspector: the token looked at, its sentence, the distributions at its
// place side by side, and where the draft came from: copied words, or the pieces of other tokens.

class SvDetail {
  constructor(parent, host) {
    this.parent = parent;
    this.host = host;
    this.say = host.say;
    this.show = host.viewer.formats;
  }

  draw(lane, step, picked, view) {
    const token = step.tok[picked];
    const side = svNode("div", "sv-inspect-side", this.parent);
    const rule = svRule(lane);
    this.sentence(side, token, step, rule);
    this.numbers(side, token, rule);
    this.origin(side, lane, step, picked, view);
    this.table(step, picked, rule);
    if (step.tok.some((other) => other.src && other.src[0] === "pieces")) this.pieces(step);
  }

  sentence(parent, token, step, rule) {
    const line = svNode("p", "sv-inspect-why", parent);
    const face = svNode("span", "sv-t sv-" + svFate(token, step), line);
    face.textContent = svLabel(token);
    svNode("span", "", line).textContent = " " + this.host.viewer.tip.why(token, step, rule);
  }

  // Entropy, overlap, distance: one figure per line, the missing ones left out.
  numbers(parent, token, rule) {
    const nats = (value) => this.say("sv_inspect_nats", { n: this.show.prob(value) });
    const rows = [
      ["sv_inspect_entropy_p", token.e, nats],
      ["sv_inspect_entropy_q", token.de, nats],
      ["sv_inspect_overlap_" + (rule || "other"), token.o, svGreedy(rule) ? String : this.show.prob],
      ["sv_inspect_tv", token.tv || undefined, this.show.prob],
    ].filter((row) => row[1] !== undefined);
    const list = svNode("dl", "sv-inspect-numbers", parent);
    for (const [key, value, form] of rows) {
      const row = svNode("div", "", list);
      svNode("dt", "", row).textContent = this.say(key);
      svNode("dd", "", row).textContent = form(value);
    }
    if (svLossy(token)) this.alone(parent, token);
  }

  // What the target alone would have put where the lossy rule kept another token.
  alone(parent, token) {
    const line = svNode("p", "sv-inspect-alone", parent);
    const best = (token.tt || []).find(([id]) => id === token.tc);
    line.textContent = this.say("sv_inspect_alone") + " ";
    svNode("span", "sv-t sv-residual", line).textContent = best ? svLabel({ x: best[1] }) : "#" + token.tc;
  }

  // Prompt lookup: the words that match, and those that were copied, with a way to see them.
  origin(parent, lane, step, picked, view) {
    const { src } = step.tok[0];
    if (!src || src[0] !== "ngram") return;
    const [, start, size] = src;
    const count = step.tok.filter((token) => token.src).length;
    const box = svNode("div", "sv-inspect-origin", parent);
    this.words(box, "sv_inspect_match", view, start - size, start, "sv-match");
    this.words(box, "sv_inspect_copied_from", view, start, start + count, "sv-src");
    const button = svNode("button", "sv-small-button", box);
    button.type = "button";
    button.textContent = this.say("sv_inspect_show_source", { n: start + 1 });
    button.addEventListener("click", () => {
      const entry = view.text.at(start);
      if (entry) view.text.reveal(entry.node);
    });
  }

  words(parent, key, view, from, to, style) {
    const line = svNode("p", "", parent);
    svNode("span", "sv-inspect-key", line).textContent = this.say(key) + " ";
    for (let at = from; at < to; at++) {
      const entry = view.text.at(at);
      if (entry) svNode("span", "sv-pt " + style, line).textContent = svLabel(entry.token);
    }
  }

  // The likeliest tokens at this place under p, q and the residual: one row per token.
  table(step, picked, rule) {
    const rows = svRows(step, picked);
    if (!rows.length) {
      svNode("p", "sv-inspect-empty", this.parent).textContent = this.say("sv_inspect_no_table");
      return;
    }
    const columns = ["p", "q", "r"].filter((name) => rows.some((row) => row[name] !== undefined));
    const table = svNode("table", "sv-dist", this.parent);
    svNode("caption", "", table).textContent = this.say(svCaption(step.tok[picked], columns, rule));
    const head = svNode("tr", "", svNode("thead", "", table));
    for (const name of ["token", ...columns]) {
      const cell = svNode("th", "", head);
      cell.scope = "col";
      cell.textContent = this.say("sv_inspect_col_" + name);
    }
    const body = svNode("tbody", "", table);
    for (const row of rows) this.row(body, row, columns);
  }

  row(body, row, columns) {
    const line = svNode("tr", row.drafted ? "sv-is-draft" : row.next ? "sv-is-next" : "", body);
    const name = svNode("th", "", line);
    name.scope = "row";
    const parts = svNode("span", "sv-dist-name", name);
    svNode("span", "sv-dist-token", parts).textContent = svLabel(row);
    const mark = row.drafted ? "sv_inspect_is_draft" : row.next ? "sv_inspect_is_next" : "";
    if (mark) svNode("small", "", parts).textContent = this.say(mark);
    for (const column of columns) {
      const cell = svNode("td", "sv-bar-" + column, line);
      const track = svNode("span", "sv-track", cell);
      svNode("span", "sv-fill", track).style.width = 100 * Math.min(1, row[column] || 0) + "%";
      svNode("span", "sv-tip-num", cell).textContent = this.show.prob(row[column]);
    }
  }

  // Universal decoding: the draft model's tokens, their bytes, and the target's tokens made of them.
  pieces(step) {
    const { columns, above, below, cut } = svAlign(
      step.tok.filter((token) => token.src && token.src[0] === "pieces"),
    );
    const box = svNode("div", "sv-align", this.parent);
    svNode("h4", "", box).textContent = this.say("sv_inspect_align");
    const grid = svNode("div", "sv-align-grid", svNode("div", "sv-align-scroll", box));
    grid.style.gridTemplateColumns = `auto repeat(${columns.length}, minmax(26px, max-content))`;
    this.alignRow(grid, 1, "sv_inspect_align_draft", above);
    svNode("span", "sv-align-key", grid).textContent = this.say("sv_inspect_align_bytes");
    columns.forEach((byte, at) => {
      const cell = svNode("span", "sv-byte", grid);
      cell.textContent = byte;
      cell.style.gridArea = `2 / ${at + 2}`;
    });
    this.alignRow(grid, 3, "sv_inspect_align_target", below);
    const more = cut ? this.say("sv_inspect_align_cut", { n: SV_ALIGN }) : "";
    if (more) svNode("p", "sv-inspect-empty", box).textContent = more;
  }

  alignRow(grid, row, key, items) {
    const name = svNode("span", "sv-align-key", grid);
    name.textContent = this.say(key);
    name.style.gridArea = `${row} / 1`;
    for (const { token, from, to } of items) {
      const cell = svNode("span", "sv-align-cell sv-t sv-" + (SV_FATES[token.f] || "piece"), grid);
      cell.textContent = svLabel(token);
      cell.style.gridArea = `${row} / ${from + 2} / ${row} / ${to + 2}`;
    }
  }
}
