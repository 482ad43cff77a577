// The strip of one lane: a column per step. Above the line its tokens, below it its time.

const SV_STRIP = { height: 138, time: 44, gutter: 54, top: 6, axis: 1 };

class SvStrip {
  constructor(parent, place, host) {
    this.host = host;
    this.place = place;
    this.canvas = svNode("canvas", "sv-strip", parent);
    this.canvas.setAttribute("role", "img");
    this.first = 0;
    this.columns = 1;
    this.width = 0;
    this.room = 0; // told, not asked for: a question after text was written costs a layout
    new ResizeObserver(([entry]) => {
      this.room = Math.round(entry.contentRect.width);
      if (this.last) this.draw(...this.last);
    }).observe(this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.point(event, false));
    this.canvas.addEventListener("click", (event) => this.point(event, true));
    this.canvas.addEventListener("pointerleave", () => host.leave());
  }

  // The step under the pointer.
  point(event, click) {
    const x = event.clientX - this.canvas.getBoundingClientRect().left - SV_STRIP.gutter;
    const index = this.first + Math.floor(x / this.column);
    if (x < 0 || index < 0 || index >= this.shown) this.host.leave();
    else this.host.step(this.place, index, event, click);
  }

  // Draw the first `shown` steps; `marked` is the step looked at, −1 for none; `scale` is common
  // to all lanes: the most tokens of a step, and the time that fills the lower part.
  draw(steps, shown, marked, scale) {
    this.last = [steps, shown, marked, scale];
    const width = this.room || this.canvas.clientWidth;
    if (!width) return;
    const ratio = window.devicePixelRatio || 1;
    const height = SV_STRIP.height;
    const ink = this.host.colours();
    const look = [steps.length, shown, marked, width, ratio, scale.rows, scale.slowest].join();
    if (this.look === look && this.ink === ink) return;
    this.look = look;
    this.ink = ink;
    if (this.width !== width || this.ratio !== ratio) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.width = width;
      this.ratio = ratio;
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.shown = shown;
    this.rows = scale.rows;
    this.slowest = scale.slowest;
    this.layout(steps, shown, marked, width);
    this.frame(pen, ink, width);
    for (let i = this.first; i < Math.min(shown, this.first + this.columns); i++) {
      this.drawStep(pen, ink, steps[i], SV_STRIP.gutter + (i - this.first) * this.column, i === marked);
    }
  }

  layout(steps, shown, marked, width) {
    const room = width - SV_STRIP.gutter - 4;
    this.column = Math.max(5, Math.min(22, room / Math.max(steps.length, 1)));
    this.columns = Math.max(1, Math.floor(room / this.column));
    const focus = marked >= 0 ? marked : shown - 1;
    if (focus < this.first) this.first = focus;
    if (focus >= this.first + this.columns) this.first = focus - this.columns + 1;
    this.first = Math.max(0, Math.min(this.first, shown - this.columns));
    this.line = SV_STRIP.height - SV_STRIP.time - 2;
    this.cell = Math.min(15, (this.line - SV_STRIP.top) / this.rows);
  }

  frame(pen, ink, width) {
    pen.fillStyle = ink.line;
    pen.fillRect(SV_STRIP.gutter, this.line, width - SV_STRIP.gutter, 1);
    pen.fillStyle = ink.muted;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "right";
    pen.textBaseline = "alphabetic";
    pen.fillText("1", SV_STRIP.gutter - 6, this.line - this.cell / 2 + 4);
    pen.fillText(String(this.rows), SV_STRIP.gutter - 6, this.line - (this.rows - 0.5) * this.cell + 4);
    pen.fillText(this.host.ms(this.slowest), SV_STRIP.gutter - 6, SV_STRIP.height - 3);
  }

  drawStep(pen, ink, step, x, marked) {
    const width = Math.max(2, this.column - (this.column > 7 ? 2 : 1));
    if (marked) {
      pen.fillStyle = ink.mark;
      pen.fillRect(x - 1, 0, width + 2, SV_STRIP.height);
    }
    const gap = this.cell > 6 ? 1 : 0.5;
    step.tok.forEach((token, row) => {
      const y = this.line - (row + 1) * this.cell;
      const fate = svFate(token, step) === "own" ? "o" : token.f;
      this.drawToken(pen, ink, fate, x, y + gap, width, this.cell - gap);
    });
    const top = this.line + 2;
    let y = top;
    ["draft", "verify", "other"].forEach((part, i) => {
      const room = SV_STRIP.height - 2 - y;
      const h = Math.min(room, (step.ms[i] / this.slowest) * (SV_STRIP.time - 2));
      pen.fillStyle = ink[part];
      pen.fillRect(x, y, width, h);
      y += h;
    });
    if (svStepTime(step) > this.slowest) this.breakBar(pen, x, width, top);
  }

  // A bar that is longer than its room is broken by a slanted gap.
  breakBar(pen, x, width, top) {
    const y = top + 0.6 * (SV_STRIP.height - 2 - top);
    pen.save();
    pen.globalCompositeOperation = "destination-out";
    pen.lineWidth = 3;
    pen.beginPath();
    pen.moveTo(x - 1, y + 3);
    pen.lineTo(x + width + 1, y - 3);
    pen.stroke();
    pen.restore();
  }

  // Fates differ by shape as well as by colour.
  drawToken(pen, ink, fate, x, y, w, h) {
    pen.fillStyle = ink[fate];
    pen.strokeStyle = ink[fate];
    pen.lineWidth = 1.3;
    if (fate === "a") pen.fillRect(x, y, w, h);
    else if (fate === "d") pen.strokeRect(x + 0.7, y + 0.7, w - 1.4, h - 1.4);
    else if (fate === "r") {
      pen.beginPath();
      pen.moveTo(x + 1, y + 1);
      pen.lineTo(x + w - 1, y + h - 1);
      pen.moveTo(x + w - 1, y + 1);
      pen.lineTo(x + 1, y + h - 1);
      pen.lineWidth = Math.min(2.4, w / 4);
      pen.stroke();
    } else if (fate === "s") {
      pen.beginPath();
      const r = Math.min(w, h) / 2;
      pen.moveTo(x + w / 2, y + h / 2 - r);
      pen.lineTo(x + w / 2 + r, y + h / 2);
      pen.lineTo(x + w / 2, y + h / 2 + r);
      pen.lineTo(x + w / 2 - r, y + h / 2);
      pen.closePath();
      pen.fill();
    } else if (fate === "o") {
      pen.beginPath();
      pen.arc(x + w / 2, y + h / 2, Math.min(w, h) / 4 + 0.5, 0, 2 * Math.PI);
      pen.fill();
    } else {
      svStar(pen, x + w / 2, y + h / 2, Math.min(w, h) / 2 + 0.5);
    }
  }
}

// A five-pointed star; a dot where there is no room for one.
function svStar(pen, x, y, radius) {
  pen.beginPath();
  if (radius < 3.5) pen.arc(x, y, Math.max(1, radius - 0.5), 0, 2 * Math.PI);
  else {
    for (let i = 0; i < 10; i++) {
      const r = i % 2 ? radius * 0.45 : radius;
      pen.lineTo(x + r * Math.sin((i * Math.PI) / 5), y - r * Math.cos((i * Math.PI) / 5));
    }
  }
  pen.closePath();
  pen.fill();
}

// The common scale of all strips: robust against a single slow step, whose bar is broken.
function svStripScale(lanes) {
  let rows = 3;
  const times = [];
  for (const lane of lanes) {
    for (const step of lane.steps) {
      rows = Math.max(rows, step.tok.length);
      times.push(svStepTime(step));
    }
  }
  times.sort((one, two) => one - two);
  return { rows, slowest: svNice(times[Math.floor(0.96 * (times.length - 1))] || 0) };
}
