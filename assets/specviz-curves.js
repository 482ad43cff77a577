// A sheet of computed and measured curves: figures with their origin, then charts in SVG. The value
// is a JSON object made by specviz/ui/curves.py; nothing is computed here but places on screen.

const SVC_NS = "http://www.w3.org/2000/svg";
const SVC = { height: 220, left: 46, right: 14, top: 14, bottom: 36 };

function svcNode(tag, name, parent, text) {
  const node = document.createElement(tag);
  if (name) node.className = name;
  if (text !== undefined) node.textContent = text;
  parent.appendChild(node);
  return node;
}

class SvSheet {
  constructor(root) {
    this.root = root;
    new MutationObserver(() => this.draw())
      .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
    new ResizeObserver(() => {
      if (root.clientWidth && Math.abs(root.clientWidth - (this.width || 0)) > 8) this.draw();
    }).observe(root);
  }

  language() {
    return svLanguage(document.documentElement.lang);
  }

  say(key, values) {
    const texts = SV_TEXTS[this.language()];
    const told = Object.entries(values || {}).map(([name, value]) =>
      [name, typeof value === "number" ? this.number(value, "fine") : this.said(value)]);
    const text = texts[key] || SV_TEXTS.en[key] || svSaid(key, this.language());
    return svFill(text, Object.fromEntries(told), this.language());
  }

  // A title of another part, or several with commas between.
  said(names) {
    return String(names).split(", ").map((name) => svSaid(name, this.language())).join(", ");
  }

  badge(parent, [key, { date } = {}]) {
    const day = new Date(date || "");
    const format = new Intl.DateTimeFormat(this.language(), { dateStyle: "medium" });
    const shown = Number.isNaN(day.getTime()) ? "\u2013" : format.format(day);
    svcNode("span", "sv-badge sv-from-" + key.split("_").pop(), parent, this.say(key, { date: shown }));
  }

  number(value, form) {
    if (value === null || value === undefined) return "\u2013";
    const options = form === "percent" ? { style: "percent", maximumFractionDigits: 1 }
      : form === "whole" ? { maximumFractionDigits: 0 }
        : form === "fine" ? { maximumFractionDigits: 3 }
          : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
    return new Intl.NumberFormat(this.language(), options).format(value) + (form === "times" ? "\u00d7" : "");
  }

  draw() {
    let sheet = {};
    try { sheet = JSON.parse(props.value || "{}"); } catch { sheet = {}; }
    this.width = this.root.clientWidth;
    this.root.textContent = "";
    if (sheet.empty) svcNode("p", "sv-about", this.root, this.say(sheet.empty, sheet.values));
    const alert = sheet.refused && svcNode("p", "sv-alert", this.root, this.say(sheet.refused));
    if (alert) alert.setAttribute("role", "alert");
    if (sheet.progress) this.progress(sheet.progress);
    if (sheet.facts) this.facts(sheet.facts);
    if (sheet.lanes) this.lanes(sheet.lanes);
    if (sheet.without) svcNode("p", "sv-sheet-note", this.root, this.say(sheet.without, sheet.values));
    if (sheet.note) svcNode("p", "sv-sheet-note", this.root, this.say(sheet.note));
    const grid = svcNode("div", "sv-sheet-charts", this.root);
    const charts = (sheet.charts || []).map((chart) => new SvCurves(grid, this, chart));
    for (const chart of charts) chart.draw(); // once all have their places, hence their widths
  }

  progress([done, all, key, values]) {
    const box = svcNode("div", "sv-sheet-progress", this.root);
    const bar = svcNode("progress", "", box);
    bar.max = all;
    bar.value = done;
    const text = this.say(key, values);
    bar.setAttribute("aria-label", text);
    svcNode("span", "", box, text).setAttribute("role", "status");
  }

  facts(facts) {
    const list = svcNode("dl", "sv-sheet-facts", this.root);
    for (const { key, value, form, badge } of facts) {
      const row = svcNode("div", "", list);
      svcNode("dt", "", row, this.say(key));
      svcNode("dd", "", row, this.number(value, form));
      this.badge(svcNode("dd", "", row), badge);
    }
  }

  // The same figures of several lanes: a table, a row per lane.
  lanes(lanes) {
    const box = svcNode("div", "sv-sheet-lanes", this.root);
    const table = svcNode("table", "", box);
    const head = svcNode("tr", "", svcNode("thead", "", table));
    svcNode("th", "", head, this.say("sv_theory_lanes_method")).scope = "col";
    for (const { key, badge } of lanes[0].facts) {
      const cell = svcNode("th", "", head);
      cell.scope = "col";
      svcNode("span", "", cell, this.say(key));
      this.badge(cell, badge);
    }
    const body = svcNode("tbody", "", table);
    for (const { name, style, facts } of lanes) {
      const row = svcNode("tr", "", body);
      const first = svcNode("th", "", row);
      first.scope = "row";
      svcNode("i", "sv-sheet-key sv-k-" + style, first);
      svcNode("span", "", first, this.said(name));
      for (const { value, form } of facts) svcNode("td", "", row, this.number(value, form));
    }
  }
}

// The shape of a point, besides its colour: [x, y] of its corners; a circle without them.
const SVC_SHAPES = {
  best: Array.from({ length: 10 }, (_, i) => {
    const r = i % 2 ? 3.4 : 8;
    return [r * Math.sin((i * Math.PI) / 5), -r * Math.cos((i * Math.PI) / 5)];
  }),
  "at-2": [[-5.5, -5.5], [5.5, -5.5], [5.5, 5.5], [-5.5, 5.5]],
  "at-3": [[0, -8], [7.5, 5.5], [-7.5, 5.5]],
};

class SvCurves {
  constructor(parent, sheet, chart) {
    this.sheet = sheet;
    this.chart = chart;
    const box = svcNode("figure", "sv-chart sv-sheet-chart", parent);
    const head = svcNode("figcaption", "sv-sheet-head", box);
    svcNode("span", "sv-cap", head, sheet.say(chart.title, chart.values));
    for (const badge of chart.badges) sheet.badge(head, badge);
    this.legend(box);
    this.svg = this.make("svg", { role: "img", "aria-label": sheet.say(chart.title, chart.values) }, box);
    this.told = svcNode("p", "sv-sheet-told", box, "\u00a0");
    this.svg.addEventListener("pointermove", (event) => this.tell(event));
    this.svg.addEventListener("pointerleave", () => { this.told.textContent = "\u00a0"; });
  }

  draw() {
    const { chart } = this;
    this.width = Math.max(200, this.svg.clientWidth);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${SVC.height}`);
    this.scales();
    this.axes();
    if (chart.kind === "bar") chart.series.forEach((series, at) => this.bars(series, at));
    else for (const series of chart.series) this.line(series);
    for (const point of chart.points || []) this.point(point);
  }

  make(tag, attributes, parent, text) {
    const node = document.createElementNS(SVC_NS, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    (parent || this.svg).appendChild(node);
    return node;
  }

  name(item) {
    return this.sheet.say(item.name, item.values);
  }

  legend(box) {
    const list = svcNode("ul", "sv-sheet-legend", box);
    for (const item of [...this.chart.series, ...(this.chart.points || [])]) {
      const row = svcNode("li", "", list);
      svcNode("i", `sv-sheet-key sv-k-${item.style || item.mark}`, row);
      svcNode("span", "", row, this.name(item));
    }
  }

  scales() {
    const { chart } = this;
    const values = [...chart.series.flatMap((s) => s.ys), ...(chart.points || []).map((p) => p.y)]
      .filter((value) => value !== null);
    this.top = chart.top || this.nice(Math.max(0.01, ...values));
    const { xs } = chart;
    this.low = xs[0];
    this.high = xs[xs.length - 1];
    this.bar = chart.kind === "bar" ? (this.width - SVC.left - SVC.right) / xs.length : 0;
  }

  nice(value) {
    const unit = 10 ** Math.floor(Math.log10(value));
    return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * unit).find((step) => step >= value) || value;
  }

  x(value) {
    const room = this.width - SVC.left - SVC.right;
    if (this.bar) return SVC.left + this.bar * (this.chart.xs.indexOf(value) + 0.5);
    return SVC.left + (room * (value - this.low)) / (this.high - this.low || 1);
  }

  y(value) {
    const room = SVC.height - SVC.top - SVC.bottom;
    return SVC.top + room * (1 - Math.min(value, this.top) / this.top);
  }

  axes() {
    const { chart } = this;
    const whole = (value) => Math.abs(value - Math.round(value)) < 1e-6;
    const even = (factor) => [4, 5, 3, 6, 2].find((n) => whole((this.top * factor) / n));
    const parts = even(1) || even(10) || 4;
    for (let i = 0; i <= parts; i++) {
      const value = (this.top * i) / parts;
      this.level(value, "sv-grid");
      const text = this.sheet.number(value, chart.y_form || "fine");
      this.make("text", { x: SVC.left - 6, y: this.y(value) + 4, class: "sv-tick sv-end" }, null, text);
    }
    const stride = Math.ceil((chart.ticks.length * 34) / (this.width - SVC.left - SVC.right));
    chart.ticks.forEach((value, i) => {
      if (i % stride) return;
      const place = { x: this.x(value), y: SVC.height - SVC.bottom + 15, class: "sv-tick sv-mid" };
      this.make("text", place, null, this.sheet.number(value, "fine"));
    });
    if (chart.one) this.level(1, "sv-one");
    const place = { x: (SVC.left + this.width - SVC.right) / 2, y: SVC.height - 4, class: "sv-tick sv-mid" };
    this.make("text", place, null, this.sheet.say(chart.x));
  }

  // A line across the chart.
  level(value, name) {
    const y = this.y(value);
    this.make("line", { x1: SVC.left, x2: this.width - SVC.right, y1: y, y2: y, class: name });
  }

  line({ ys, style, dots }) {
    const places = this.chart.xs.map((x, i) => [x, ys[i]]).filter((pair) => pair[1] !== null)
      .map(([x, y]) => [this.x(x), this.y(y)]);
    const points = places.map((pair) => pair.map((v) => v.toFixed(1)).join(",")).join(" ");
    this.make("polyline", { points, class: "sv-line sv-k-" + style });
    if (!dots) return;
    for (const [cx, cy] of places) this.make("circle", { cx, cy, r: 3.5, class: "sv-dot-" + style });
  }

  bars({ ys, style, counts }, at) {
    const wide = Math.min(46, (this.bar * 0.8) / this.chart.series.length);
    const from = -(wide * this.chart.series.length) / 2 + wide * at;
    this.chart.xs.forEach((x, i) => {
      if (ys[i] === null) return;
      const left = this.x(x) + from;
      const place = { x: left + 1, y: this.y(ys[i]), width: Math.max(1, wide - 2) };
      this.make("rect", { ...place, height: this.y(0) - place.y, class: "sv-bar-" + style });
      if (counts) this.count(left + wide / 2, place.y, wide, counts[i]);
    });
  }

  // The count behind a bar: above it, or upright inside where there is no room.
  count(x, y, wide, text) {
    const fits = 7 * text.length <= wide;
    const turned = `translate(${x + 4} ${this.y(0) - 5}) rotate(-90)`;
    if (fits) this.make("text", { x, y: y - 3, class: "sv-tick sv-mid" }, null, text);
    else if (wide > 12) this.make("text", { transform: turned, class: "sv-tick sv-inside" }, null, text);
  }

  point({ x, y, mark }) {
    if (y === null || y === undefined || x < this.low || x > this.high) return;
    const [cx, cy] = [this.x(x), this.y(y)];
    const group = this.make("g", { class: "sv-point-" + mark, transform: `translate(${cx} ${cy})` });
    const shape = SVC_SHAPES[mark];
    if (shape) this.make("polygon", { points: shape.map((pair) => pair.join()).join(" ") }, group);
    else this.make("circle", { r: 6 }, group);
  }

  // The values at the x nearest to the pointer, in words.
  tell(event) {
    const { chart, sheet } = this;
    const frame = this.svg.getBoundingClientRect();
    const at = ((event.clientX - frame.left) * this.width) / frame.width;
    const near = (one, two) => (Math.abs(this.x(two) - at) < Math.abs(this.x(one) - at) ? two : one);
    const x = chart.xs.reduce(near);
    const i = chart.xs.indexOf(x);
    const parts = chart.series.filter((series) => series.ys[i] !== null).map((series) => {
      const value = sheet.number(series.ys[i], chart.y_form || "number");
      return this.name(series) + " " + value + (series.counts ? ` (${series.counts[i]})` : "");
    });
    const head = sheet.say(chart.x) + " " + sheet.number(x, "fine");
    this.told.textContent = head + ": " + parts.join(" \u00b7 ");
  }
}

const svSheet = new SvSheet(element.querySelector("[data-sv='sheet']"));
watch("value", () => svSheet.draw());
svSheet.draw();
