// A small line chart in SVG: one line per lane, x = tokens of the output so far.

const SV_NS = "http://www.w3.org/2000/svg";
const SV_CHART_REST = 200; // ms between two drawings while steps come in: curves change slowly
const SV_CHART = { width: 600, height: 120 };

class SvChart {
  constructor(parent, options) {
    this.options = options; // value(step), top: fixed maximum or null, text(value)
    this.box = svNode("figure", "sv-chart", parent);
    this.title = svNode("figcaption", "sv-cap", this.box);
    const plot = svNode("div", "sv-plot", this.box);
    this.high = svNode("span", "sv-high", plot);
    this.low = svNode("span", "sv-low", plot);
    this.svg = document.createElementNS(SV_NS, "svg");
    this.svg.setAttribute("viewBox", `0 0 ${SV_CHART.width} ${SV_CHART.height}`);
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.setAttribute("role", "img");
    plot.appendChild(this.svg);
    for (const share of [0, 0.5, 1]) this.grid(share);
    this.lines = [];
    this.drawn = 0;
    this.last = svNode("span", "sv-last", plot);
    this.most = svNode("span", "sv-most", plot);
  }

  grid(share) {
    const line = document.createElementNS(SV_NS, "line");
    const y = 2 + share * (SV_CHART.height - 4);
    for (const [key, value] of Object.entries({ x1: 0, x2: SV_CHART.width, y1: y, y2: y })) {
      line.setAttribute(key, value);
    }
    line.setAttribute("class", "sv-grid");
    this.svg.appendChild(line);
  }

  clear() {
    for (const line of this.lines) line.remove();
    this.lines = [];
  }

  line(place) {
    while (this.lines.length <= place) {
      const line = document.createElementNS(SV_NS, "polyline");
      line.setAttribute("class", "sv-line sv-lane-" + this.lines.length);
      this.svg.appendChild(line);
      this.lines.push(line);
    }
    return this.lines[place];
  }

  // Draw the first `shown[i]` steps of each lane; the scale is that of the whole run.
  draw(lanes, shown, streaming = false) {
    const now = performance.now();
    if (streaming && now - this.drawn < SV_CHART_REST) return;
    this.drawn = now;
    let tokens = 1;
    let top = this.options.top || 0;
    for (const lane of lanes) {
      const last = lane.steps[lane.steps.length - 1];
      if (last) tokens = Math.max(tokens, last.run[SV_RUN.tokens]);
      if (!this.options.top) top = Math.max(top, this.robustMax(lane.steps));
    }
    top = this.options.top || svNice(top);
    lanes.forEach((lane, place) => {
      this.line(place).setAttribute("points", this.points(lane.steps, shown[place], tokens, top));
    });
    svSet(this.high, this.options.text(top));
    svSet(this.low, this.options.text(0));
    svSet(this.most, this.options.tokens(tokens));
  }

  // The largest value but for a few outliers, such as the first, slow step.
  robustMax(steps) {
    const values = steps.map(this.options.value).filter((v) => v !== null && v !== undefined);
    values.sort((one, two) => one - two);
    return values.length ? values[Math.floor(0.97 * (values.length - 1))] : 0;
  }

  points(steps, shown, tokens, top) {
    const places = [];
    const stride = Math.max(1, Math.floor(shown / 1200));
    for (let i = 0; i < shown; i += stride) {
      const value = this.options.value(steps[i]);
      if (value === null || value === undefined) continue;
      const x = (steps[i].run[SV_RUN.tokens] / tokens) * SV_CHART.width;
      const y = 2 + (1 - Math.min(1, value / top)) * (SV_CHART.height - 4);
      places.push(x.toFixed(1) + "," + y.toFixed(1));
    }
    return places.join(" ");
  }
}
