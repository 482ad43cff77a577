// The viewer: draws the run that the feed keeps. It runs once, when Gradio mounts the component
// (`element`, `props`, `watch` and `server` come from there). Text is only ever written as text.

class SvViewer {
  constructor(root) {
    this.root = root;
    this.lanes = [];
    this.active = 0;
    this.shown = [];
    this.dirty = false;
    this.feed = new SvFeed(this);
    this.player = new SvPlayer(() => this.moved());
    this.language();
    this.build();
    this.cursor = new SvCursor(this);
    this.listen();
    this.words();
  }

  build() {
    const { root } = this;
    const say = (key, values) => this.say(key, values);
    const show = new Proxy({}, { get: (_, name) => this.formats[name] });
    this.figures = new SvFigures(root, { say, said: (text) => this.said(text), show });
    this.share = new SvShare(this.figures.head, this);
    this.legend = svNode("ul", "sv-legend", root);
    this.grid = svNode("div", "sv-lanes", root);
    this.figures.totals = svNode("p", "sv-plain-totals", root);
    this.bar = new SvBar(root, this);
    this.inspector = new SvInspector(root, this);
    this.chartBox = svNode("div", "sv-charts", root);
    this.charts = [
      this.chart("sv_chart_rate", SV_RUN.rate, 1, (v) => show.whole(v)),
      this.chart("sv_chart_time", SV_RUN.latency, null, (v) => show.ms(v)),
    ];
    this.race = new SvRace(this);
    this.tip = new SvTip(root, say, show);
    this.status = svNode("div", "sv-sr", root);
    this.status.setAttribute("role", "status");
    this.status.setAttribute("aria-live", "polite");
  }

  chart(key, place, top, text) {
    const value = (step) => step.run[place];
    const tokens = (n) => this.say("sv_chart_tokens", { n });
    return new SvChart(this.chartBox, { key, top, text, value, tokens });
  }

  listen() {
    new MutationObserver(() => { this.language(); this.words(); })
      .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
    new MutationObserver(() => { this.ink = null; this.draw(); })
      .observe(document.body, { attributes: true, attributeFilter: ["class"] });
    new ResizeObserver(() => this.root.clientWidth !== this.width && this.fit()).observe(this.root);
  }

  // ---- words ----------------------------------------------------------------------------------

  language() {
    this.tongue = svLanguage(document.documentElement.lang);
    this.texts = SV_TEXTS[this.tongue];
    this.formats = svFormats(this.tongue);
  }

  say(key, values) { return svFill(this.texts[key] || SV_TEXTS.en[key] || key, values, this.tongue); }

  // Words of other parts of the program: titles of methods, reasons.
  said(text) { return svSaid(text, this.tongue); }

  words() {
    svLegend(this.legend, (key) => this.say(key));
    this.bar.words();
    this.share.words();
    this.race.words();
    this.inspector.words();
    for (const chart of this.charts) {
      chart.title.textContent = this.say(chart.options.key);
      chart.svg.setAttribute("aria-label", this.say(chart.options.key));
    }
    for (const lane of this.lanes) this.laneWords(lane);
    if (this.figures.refused) this.figures.refuse(this.figures.refused);
    this.figures.title(this.feed.run, this.active);
    this.draw();
  }

  laneWords(lane) {
    const title = this.said(this.feed.run.lanes[lane.place].title);
    lane.name.textContent = title;
    lane.box.setAttribute("aria-label", title);
    lane.text.box.setAttribute("aria-label", this.say("sv_text_of", { name: title }));
    lane.strip.canvas.setAttribute("aria-label", this.say("sv_strip_of", { name: title }));
  }

  announce(text) {
    this.status.textContent = text;
  }

  // ---- news from the feed ---------------------------------------------------------------------

  opened() {
    this.cursor.unpin(false);
    this.active = 0;
    this.player.live();
    this.grid.textContent = "";
    this.lanes = [];
    for (const chart of this.charts) chart.clear();
    this.race.opened();
    this.figures.error("");
  }

  // A sentence that belongs to no run, such as a refusal; what is on screen stays.
  notice(error) {
    this.announce(this.figures.refuse(error));
  }

  changed() {
    if (this.dirty) return;
    this.dirty = true;
    if (document.hidden) this.flush();
    else requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.dirty = false;
    const begin = performance.now();
    const { run } = this.feed;
    while (this.lanes.length < run.lanes.length) this.addLane(this.lanes.length);
    run.lanes.forEach((data, place) => this.grow(this.lanes[place], data));
    this.begin(run);
    this.draw();
    if (this.player.mode === "live") for (const lane of this.lanes) lane.text.follow();
    this.ends(run);
    this.feed.drawn(performance.now() - begin);
  }

  addLane(place) {
    const box = svNode("section", "sv-lane", this.grid);
    const head = svNode("div", "sv-lane-head", box);
    svNode("i", "sv-swatch sv-lane-" + place, head);
    const name = svNode("h3", "", head);
    const figures = svNode("p", "sv-lane-figures", head);
    const text = new SvText(box);
    const strip = new SvStrip(box, place, this.stripHost());
    const lane = { place, box, name, figures, text, strip, started: false };
    this.lanes.push(lane);
    this.grid.dataset.lanes = this.feed.run.lanes.length;
    this.laneWords(lane);
    this.figures.title(this.feed.run, this.active);
  }

  stripHost() {
    return {
      step: (place, index, event, click) => this.cursor.step(place, index, event, click),
      leave: () => this.cursor.leave(),
      colours: () => this.colours(),
      ms: (value) => this.formats.ms(value),
    };
  }

  // Bring the text of a lane up to date.
  grow(lane, data) {
    if (data.start && !lane.started) {
      lane.started = true;
      lane.text.start(data.start, this.say("sv_prompt_skipped", { n: data.start.skipped }));
      if (lane.place === this.active) this.figures.title(this.feed.run, this.active);
    }
    const live = this.player.mode === "live" && !this.autoplays(this.feed.run);
    const fresh = data.steps.slice(lane.text.spans.length);
    if (fresh.length) lane.text.add(fresh, live);
    lane.text.wait(live ? data.pending : null);
  }

  autoplays(run) {
    return (run.kind !== "live" || Boolean(run.race && run.race.over)) && !run.played;
  }

  // A recorded run plays by itself once, slowly enough to be seen.
  begin(run) {
    if (!run.lanes.length || !run.end || !this.autoplays(run)) return;
    run.played = true;
    if (run.at !== null) {
      this.player.hold(run, run.at);
      return;
    }
    const ticks = svTicks(run);
    const last = ticks.length ? ticks[ticks.length - 1][0] : 0;
    this.player.pace = run.race ? this.race.pace(last) : SV_PACES[svPace(last, ticks.length, SV_PACES)];
    this.bar.words();
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.player.hold(run, ticks.length);
      return;
    }
    this.player.hold(run, 0);
    this.player.play(run);
  }

  ends(run) {
    const state = run.end || (run.lanes.length ? "running" : "idle");
    document.body.classList.toggle("sv-running", state === "running");
    if (this.state === run.id + state) return;
    this.state = run.id + state;
    this.root.dataset.state = state;
    const sentence = this.figures.refuse(run.error);
    this.figures.title(run, this.active);
    this.draw();
    const ended = this.race.summary(run) || this.say("sv_state_" + state);
    if (run.kind === "live") this.announce(sentence || ended);
  }

  // ---- drawing --------------------------------------------------------------------------------

  // Gradio drops container queries from the style sheet, so the width is told by an attribute.
  fit() {
    const width = this.width = this.root.clientWidth;
    const sizes = [[480, "xs"], [700, "s"], [1000, "m"]];
    this.root.dataset.size = (sizes.find(([limit]) => width < limit) || [0, "l"])[1];
    this.bar.fit();
    this.draw();
    if (this.player.mode === "live") for (const lane of this.lanes) lane.text.follow();
  }

  colours() {
    if (this.ink) return this.ink;
    const style = getComputedStyle(this.root);
    const names = {
      a: "accepted", r: "rejected", d: "discarded", s: "residual", b: "bonus", o: "muted",
      draft: "draft", verify: "verify", other: "other", line: "line", muted: "muted", mark: "mark",
    };
    this.ink = {};
    for (const [short, name] of Object.entries(names)) {
      this.ink[short] = style.getPropertyValue("--sv-" + name).trim();
    }
    return this.ink;
  }

  draw(follow = false) {
    const { run } = this.feed;
    const count = this.player.shown(run);
    this.shown = svShown(run, count);
    this.scale = svStripScale(run.lanes);
    run.lanes.forEach((data, place) => this.drawLane(this.lanes[place], data, place, follow));
    const streaming = this.player.mode === "live" && run.kind === "live" && !run.end;
    for (const chart of this.charts) chart.draw(run.lanes, this.shown, streaming);
    const plain = run.lanes.findIndex((lane) => lane.key === "plain");
    const beside = plain >= 0 && plain !== this.active && run.lanes[plain].steps[this.shown[plain] - 1];
    this.figures.draw(run.lanes[this.active], this.shown[this.active] || 0, beside || null);
    this.bar.draw(count, svCount(run), this.shown[this.active] || 0);
    this.share.draw(run, this.active);
    this.figures.beside(run);
    this.race.draw(run, this.shown, count);
    this.inspector.draw();
  }

  drawLane(lane, data, place, follow) {
    if (!lane) return;
    const shown = this.shown[place];
    if (lane.text.shown !== shown) lane.text.show(shown, follow);
    const held = lane.place === this.active && this.player.mode === "hold" ? shown - 1 : -1;
    const marked = this.cursor.marked(lane.place);
    lane.strip.draw(data.steps, shown, marked >= 0 ? marked : held, this.scale);
    const step = data.steps[shown - 1];
    svSet(lane.figures, step ? this.say("sv_lane_figures", {
      n: step.run[SV_RUN.tokens], s: shown, t: this.formats.ms(step.run[SV_RUN.elapsed]),
    }) : this.waiting(data));
  }

  waiting(data) {
    if (this.feed.run.end) return "";
    return this.say(data.start ? "sv_lane_started" : "sv_lane_waiting");
  }

  // The lane whose figures stand above.
  choose(place) {
    if (place === this.active) return;
    this.active = place;
    this.figures.title(this.feed.run, place);
  }

  // The player moved.
  moved() {
    const begin = performance.now();
    this.draw(true);
    void this.root.offsetHeight;
    this.feed.stats.drawMs = performance.now() - begin;
  }
}

const svViewer = new SvViewer(element.querySelector("[data-sv='viewer']"));
svViewer.root.svViewer = svViewer; // for tests and for the curious
watch("value", () => svViewer.feed.receive(props.value));
svViewer.feed.receive(props.value);
