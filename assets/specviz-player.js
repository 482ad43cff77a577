// Where the viewer stands in a run: at its end (live), held at a step, or playing.

const SV_PACES = [1, 2, 4, 8, 16, 32, 64, 128];

class SvPlayer {
  constructor(changed) {
    this.changed = changed; // called after each move
    this.mode = "live";
    this.count = 0; // steps shown, over all lanes, in the order of their clocks
    this.pace = 1; // how many times slower than it was
    this.clock = 0;
    this.stale = false; // steps came up that are not drawn yet
    this.rest = 0; // when the next drawing may begin
  }

  // The number of steps shown; all of them while following.
  shown(run) {
    const total = svCount(run);
    return this.mode === "live" ? total : Math.min(this.count, total);
  }

  live() {
    this.mode = "live";
  }

  hold(run, count) {
    const total = svCount(run);
    this.count = Math.max(0, Math.min(count, total));
    this.mode = this.count === total ? "live" : "hold";
    this.changed();
  }

  play(run) {
    const ticks = svTicks(run);
    if (!ticks.length) return;
    if (this.shown(run) >= ticks.length) this.count = 0;
    else this.count = this.shown(run);
    this.mode = "play";
    this.clock = this.count ? ticks[this.count - 1][0] : 0;
    this.before = null;
    const turn = Symbol("turn");
    this.turn = turn;
    const frame = (now) => {
      if (this.mode !== "play" || this.turn !== turn) return;
      this.advance(run, now);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    this.changed();
  }

  advance(run, now) {
    if (this.before !== null) this.clock += Math.min(250, now - this.before) / this.pace;
    this.before = now;
    const ticks = svTicks(run);
    const from = this.count;
    while (this.count < ticks.length && ticks[this.count][0] <= this.clock) this.count++;
    if (this.count >= ticks.length) this.mode = "live";
    this.stale = this.stale || this.count !== from;
    if (this.mode !== "play" || (this.stale && now >= this.rest)) this.draw();
  }

  // Draw, then leave the page twice as long to itself as that took.
  draw() {
    const begin = performance.now();
    this.stale = false;
    this.changed();
    const end = performance.now();
    this.rest = end + 2 * (end - begin);
  }

  pause(run) {
    this.hold(run, this.count);
  }
}
