// The lesson: eight stops over one recorded run. Which run, which steps and which numbers comes from
// the server (specviz/ui/lesson.py); here the run is shown, one part of it is lit, and what stood on
// the screen before comes back at the end. Text is only ever written as text.

// What each stop lights, as a selector inside the viewer.
const SV_LIT = {
  memory: ".sv-card-tau", draft: ".sv-chain", verify: ".sv-inspect-head", accept: ".sv-link.sv-picked",
  reject: ".sv-inspect-detail", bonus: ".sv-lane .sv-text", slower: ".sv-cards", lossless: ".sv-headline",
};

class SvLesson {
  constructor(viewer) {
    this.viewer = viewer;
    this.at = 0;
    this.stops = [];
    this.spot = new SvSpot(viewer.root.closest(".gradio-container") || viewer.root);
    this.keys = (event) => this.key(event);
    this.build();
    this.opener = svNode("button", "sv-lesson-open");
    this.opener.type = "button";
    this.opener.addEventListener("click", (event) => {
      event.stopPropagation(); // a click beside a token would let go of the one that is kept
      this.start();
    });
    viewer.share.box.prepend(this.opener);
    const { guide } = viewer.inspector;
    this.asks = svNode("span", "", guide);
    this.second = svNode("button", "sv-small-button", guide);
    this.second.type = "button";
    this.second.addEventListener("click", () => this.start());
    new MutationObserver(() => this.words())
      .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
    new MutationObserver(() => this.ready())
      .observe(viewer.root, { attributes: true, attributeFilter: ["data-state"] });
    this.words();
    this.ready();
  }

  say(key, values) {
    return this.viewer.say(key, values);
  }

  build() {
    const { card } = this.spot;
    card.setAttribute("role", "dialog");
    card.setAttribute("aria-modal", "true");
    card.tabIndex = -1;
    const head = svNode("header", "sv-lesson-head", card);
    this.place = svNode("span", "sv-lesson-place", head);
    this.closer = this.button(head, "close", () => this.close());
    const text = svNode("div", "sv-lesson-text", card);
    text.setAttribute("aria-live", "polite");
    this.title = svNode("h2", "", text);
    this.title.id = "sv-lesson-title";
    this.body = svNode("p", "", text);
    card.setAttribute("aria-labelledby", this.title.id);
    const foot = svNode("div", "sv-lesson-foot", card);
    this.dots = svNode("span", "sv-lesson-dots", foot);
    this.dots.setAttribute("aria-hidden", "true");
    this.back = this.button(foot, "back", () => this.go(this.at - 1));
    this.next = this.button(foot, "next", () => this.go(this.at + 1));
  }

  button(parent, name, act) {
    const button = svNode("button", "sv-lesson-button sv-lesson-" + name, parent);
    button.type = "button";
    button.addEventListener("click", act);
    return button;
  }

  words() {
    this.opener.textContent = this.say("sv_lesson_open");
    this.opener.title = this.say("sv_lesson_about");
    this.asks.textContent = this.say("sv_lesson_ask");
    this.second.textContent = this.say("sv_lesson_open");
    this.closer.textContent = this.say("sv_lesson_close");
    this.back.textContent = this.say("sv_lesson_back");
    if (this.spot.on) this.tell();
  }

  // A run that goes on keeps the viewer.
  ready() {
    for (const opener of [this.opener, this.second]) {
      opener.disabled = this.viewer.root.dataset.state === "running";
    }
  }

  // ---- opening and closing --------------------------------------------------------------------

  async start() {
    if (this.spot.on) return;
    const text = await server.lesson(null);
    if (this.spot.on) return;
    if (!text) {
      this.viewer.figures.error(this.say("sv_lesson_none"));
      return;
    }
    const { messages, stops } = JSON.parse(text);
    this.stops = stops;
    this.remember();
    this.show(messages);
    this.spot.open();
    document.addEventListener("keydown", this.keys, true);
    this.go(0);
  }

  remember() {
    const { feed, player, active, cursor } = this.viewer;
    this.before = {
      run: feed.run, mode: player.mode, count: player.count, pace: player.pace, active,
      pinned: cursor.at, scroll: window.scrollY,
    };
    feed.hold();
  }

  show(messages) {
    const { viewer } = this;
    const parsed = messages.map((text) => JSON.parse(text));
    viewer.feed.run = svNewRun(parsed[0].run);
    viewer.opened();
    for (const message of parsed) svApply(viewer.feed.run, message);
    viewer.feed.run.played = true;
    viewer.flush();
  }

  close() {
    const { viewer, before } = this;
    const { player } = viewer;
    this.spot.close();
    document.removeEventListener("keydown", this.keys, true);
    viewer.feed.run = before.run;
    viewer.opened();
    viewer.active = before.active;
    viewer.flush();
    player.pace = before.pace;
    viewer.bar.words();
    if (before.mode !== "live") player.hold(before.run, before.count);
    if (before.mode === "play") player.play(before.run);
    if (before.pinned) viewer.cursor.pin(viewer.lanes[before.pinned.place], before.pinned.k, true);
    viewer.feed.release();
    window.scrollTo({ top: before.scroll, behavior: "instant" });
    this.opener.focus({ preventScroll: true });
  }

  // ---- moving ---------------------------------------------------------------------------------

  go(at) {
    if (at < 0) return;
    if (at >= this.stops.length) {
      this.close();
      return;
    }
    this.at = at;
    const { viewer } = this;
    const { name, step, at: place } = this.stops[at];
    viewer.player.hold(viewer.feed.run, step + 1);
    viewer.cursor.pin(viewer.lanes[0], viewer.inspector.first(0, step) + place, true);
    viewer.inspector.show();
    this.tell();
    if (at === 0) this.next.focus({ preventScroll: true }); // there is no way back to press
    this.spot.light(() => viewer.root.querySelector(SV_LIT[name]));
  }

  tell() {
    const { name, values } = this.stops[this.at];
    const all = this.stops.length;
    const last = this.at === all - 1;
    this.spot.card.dataset.stop = name;
    this.place.textContent = this.say("sv_lesson_place", { n: this.at + 1, all });
    this.title.textContent = this.say("sv_lesson_" + name + "_head");
    this.body.textContent = this.sentences(name, values);
    this.back.disabled = this.at === 0;
    this.next.textContent = this.say(last ? "sv_lesson_done" : "sv_lesson_next");
    this.dots.textContent = "";
    for (let i = 0; i < all; i++) svNode("i", i === this.at ? "sv-lesson-here" : "", this.dots);
  }

  // The stop's sentences, and behind them those that need a number which this run may not have.
  sentences(name, values) {
    const told = Object.fromEntries(
      Object.entries(values).map(([key, [format, value]]) => [key, this.number(format, value)]),
    );
    const parts = ["sv_lesson_" + name, "sv_lesson_" + name + "_more"];
    const found = parts.filter((key) => SV_TEXTS.en[key]).map((key) => this.say(key, told));
    return found.filter((text) => !/\{\w+\}/.test(text)).join(" ");
  }

  number(format, value) {
    const show = this.viewer.formats;
    if (format === "text") return "\u201c" + svLabel({ x: value }) + "\u201d";
    if (format === "name") return "\u201c" + this.viewer.said(svVisible(value)) + "\u201d";
    if (format === "bytes") return show.number(value / 1e6, 1) + " MB";
    if (format === "ratio") return show.number(value, 2);
    if (format === "count") return show.number(value, 0);
    return show[format](value);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      ArrowRight: () => this.at < this.stops.length - 1 && this.go(this.at + 1),
      ArrowLeft: () => this.go(this.at - 1),
      Escape: () => this.close(),
      Tab: () => this.turn(event.shiftKey ? -1 : 1),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // Tab goes round among the card's buttons.
  turn(by) {
    const buttons = [this.closer, this.back, this.next].filter((button) => !button.disabled);
    const now = buttons.indexOf(document.activeElement);
    buttons[(now + by + buttons.length) % buttons.length].focus({ preventScroll: true });
  }
}

svViewer.lesson = new SvLesson(svViewer);
