// Head and summary figures of the viewer: what ran, where its numbers come from, how it went.

const SV_DASH = "\u2013";

class SvFigures {
  constructor(parent, { say, said, show }) {
    this.say = say;
    this.said = said; // English words of other parts, in this language
    this.show = show; // number formats
    this.head = svNode("header", "sv-head", parent);
    const line = svNode("div", "sv-headline", this.head);
    this.name = svNode("h2", "sv-name", line);
    this.badge = svNode("span", "sv-badge", line);
    this.exact = svNode("span", "sv-badge sv-exact", line);
    this.facts = svNode("p", "sv-facts", this.head);
    this.alert = svNode("div", "sv-alert", parent);
    this.alert.setAttribute("role", "alert");
    this.alert.hidden = true;
    this.cards = svNode("div", "sv-cards", parent);
    this.rate = this.card("rate");
    this.tau = this.card("tau");
    this.speed = this.card("speed");
    this.time = this.card("time");
    this.gain = this.card("gain");
    this.number = svNode("span", "", this.speed.value);
    this.unit = svNode("small", "sv-unit", this.speed.value);
    this.bar = svNode("div", "sv-share");
    this.parts = ["draft", "verify", "other"].map((p) => svNode("span", "sv-part sv-" + p, this.bar));
    this.time.value.replaceWith(this.bar);
  }

  card(name) {
    const box = svNode("section", "sv-card sv-card-" + name, this.cards);
    const label = svNode("h3", "sv-label", box);
    const value = svNode("p", "sv-value", box);
    const note = svNode("p", "sv-note", box);
    const from = svNode("p", "sv-from", box);
    return { name, box, label, value, note, from };
  }

  words(run) {
    this.origin = this.from(run);
    for (const card of [this.rate, this.tau, this.speed, this.time, this.gain]) {
      card.label.textContent = this.say("sv_card_" + card.name);
      card.box.title = this.say("sv_card_" + card.name + "_info");
      svSet(card.from, this.origin);
    }
  }

  from(run) {
    if (run.kind === "live") return this.say("sv_from_measured");
    return this.say("sv_from_recorded", { date: this.date(run) });
  }

  date(run) {
    const start = run.lanes[0] && run.lanes[0].start;
    const date = new Date((start && start.created) || "");
    return Number.isNaN(date.getTime()) ? SV_DASH : this.show.date(date);
  }

  // What ran: method, where its numbers come from, models and settings.
  title(run, place) {
    const lane = run.lanes[place];
    this.expected = !run.end && run.lanes.some((other) => other.key === "plain");
    this.words(run);
    this.name.textContent = run.race ? this.say("sv_race_title", { n: run.lanes.length })
      : lane ? this.said(lane.title) : this.say("sv_nothing");
    this.badge.hidden = !lane;
    this.exact.hidden = !lane || Boolean(run.race);
    this.facts.textContent = "";
    if (!lane) return;
    this.badge.className = "sv-badge sv-kind-" + run.kind;
    this.badge.textContent = run.kind === "live" ? this.say("sv_badge_measured")
      : this.say("sv_badge_recorded", { date: this.date(run) });
    this.exact.textContent = this.say(lane.lossless ? "sv_lossless" : "sv_lossy");
    this.exact.title = this.say(lane.lossless ? "sv_lossless_info" : "sv_lossy_info");
    this.exact.classList.toggle("sv-warn", !lane.lossless);
    const { start } = run.race ? run.lanes[0] : lane; // of a race: what all its lanes share
    if (start) for (const fact of this.factsOf(start)) this.fact(fact);
  }

  fact(text) {
    svNode("span", "sv-fact", this.facts).textContent = text;
  }

  factsOf(start) {
    const { models = {}, request = {}, provenance = {} } = start;
    const config = request.config || request;
    const facts = [];
    if (models.target) facts.push(this.say("sv_fact_target", { id: models.target.id }));
    if (models.draft) facts.push(this.say("sv_fact_draft", { id: models.draft.id }));
    if (config.gamma) facts.push("\u03b3 " + config.gamma);
    for (const name of ["exit_layer", "ngram", "ensemble_weight"]) { // null where out of force
      if (config[name]) facts.push(this.say("sv_fact_" + name, { n: config[name] }));
    }
    facts.push(config.temperature ? this.say("sv_fact_sampled", { t: config.temperature })
      : this.say("sv_fact_greedy"));
    const device = [provenance.device, provenance.dtype].filter(Boolean).join(", ");
    if (device) facts.push(device);
    if (provenance.threads) facts.push(this.say("sv_fact_threads", { n: provenance.threads }));
    return facts;
  }

  // Why something was refused, as [code, sentence], or null; kept for a change of the language.
  refuse(error) {
    const [code, sentence] = error || [];
    const text = sentence ? this.said(sentence) : error ? this.say("sv_error_" + code) : "";
    this.error(text.charAt(0).toUpperCase() + text.slice(1));
    this.refused = error;
    return this.alert.textContent;
  }

  error(sentence) {
    this.refused = null;
    this.alert.hidden = !sentence;
    this.alert.textContent = sentence || "";
  }

  // Figures of one lane after `shown` steps; `beside` is the plain lane's last step shown.
  draw(lane, shown, beside) {
    const step = lane && lane.steps[shown - 1];
    const run = step ? step.run : [];
    const get = (name) => (run[SV_RUN[name]] === undefined ? null : run[SV_RUN[name]]);
    svSet(this.rate.value, this.show.percent(get("rate")));
    svSet(this.rate.note, step && get("judged")
      ? this.say("sv_note_rate", { a: get("accepted"), j: get("judged") })
      : this.say("sv_note_no_drafts"));
    svSet(this.tau.value, this.show.number(get("tau"), 2));
    svSet(this.tau.note, this.say("sv_note_tau", { n: get("tokens") || 0, s: shown }));
    svSet(this.number, this.show.speed(get("speed")));
    svSet(this.unit, this.say("sv_unit_speed"));
    const totals = lane && lane.compare && lane.compare.plain;
    const plain = beside ? beside.run[SV_RUN.speed] : totals && totals.speed;
    svSet(this.speed.note, plain ? this.say("sv_note_speed", { v: this.show.speed(plain) })
      : this.say("sv_note_time", { t: this.show.ms(get("elapsed")) }));
    const shares = ["draft", "verify", "other"].map((part) => get(part));
    this.share(shares);
    this.compare(lane && lane.compare, this.without(lane));
  }

  // What a trace keeps of the plain run beside it, where it is no lane of its own.
  beside({ lanes }) {
    const plain = lanes.length === 1 && lanes[0].compare && lanes[0].compare.plain;
    if (this.totals.hidden === Boolean(plain)) this.totals.hidden = !plain;
    if (!plain) return;
    const { ms, speed } = this.show;
    const values = { n: plain.tokens, t: ms(plain.decode_ms), v: speed(plain.speed) };
    svSet(this.totals, this.say("sv_share_plain", values));
  }

  // Why there is no comparison, for a lane that has none.
  without(lane) {
    if (lane && lane.key === "plain") return "sv_note_is_plain";
    return this.expected ? "sv_note_plain_next" : "sv_note_no_plain";
  }

  share(shares) {
    const names = ["draft", "verify", "other"];
    const whole = this.show.wholes(shares);
    const words = names.map((part, i) => this.say("sv_" + part) + " " + whole[i]);
    svSet(this.time.note, words.join(" \u00b7 "));
    const key = shares.map((value) => Math.round(1000 * (value || 0))).join();
    if (this.shares === key) return;
    this.shares = key;
    shares.forEach((value, i) => { this.parts[i].style.flexGrow = String(value || 0); });
  }

  // Speed-up, and whether the ids equal plain decoding's.
  compare(figures, without) {
    const known = figures && figures.speedup;
    svSet(this.gain.value, known ? this.show.number(figures.speedup, 2) + "\u00d7" : SV_DASH);
    this.gain.box.classList.toggle("sv-slow", Boolean(known && figures.verdict === "slower"));
    const word = known ? this.say("sv_verdict_" + figures.verdict) + " \u00b7 " : "";
    svSet(this.gain.note, figures ? word + this.sameness(figures) : this.say(without));
    svSet(this.gain.from, figures && !figures.race
      ? this.say("sv_from_once", { from: this.origin }) : this.origin);
  }

  sameness(figures) {
    if (figures.sampled) return this.say("sv_same_sampled");
    if (figures.identical) return this.say("sv_same_yes");
    if (figures.identical === null || figures.identical === undefined) return this.say("sv_same_unknown");
    const n = figures.first_difference + 1;
    const gap = figures.gap;
    return gap === null || gap === undefined ? this.say("sv_same_no", { n })
      : this.say("sv_same_no_gap", { n, gap: this.show.number(gap, 3) });
  }
}

// What the marks of tokens and the colours of times mean.
function svLegend(list, say) {
  list.textContent = "";
  for (const fate of ["drafted", "accepted", "rejected", "residual", "bonus", "discarded", "own"]) {
    const item = svNode("li", "sv-key", list);
    svNode("span", "sv-t sv-" + fate, item).textContent = say("sv_" + fate);
    item.title = say("sv_" + fate + "_info");
  }
  for (const part of ["draft", "verify", "other"]) {
    const item = svNode("li", "sv-key", list);
    svNode("i", "sv-dot sv-" + part, item);
    svNode("span", "", item).textContent = say("sv_time_" + part);
  }
}

// Numbers in the visitor's language; missing values are a dash.
function svFormats(language) {
  const make = (options) => new Intl.NumberFormat(language, options);
  const percent = make({ style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const whole = make({ style: "percent", maximumFractionDigits: 0 });
  const cache = new Map();
  const fixed = (digits) => {
    if (!cache.has(digits)) {
      cache.set(digits, make({ minimumFractionDigits: digits, maximumFractionDigits: digits }));
    }
    return cache.get(digits);
  };
  const or = (format) => (value, more) =>
    (value === null || value === undefined ? SV_DASH : format(value, more));
  return {
    percent: or((v) => percent.format(v)),
    whole: or((v) => whole.format(v)),
    wholes: (shares) => svWholes(shares).map(or((v) => whole.format(v))),
    number: or((v, digits) => fixed(digits).format(v)),
    speed: or((v) => fixed(v < 10 ? 2 : v < 100 ? 1 : 0).format(v)),
    ms: or((v) => (v === 0 ? "0" : v >= 1000 ? fixed(2).format(v / 1000) + " s"
      : fixed(v < 10 ? 1 : 0).format(v) + " ms")),
    prob: or((v) => (v > 0 && v < 0.0005 ? v.toExponential(1) : fixed(3).format(v))),
    date: (date) => new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(date),
  };
}

// Bytes in the unit that fits.
function svSize(value, formats) {
  if (!value) return SV_DASH;
  const units = ["B", "kB", "MB", "GB"];
  let place = 0;
  let size = value;
  while (size >= 1000 && place < units.length - 1) {
    size /= 1000;
    place++;
  }
  return formats.number(size, size < 10 && place ? 1 : 0) + " " + units[place];
}
