// The viewer: takes messages, keeps the run, draws it. Runs once, when Gradio mounts the component
// (`element`, `props`, `watch` and `server` come from there). Text is only ever written as text.

class SvViewer {
  constructor(root) {
    this.root = root;
    this.run = svNewRun("");
    this.lanes = [];
    this.active = 0;
    this.cursor = null; // {place, k}: the token whose card is pinned
    this.dirty = false;
    this.asking = false;
    this.stats = { messages: 0, applied: [], lags: [], gaps: 0, frames: 0, frameMs: [], scrubMs: 0 };
    this.language();
    this.player = new SvPlayer(() => this.moved());
    const say = (key, values) => this.say(key, values);
    const show = new Proxy({}, { get: (_, name) => this.formats[name] });
    this.figures = new SvFigures(root, say, show);
    this.legend = svNode("ul", "sv-legend", root);
    this.grid = svNode("div", "sv-lanes", root);
    this.bar = new SvBar(root, this);
    this.charts = svNode("div", "sv-charts", root);
    this.rateChart = this.chart("sv_chart_rate", SV_RUN.rate, 1, (v) => show.whole(v));
    this.timeChart = this.chart("sv_chart_time", SV_RUN.latency, null, (v) => show.ms(v));
    this.tip = new SvTip(root, say, show);
    this.status = svNode("div", "sv-sr", root);
    this.status.setAttribute("role", "status");
    this.status.setAttribute("aria-live", "polite");
    this.listen();
    this.words();
  }

  chart(key, place, top, text) {
    const chart = new SvChart(this.charts, {
      key, top, text, value: (step) => step.run[place],
      tokens: (n) => this.say("sv_chart_tokens", { n }),
    });
    return chart;
  }

  // Texts and number formats in the page's language.
  language() {
    const tag = document.documentElement.lang || "en";
    const base = tag.split("-")[0];
    this.texts = SV_TEXTS[tag] || SV_TEXTS[base] || SV_TEXTS.en;
    this.formats = svFormats(SV_TEXTS[tag] ? tag : this.texts === SV_TEXTS.en ? "en" : base);
  }

  say(key, values) {
    const text = this.texts[key] || SV_TEXTS.en[key] || key;
    return text.replace(/\{(\w+)\}/g, (all, name) =>
      (values && values[name] !== undefined ? String(values[name]) : all));
  }

  words() {
    this.legend.textContent = "";
    for (const fate of ["accepted", "rejected", "residual", "bonus", "discarded"]) {
      const item = svNode("li", "sv-key", this.legend);
      svNode("span", "sv-t sv-" + fate, item).textContent = this.say("sv_" + fate);
      item.title = this.say("sv_" + fate + "_info");
    }
    for (const part of ["draft", "verify", "other"]) {
      const item = svNode("li", "sv-key sv-key-time", this.legend);
      svNode("i", "sv-dot sv-" + part, item);
      svNode("span", "", item).textContent = this.say("sv_time_" + part);
    }
    this.bar.words();
    for (const chart of [this.rateChart, this.timeChart]) {
      chart.title.textContent = this.say(chart.options.key);
      chart.svg.setAttribute("aria-label", this.say(chart.options.key));
    }
    for (const lane of this.lanes) this.laneWords(lane);
    this.figures.title(this.run, this.active);
    this.draw();
  }

  listen() {
    new MutationObserver(() => { this.language(); this.words(); })
      .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
    new MutationObserver(() => { this.ink = null; this.draw(); })
      .observe(document.body, { attributes: true, attributeFilter: ["class"] });
    new ResizeObserver(() => this.fit()).observe(this.root);
    this.root.addEventListener("pointerover", (event) => this.hover(event));
    this.root.addEventListener("click", (event) => this.click(event));
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.root.addEventListener("pointerleave", () => { if (!this.cursor) this.tip.hide(); });
  }

  // Gradio drops container queries from the style sheet, so the width is told by an attribute.
  fit() {
    const width = this.root.clientWidth;
    const sizes = [[480, "xs"], [700, "s"], [1000, "m"]];
    this.root.dataset.size = (sizes.find(([limit]) => width < limit) || [0, "l"])[1];
    this.draw();
  }

  // ---- messages -------------------------------------------------------------------------------

  receive(text) {
    if (!text) return;
    let message;
    try { message = JSON.parse(text); } catch { return; }
    if (!message || !Array.isArray(message.ev)) return;
    if (message.run === "") return this.notice(message);
    this.stats.messages++;
    if (message.run !== this.run.id) this.open(message.run);
    this.take(message);
    this.schedule();
  }

  // A sentence that belongs to no run, such as a refusal; what is on screen stays.
  notice(message) {
    if (!message.error) return;
    const sentence = this.sentence(message.error);
    this.figures.error(sentence);
    this.announce(sentence);
  }

  open(id) {
    this.run = svNewRun(id);
    this.active = 0;
    this.unpin();
    this.player.live();
    this.grid.textContent = "";
    this.lanes = [];
    this.rateChart.clear();
    this.timeChart.clear();
    this.figures.error("");
  }

  take(message) {
    const result = svApply(this.run, message);
    if (result === "gap") {
      this.stats.gaps++;
      this.resync();
    } else if (result === "ok" && message.at) this.stats.applied.push(message.at);
  }

  // Fetch messages that were missed; the server keeps them for a while.
  async resync() {
    if (this.asking) return;
    this.asking = true;
    const run = this.run;
    try {
      for (;;) {
        const missed = await server.resync([run.id, run.seq]);
        if (!Array.isArray(missed) || !missed.length || run !== this.run) break;
        for (const text of missed) svApply(run, JSON.parse(text));
        this.schedule();
      }
    } finally {
      this.asking = false;
    }
  }

  schedule() {
    if (this.dirty) return;
    this.dirty = true;
    if (document.hidden) this.flush();
    else requestAnimationFrame(() => this.flush());
  }

  flush() {
    this.dirty = false;
    const begin = performance.now();
    while (this.lanes.length < this.run.lanes.length) this.addLane(this.lanes.length);
    this.run.lanes.forEach((data, place) => this.grow(this.lanes[place], data));
    this.begin();
    this.draw();
    this.ends();
    for (const at of this.stats.applied) this.stats.lags.push(Date.now() - at);
    this.stats.applied = [];
    this.stats.frames++;
    this.stats.frameMs.push(performance.now() - begin);
  }

  // Bring the text of a lane up to date.
  grow(lane, data) {
    if (data.start && !lane.started) {
      lane.started = true;
      lane.text.start(data.start);
      if (lane.place === this.active) this.figures.title(this.run, this.active);
    }
    const fresh = data.steps.slice(lane.text.spans.length);
    const visible = this.player.mode === "live" && !this.autoplays();
    if (fresh.length) lane.text.add(fresh, visible);
    lane.text.wait(this.player.mode === "live" ? data.pending : null);
  }

  autoplays() {
    return this.run.kind !== "live" && !this.run.played;
  }

  // A recorded run plays by itself once, slowly enough to be seen.
  begin() {
    const started = this.run.lanes.length > 0;
    this.root.classList.toggle("sv-empty", !started);
    if (!started || !this.run.end || !this.autoplays()) return;
    this.run.played = true;
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const ticks = svTicks(this.run);
    const last = ticks.length ? ticks[ticks.length - 1][0] : 0;
    this.player.pace = SV_PACES[svPace(last, ticks.length, SV_PACES)];
    this.bar.words();
    if (still) this.player.hold(this.run, ticks.length);
    else {
      this.player.count = 0;
      this.player.mode = "hold";
      this.player.play(this.run);
    }
  }

  ends() {
    const { run } = this;
    document.body.classList.toggle("sv-running", Boolean(run.lanes.length && !run.end && run.kind === "live"));
    const state = run.end || (run.lanes.length ? "running" : "idle");
    if (this.state === run.id + state) return;
    this.state = run.id + state;
    this.root.dataset.state = state;
    const sentence = run.error ? this.sentence(run.error) : "";
    this.figures.error(sentence);
    if (run.kind === "live") this.announce(sentence || this.say("sv_state_" + state));
  }

  sentence([code, sentence]) {
    return sentence || this.say("sv_error_" + code);
  }

  announce(text) {
    this.status.textContent = text;
  }

  // ---- lanes ----------------------------------------------------------------------------------

  addLane(place) {
    const kind = this.run.lanes[place].key === "plain" ? " sv-plain" : "";
    const box = svNode("section", "sv-lane" + kind, this.grid);
    const head = svNode("div", "sv-lane-head", box);
    svNode("i", "sv-swatch sv-lane-" + place, head);
    const name = svNode("h3", "", head);
    const figures = svNode("p", "sv-lane-figures", head);
    const text = new SvText(box, place, (key) => this.say(key));
    const strip = new SvStrip(box, place, this.stripHost());
    const lane = { place, box, name, figures, text, strip, started: false };
    this.lanes.push(lane);
    this.grid.dataset.lanes = this.run.lanes.length;
    this.laneWords(lane);
    this.figures.title(this.run, this.active);
  }

  laneWords(lane) {
    const data = this.run.lanes[lane.place];
    if (!data) return;
    lane.name.textContent = data.title;
    lane.box.setAttribute("aria-label", data.title);
    lane.text.box.setAttribute("aria-label", this.say("sv_text_of", { name: data.title }));
    lane.strip.canvas.setAttribute("aria-label", this.say("sv_strip_of", { name: data.title }));
  }

  stripHost() {
    return {
      step: (place, index, event, click) => this.overStep(place, index, event, click),
      leave: () => { if (!this.cursor) this.tip.hide(); },
      colours: () => this.colours(),
      ms: (value) => this.formats.ms(value),
    };
  }

  colours() {
    if (this.ink) return this.ink;
    const style = getComputedStyle(this.root);
    const get = (name) => style.getPropertyValue("--sv-" + name).trim();
    this.ink = {
      a: get("accepted"), r: get("rejected"), d: get("discarded"), s: get("residual"),
      b: get("bonus"), draft: get("draft"), verify: get("verify"), other: get("other"),
      line: get("line"), muted: get("muted"), mark: get("mark"),
    };
    return this.ink;
  }

  // ---- drawing --------------------------------------------------------------------------------

  draw() {
    const total = svTicks(this.run).length;
    const count = this.player.shown(this.run);
    const shown = svShown(this.run, count);
    this.shown = shown;
    this.scale = svStripScale(this.run.lanes);
    this.run.lanes.forEach((data, place) => this.drawLane(this.lanes[place], data, shown[place]));
    this.rateChart.draw(this.run.lanes, shown);
    this.timeChart.draw(this.run.lanes, shown);
    const plain = this.run.lanes.findIndex((lane) => lane.key === "plain");
    const beside = plain >= 0 && plain !== this.active && this.run.lanes[plain].steps[shown[plain] - 1];
    this.figures.draw(this.run.lanes[this.active], shown[this.active] || 0, beside || null);
    this.bar.draw(count, total, shown[this.active] || 0);
  }

  drawLane(lane, data, shown) {
    if (!lane) return;
    if (lane.text.shown !== shown) lane.text.show(shown, this.player.mode !== "live");
    lane.strip.draw(data.steps, shown, this.markedStep(lane.place), this.scale);
    const step = data.steps[shown - 1];
    lane.figures.textContent = step ? this.say("sv_lane_figures", {
      n: step.run[SV_RUN.tokens], s: shown, t: this.formats.ms(step.run[SV_RUN.elapsed]),
    }) : this.waitingText(data);
  }

  waitingText(data) {
    if (this.run.end) return "";
    return this.say(data.start ? "sv_lane_started" : "sv_lane_waiting");
  }

  markedStep(place) {
    if (!this.cursor || this.cursor.place !== place) return -1;
    const entry = this.lanes[place].text.tokens[this.cursor.k];
    return entry ? entry.step : -1;
  }

  // The player moved; texts scroll along while it plays.
  moved() {
    const begin = performance.now();
    this.draw();
    this.stats.scrubMs = performance.now() - begin;
  }

  // ---- pointing -------------------------------------------------------------------------------

  laneOf(node) {
    return this.lanes.find((lane) => lane.box.contains(node));
  }

  hover(event) {
    const node = event.target.closest(".sv-text .sv-t");
    if (this.cursor) return;
    if (node && node.dataset.k !== undefined) this.card(this.laneOf(node), Number(node.dataset.k));
    else if (!event.target.closest(".sv-strip") && !event.target.closest(".sv-tip")) this.tip.hide();
  }

  click(event) {
    const node = event.target.closest(".sv-text .sv-t");
    if (node && node.dataset.k !== undefined) this.pin(this.laneOf(node), Number(node.dataset.k));
    else if (!event.target.closest(".sv-tip, .sv-strip, .sv-bar")) this.unpin();
  }

  overStep(place, index, event, click) {
    const step = this.run.lanes[place].steps[index];
    if (!step || (this.cursor && !click)) return;
    const { clientX: x, clientY: y } = event;
    if (click) {
      const k = this.lanes[place].text.tokens.findIndex((entry) => entry.step === index);
      if (k >= 0) this.pin(this.lanes[place], k);
    } else this.tip.step(step, { left: x, right: x, top: y, bottom: y + 8 });
  }

  card(lane, k) {
    const entry = lane.text.tokens[k];
    if (!entry || entry.step >= this.shown[lane.place]) return;
    const step = this.run.lanes[lane.place].steps[entry.step];
    this.tip.token(entry.token, step, entry.node.getClientRects()[0] || entry.node.getBoundingClientRect());
    if (step.light) this.detail(lane, entry.step, k);
  }

  // Alternatives that were left out while the run was too fast.
  async detail(lane, index, k) {
    const run = this.run;
    const step = run.lanes[lane.place].steps[index];
    const text = await server.detail([run.id, lane.place, index]);
    if (!text || run !== this.run) return;
    const full = JSON.parse(text);
    full.tok.forEach((token, i) => Object.assign(step.tok[i], token));
    delete step.light;
    if (!this.tip.box.hidden) this.card(lane, k);
  }

  pin(lane, k) {
    const entry = lane.text.tokens[k];
    if (!entry) return;
    this.unpin(false);
    this.cursor = { place: lane.place, k };
    this.active = lane.place;
    entry.node.classList.add("sv-cur");
    lane.text.reveal(entry.node);
    this.card(lane, k);
    this.figures.title(this.run, this.active);
    this.draw();
    const fate = this.say("sv_" + SV_FATES[entry.token.f]);
    const step = this.run.lanes[lane.place].steps[entry.step];
    this.announce(svLabel(entry.token) + ", " + fate + ". " + this.tip.why(entry.token, step));
  }

  unpin(draw = true) {
    if (this.cursor) {
      const entry = this.lanes[this.cursor.place].text.tokens[this.cursor.k];
      if (entry) entry.node.classList.remove("sv-cur");
    }
    this.cursor = null;
    if (this.tip) this.tip.hide();
    if (draw && this.lanes.length) this.draw();
  }

  // ---- keys -----------------------------------------------------------------------------------

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return this.unpin();
    if (this.bar.key(event)) return event.preventDefault();
    const lane = event.target.closest && event.target.closest(".sv-text") && this.laneOf(event.target);
    if (!lane) return;
    const last = lane.text.tokens.findLastIndex((entry) => entry.step < this.shown[lane.place]);
    const at = this.cursor && this.cursor.place === lane.place ? this.cursor.k : -1;
    const next = { ArrowRight: Math.min(at + 1, last), ArrowLeft: Math.max(0, at - 1), Home: 0, End: last }[event.key];
    if (next === undefined || last < 0) return;
    event.preventDefault();
    this.pin(lane, next);
  }
}

const svRoot = element.querySelector("[data-sv='viewer']");
const svViewer = new SvViewer(svRoot);
svRoot.svStats = svViewer.stats;
watch("value", () => svViewer.receive(props.value));
svViewer.receive(props.value);
