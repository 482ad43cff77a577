// The bar under the text: play, step, scrub, pace.

class SvBar {
  constructor(parent, viewer) {
    this.viewer = viewer;
    this.box = svNode("div", "sv-bar", parent);
    this.playButton = this.button("play", () => this.toggle());
    this.backButton = this.button("back", () => this.by(-1));
    this.nextButton = this.button("next", () => this.by(1));
    this.range = svNode("input", "sv-range", this.box);
    this.range.type = "range";
    this.range.min = "0";
    this.range.max = "0";
    this.range.addEventListener("input", () => this.to(Number(this.range.value)));
    this.place = svNode("output", "sv-place", this.box);
    this.paces = svNode("select", "sv-pace", this.box);
    this.paces.addEventListener("change", () => { viewer.player.pace = Number(this.paces.value); });
  }

  button(name, act) {
    const button = svNode("button", "sv-button sv-" + name, this.box);
    button.type = "button";
    svNode("span", "sv-icon", button).setAttribute("aria-hidden", "true");
    button.addEventListener("click", act);
    return button;
  }

  words() {
    const { viewer } = this;
    const tell = (key, values) => viewer.say(key, values);
    this.name(this.backButton, tell("sv_step_back"));
    this.name(this.nextButton, tell("sv_step_next"));
    this.range.setAttribute("aria-label", tell("sv_scrubber"));
    this.paces.setAttribute("aria-label", tell("sv_pace"));
    this.paces.textContent = "";
    this.paces.title = tell("sv_pace");
    const key = this.wide ? "sv_pace_replay_" : "sv_pace_";
    for (const pace of SV_PACES) {
      const option = svNode("option", "", this.paces);
      option.value = String(pace);
      option.textContent = tell(key + (pace === 1 ? "real" : "slow"), { n: pace });
    }
    this.paces.value = String(this.viewer.player.pace);
  }

  // Paces are told at length where the row has room for that.
  fit() {
    const wide = ["m", "l"].includes(this.viewer.root.dataset.size);
    if (wide === this.wide) return;
    this.wide = wide;
    this.words();
  }

  name(button, text) {
    button.setAttribute("aria-label", text);
    button.title = text;
  }

  draw(count, total, step) {
    const { viewer } = this;
    const playing = viewer.player.mode === "play";
    this.box.classList.toggle("sv-playing", playing);
    this.name(this.playButton, viewer.say(playing ? "sv_pause" : "sv_play"));
    this.range.max = String(total);
    this.range.value = String(count);
    this.range.style.setProperty("--sv-done", total ? (100 * count) / total + "%" : "0%");
    const lane = viewer.feed.run.lanes[viewer.active];
    const steps = lane ? lane.steps.length : 0;
    const place = viewer.say("sv_place", { n: step, all: steps });
    svSet(this.place, place);
    this.range.setAttribute("aria-valuetext", place);
  }

  toggle() {
    const { player, feed: { run } } = this.viewer;
    if (player.mode === "play") player.pause(run);
    else {
      this.viewer.cursor.unpin(false); // so that the inspector follows
      player.play(run);
    }
  }

  to(count) {
    this.viewer.cursor.unpin(false);
    this.viewer.player.hold(this.viewer.feed.run, count);
  }

  // One step of the lane looked at, forwards or back.
  by(change) {
    const { viewer } = this;
    const now = viewer.player.shown(viewer.feed.run);
    const kept = viewer.cursor.marked(viewer.active);
    const from = kept >= 0 ? kept + 1 : svShown(viewer.feed.run, now)[viewer.active] || 0;
    const index = from + change;
    if (index <= 0) this.to(0);
    else this.to(svTickOf(viewer.feed.run, viewer.active, index - 1) || svTicks(viewer.feed.run).length);
  }

  // Keys that work anywhere in the viewer; True if this was one.
  key(event) {
    const free = !event.target.closest("select, input, button");
    if (event.key === "." ) this.by(1);
    else if (event.key === ",") this.by(-1);
    else if (event.key === " " && free) this.toggle();
    else return false;
    return true;
  }
}
