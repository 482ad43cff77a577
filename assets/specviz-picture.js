// One small drawing per method, made of the same parts: boxes that are models, squares that are
// tokens in the colours of their fates, arrows. `say` gives the few words in them.

const SV_SVG = "http://www.w3.org/2000/svg";
const SV_PICTURES = {};

class SvPicture {
  constructor(say) {
    this.say = say;
    this.svg = this.add("svg", { viewBox: "0 0 300 92", class: "sv-pic" });
    this.svg.setAttribute("aria-hidden", "true");
  }

  add(tag, attributes) {
    const node = document.createElementNS(SV_SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (this.svg) this.svg.appendChild(node);
    return node;
  }

  // A model: `kind` is target or draft.
  box(kind, x, y, width, height, key = "sv_card_pic_" + kind) {
    this.add("rect", { x, y, width, height, rx: 5, class: "sv-pic-" + kind });
    if (key) this.label(key, x + width / 2, y + height / 2 + 4);
  }

  label(key, x, y, anchor = "middle") {
    this.add("text", { x, y, "text-anchor": anchor, class: "sv-pic-word" }).textContent = this.say(key);
  }

  token(fate, x, y, width = 22, height = 22) {
    this.add("rect", { x, y, width, height, rx: 4, class: "sv-pic-token sv-pic-" + fate });
    const mark = { rejected: "\u2717", residual: "\u25c6", bonus: "\u2605" }[fate];
    if (!mark) return;
    const at = { x: x + width / 2, y: y + height / 2 + 4 };
    this.add("text", { ...at, "text-anchor": "middle", class: "sv-pic-mark" }).textContent = mark;
  }

  row(fates, x, y, gap = 28) {
    fates.forEach((fate, i) => this.token(fate, x + i * gap, y));
  }

  arrow(x1, y1, x2, y2) {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [bx, by] = [x2 - 5 * dx, y2 - 5 * dy];
    this.add("path", { d: `M${x1} ${y1}L${bx} ${by}`, class: "sv-pic-line" });
    const [wing, other] = [`${bx - 3 * dy} ${by + 3 * dx}`, `${bx + 3 * dy} ${by - 3 * dx}`];
    this.add("path", { d: `M${x2} ${y2}L${wing}L${other}Z`, class: "sv-pic-head" });
  }

  // Judged under drafted: three kept, one refused, and what the target puts there.
  judged(x, above, below, gap = 28) {
    for (let i = 0; i < 4; i++) this.arrow(x + 11 + i * gap, above + 24, x + 11 + i * gap, below - 2);
    this.row(["accepted", "accepted", "accepted", "residual"], x, below, gap);
  }

  // A distribution over three tokens.
  bars(kind, x, heights) {
    heights.forEach((height, i) => {
      const place = { x: x + i * 17, y: 70 - height, width: 13, height };
      this.add("rect", { ...place, rx: 2, class: "sv-pic-" + kind });
    });
    this.add("path", { d: `M${x - 4} 70.5H${x + 52}`, class: "sv-pic-line" });
  }
}

SV_PICTURES.plain = (pic) => {
  for (let i = 0; i < 4; i++) {
    const x = 4 + i * 75;
    pic.box("target", x, 6, 66, 30);
    pic.arrow(x + 33, 37, x + 33, 57);
    pic.token("text", x + 22, 59);
    if (i < 3) pic.arrow(x + 46, 70, x + 75, 37);
  }
};

SV_PICTURES.speculative = (pic) => {
  pic.box("draft", 4, 8, 78, 22);
  pic.arrow(83, 19, 108, 19);
  pic.row(["drafted", "drafted", "drafted", "rejected"], 112, 8, 42);
  for (let i = 0; i < 3; i++) pic.arrow(136 + i * 42, 19, 152 + i * 42, 19);
  pic.box("target", 4, 48, 78, 38);
  pic.arrow(83, 67, 108, 67);
  pic.judged(112, 8, 56, 42);
};

SV_PICTURES.prompt_lookup = (pic) => {
  const kinds = ["text", "match", "match", "copied", "copied", "copied", "text", "text", "match", "match"];
  kinds.forEach((kind, i) => pic.token(kind, 4 + i * 18, 26, 15, 20));
  pic.add("path", { d: "M83 24C83 0 224 0 224 19", class: "sv-pic-line" });
  pic.arrow(224, 17, 224, 24);
  for (let i = 0; i < 3; i++) {
    pic.token("drafted", 190 + i * 24, 26, 20, 20);
    pic.arrow(200 + i * 24, 47, 200 + i * 24, 62);
  }
  pic.label("sv_card_pic_text", 4, 66, "start");
  pic.box("target", 180, 63, 90, 24);
};

SV_PICTURES.early_exit = (pic) => {
  for (let i = 0; i < 6; i++) pic.box(i < 2 ? "draft" : "target", 4, 74 - i * 13, 92, 11, "");
  pic.arrow(97, 67, 120, 67);
  pic.row(["drafted", "drafted", "drafted", "rejected"], 124, 56, 42);
  pic.arrow(97, 14, 120, 14);
  pic.row(["accepted", "accepted", "accepted", "residual"], 124, 4, 42);
  for (let i = 0; i < 4; i++) pic.arrow(135 + i * 42, 54, 135 + i * 42, 28);
};

SV_PICTURES.mtp_layers = (pic) => {
  pic.box("target", 4, 40, 84, 44);
  pic.arrow(46, 39, 46, 29);
  pic.token("text", 35, 5);
  for (let i = 0; i < 3; i++) {
    const x = 112 + i * 64;
    pic.arrow(i ? x - 15 : 89, 62, x - 2, 62);
    pic.box("draft", x, 48, 46, 28, "");
    pic.arrow(x + 23, 47, x + 23, 29);
    pic.token("drafted", x + 12, 5);
  }
};

SV_PICTURES.mtp_drafter = (pic) => {
  pic.box("target", 4, 8, 84, 76);
  pic.arrow(89, 34, 114, 34);
  pic.arrow(89, 58, 114, 58);
  pic.box("draft", 118, 22, 66, 48);
  pic.arrow(185, 46, 204, 46);
  for (let i = 0; i < 3; i++) pic.token("drafted", 208 + i * 30, 35);
};

SV_PICTURES.universal = (pic) => {
  pic.box("draft", 4, 8, 78, 24);
  pic.box("target", 4, 58, 78, 28);
  const row = (fate, y, widths) => {
    let x = 92;
    for (const width of widths) {
      pic.token(fate, x, y, width - 3, 24);
      x += width;
    }
  };
  row("drafted", 8, [34, 46, 26, 52, 40]);
  row("accepted", 60, [80, 26, 30, 62]);
  const same = [90.5, 170.5, 288.5]; // where tokens of both rows end
  for (const x of same) pic.add("path", { d: `M${x} 4V90`, class: "sv-pic-line sv-pic-dash" });
};

SV_PICTURES.dflash = (pic) => {
  for (let i = 0; i < 5; i++) pic.box("target", 4, 70 - i * 16, 66, 13, "");
  for (const y of [28, 44, 60]) pic.arrow(71, y, 92, y);
  pic.box("draft", 96, 18, 66, 52);
  pic.arrow(163, 44, 186, 44);
  pic.add("rect", { x: 190, y: 14, width: 104, height: 60, rx: 6, class: "sv-pic-line sv-pic-dash" });
  for (let i = 0; i < 6; i++) pic.token("drafted", 200 + (i % 3) * 31, 18 + Math.floor(i / 3) * 28);
};

SV_PICTURES.ensemble = (pic) => {
  pic.bars("target", 12, [52, 14, 20]);
  pic.bars("draft", 122, [16, 50, 22]);
  pic.bars("mix", 236, [38, 30, 21]);
  pic.label("sv_card_pic_target", 36, 87);
  pic.label("sv_card_pic_draft", 146, 87);
  pic.label("sv_card_pic_mix", 260, 87);
  pic.add("path", { d: "M84 44H102M93 35V53M194 40H214M194 50H214", class: "sv-pic-sum" });
};

function svPicture(key, say) {
  if (!SV_PICTURES[key]) return null;
  const pic = new SvPicture(say);
  SV_PICTURES[key](pic);
  return pic.svg;
}
