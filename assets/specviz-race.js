// A race: thin bars on one clock above the lanes, and the table of the outcome below them.
// It is shown for runs whose first record names a race; other runs look as they always do.

const SV_RACE_MS = 9000; // a replay takes about so long at first
const SV_RACE_COLS = ["method", "speedup", "rate", "tau", "forwards", "time", "memory", "same"];

class SvRace {
  constructor(viewer) {
    this.viewer = viewer;
    const { root } = viewer;
    this.track = svNode("section", "sv-track-box");
    this.head = svNode("p", "sv-track-head", this.track);
    this.list = svNode("ol", "sv-track-list", this.track);
    this.result = svNode("section", "sv-result");
    root.insertBefore(this.track, viewer.legend);
    root.insertBefore(this.result, viewer.chartBox);
    this.track.hidden = this.result.hidden = true;
    this.rows = [];
  }

  say(key, values) {
    return this.viewer.say(key, values);
  }

  // Another run came on screen.
  opened() {
    this.list.textContent = "";
    this.rows = [];
    this.table = "";
  }

  words() {
    this.track.setAttribute("aria-label", this.say("sv_race_track"));
    this.table = "";
    const { lanes } = this.viewer.feed.run;
    this.rows.forEach(({ title }, place) => {
      title.textContent = this.viewer.said(lanes[place].title);
    });
  }

  // How many times slower than it was a replay starts.
  pace(last) {
    const wanted = SV_RACE_MS / Math.max(last, 1);
    return SV_PACES.filter((pace) => pace <= wanted * 1.4).pop() || 1;
  }

  // The time of the replay in ms after so many steps.
  clock(run, count) {
    const { player } = this.viewer;
    const ticks = svTicks(run);
    if (player.mode === "play") return Math.max(0, player.clock);
    return count ? ticks[count - 1][0] : 0;
  }

  // Draw all of it, when the first `count` steps on the common clock are shown.
  draw(run, shown, count) {
    const { race } = run;
    const { viewer } = this;
    if (this.on !== Boolean(race)) this.toggle(Boolean(race));
    if (!race) return;
    if (!this.rows.length && run.lanes.length > 1) viewer.choose(1); // the first that drafts
    while (this.rows.length < run.lanes.length) this.addRow(run.lanes[this.rows.length]);
    const ends = run.lanes.map((lane) => this.end(lane));
    const goal = race.over ? Math.max(1, ...ends.map((end) => end.tokens)) : race.limit;
    const places = race.over ? this.places(ends) : [];
    run.lanes.forEach((lane, place) => {
      this.drawRow(this.rows[place], lane, { run, goal, shown: shown[place], rank: places[place] });
    });
    svSet(this.head, this.headline(run, count));
    this.drawTable(run);
  }

  headline(run, count) {
    const { race } = run;
    if (!race.over) return this.say(run.end === "cancelled" ? "sv_race_stopped" : "sv_race_live");
    const t = this.viewer.formats.ms(this.clock(run, count));
    return this.say(race.repeats > 1 ? "sv_race_clock" : "sv_race_clock_one", { t, r: race.round });
  }

  // The bar moves up to the track, where the race is seen, and back under the lanes.
  toggle(on) {
    const { viewer } = this;
    this.on = on;
    viewer.root.toggleAttribute("data-race", on);
    this.track.hidden = !on;
    this.result.hidden = true;
    (on ? this.track : viewer.grid).after(viewer.bar.box);
    if (on) viewer.grid.after(this.result);
  }

  addRow(lane) {
    const place = this.rows.length;
    const box = svNode("li", "sv-runner", this.list);
    const name = svNode("span", "sv-runner-name", box);
    svNode("i", "sv-swatch sv-lane-" + place, name);
    const title = svNode("span", "", name);
    title.textContent = this.viewer.said(lane.title);
    const road = svNode("span", "sv-road", box);
    const fill = svNode("span", "sv-road-fill sv-lane-" + place, road);
    const count = svNode("span", "sv-runner-count", box);
    const note = svNode("span", "sv-runner-note", box);
    const flag = svNode("span", "sv-flag", note);
    flag.setAttribute("aria-hidden", "true");
    flag.hidden = true;
    const text = svNode("span", "", note);
    this.rows.push({ box, title, fill, count, note, flag, text });
  }

  // Tokens and time of a lane at its end.
  end(lane) {
    const last = lane.steps[lane.steps.length - 1];
    return { tokens: last ? last.run[SV_RUN.tokens] : 0, ms: last ? last.run[SV_RUN.elapsed] : Infinity };
  }

  // Who came in first: time per token, since a text may end early.
  places(ends) {
    const pace = ends.map((end) => end.ms / Math.max(1, end.tokens));
    return pace.map((own) => 1 + pace.filter((other) => other < own).length);
  }

  drawRow(row, lane, { run, goal, shown, rank }) {
    const step = lane.steps[shown - 1];
    const tokens = step ? step.run[SV_RUN.tokens] : 0;
    const done = run.race.over && shown > 0 && shown === lane.steps.length;
    row.fill.style.transform = `scaleX(${Math.min(1, tokens / goal).toFixed(4)})`;
    svSet(row.count, this.say("sv_race_tokens", { n: tokens }));
    row.flag.hidden = !done;
    row.box.classList.toggle("sv-home", done);
    row.box.classList.toggle("sv-first", done && rank === 1);
    row.box.classList.toggle("sv-refused", Boolean(this.refusal(lane)));
    row.box.classList.toggle("sv-now", this.now(run, lane));
    svSet(row.text, this.note(run, lane, done ? { step, rank } : null));
  }

  now(run, lane) {
    return !run.end && Boolean(lane.round) && !lane.round.done && !lane.round.refused;
  }

  // Why a lane cannot run, if so.
  refusal(lane) {
    return lane.refused || (lane.round && lane.round.refused) || "";
  }

  note(run, lane, home) {
    const reason = this.refusal(lane);
    if (reason) return this.say("sv_race_refused", { reason: this.viewer.said(reason) });
    if (home) {
      const time = this.viewer.formats.ms(home.step.run[SV_RUN.elapsed]);
      return this.say("sv_race_place", { n: home.rank }) + " \u00b7 " + time;
    }
    if (run.race.over) return "";
    if (!lane.round) return this.say(run.end ? "sv_race_unfinished" : "sv_race_wait");
    const { r, n, done } = lane.round;
    const words = this.say(done ? "sv_race_round_done" : "sv_race_round", { r, of: run.race.repeats });
    return r > 1 && !done ? words + " \u00b7 " + this.say("sv_race_tokens", { n }) : words;
  }

  // ---- the table ------------------------------------------------------------------------------

  drawTable(run) {
    const ran = run.lanes.filter((lane) => lane.compare && lane.compare.race);
    const key = run.id + run.end + ran.length;
    if (this.table === key) return;
    this.table = key;
    this.result.textContent = "";
    this.result.hidden = !run.end || ran.length < 2;
    if (this.result.hidden) return;
    svNode("h3", "sv-result-head", this.result).textContent = this.say("sv_race_table");
    const { rounds } = ran[0].compare.race;
    svNode("p", "sv-result-note", this.result).textContent =
      this.say(rounds > 1 ? "sv_race_note" : "sv_race_note_one", { n: rounds });
    const table = svNode("table", "sv-result-table", this.result);
    const head = svNode("tr", "", svNode("thead", "", table));
    for (const name of SV_RACE_COLS) {
      const cell = svNode("th", "sv-col-" + name, head);
      cell.scope = "col";
      cell.textContent = this.say("sv_race_col_" + name);
    }
    const best = Math.max(1, ...ran.map((lane) => lane.compare.race.speedup[2]));
    run.lanes.forEach((lane, place) => this.tableRows(table, lane, place, best));
  }

  tableRows(table, lane, place, best) {
    const body = svNode("tbody", "", table);
    const row = svNode("tr", "", body);
    const name = svNode("th", "sv-col-method", row);
    name.scope = "row";
    svNode("i", "sv-swatch sv-lane-" + place, name);
    svNode("span", "", name).textContent = this.viewer.said(lane.title);
    if (!lane.lossless) svNode("span", "sv-badge sv-warn", name).textContent = this.say("sv_lossy");
    const result = lane.compare && lane.compare.race;
    if (!result) {
      const cell = svNode("td", "sv-result-none", row);
      cell.colSpan = SV_RACE_COLS.length - 1;
      cell.textContent = this.missing(lane);
      return;
    }
    for (const col of SV_RACE_COLS.slice(1)) this.cell(row, col, lane, result, { place, best });
    const why = svNode("td", "sv-why", svNode("tr", "", body));
    why.colSpan = SV_RACE_COLS.length;
    why.textContent = this.why(result);
  }

  missing(lane) {
    const reason = this.refusal(lane);
    if (!reason) return this.say("sv_race_unfinished");
    return this.say("sv_race_refused", { reason: this.viewer.said(reason) });
  }

  cell(row, col, lane, result, { place, best }) {
    const { formats } = this.viewer;
    const cell = svNode("td", "sv-col-" + col, row);
    cell.dataset.label = this.say("sv_race_col_" + col);
    const put = (text) => { svNode("span", "", cell).textContent = text; };
    if (col === "speedup") this.speedup(cell, result, { place, best });
    else if (col === "rate") put(formats.percent(result.rate));
    else if (col === "tau") put(formats.number(result.tau, 2));
    else if (col === "forwards") put(this.forwards(result.forwards));
    else if (col === "time") this.share(cell, result.shares);
    else if (col === "memory") this.memory(cell, result.bytes);
    else if (lane.key === "plain") put(this.say("sv_race_same_plain"));
    else {
      put(this.viewer.figures.sameness(lane.compare));
      if (result.same_ids === false) svNode("small", "", cell).textContent = this.say("sv_race_varied");
    }
  }

  // A number with its spread, and a bar whose mark is plain decoding.
  speedup(cell, result, { place, best }) {
    const { formats } = this.viewer;
    const [middle, low, high] = result.speedup;
    const number = svNode("strong", middle < 0.995 ? "sv-slower" : "", cell);
    number.textContent = formats.number(middle, 2) + "\u00d7";
    if (result.rounds > 1 && place) {
      svNode("small", "", cell).textContent =
        `(${formats.number(low, 2)}\u2013${formats.number(high, 2)})`;
    }
    const scale = svNode("span", "sv-gain", cell);
    scale.setAttribute("aria-hidden", "true");
    svNode("i", "sv-gain-fill sv-lane-" + place, scale).style.width = (100 * middle) / best + "%";
    svNode("i", "sv-gain-one", scale).style.left = 100 / best + "%";
  }

  forwards([target, draft]) {
    return draft ? this.say("sv_race_forwards_both", { t: target, d: draft })
      : this.say("sv_race_forwards", { t: target });
  }

  share(cell, shares) {
    const { figures, formats } = this.viewer;
    const names = ["draft", "verify", "other"];
    const bar = svNode("span", "sv-share", cell);
    bar.setAttribute("aria-hidden", "true");
    names.forEach((part, i) => {
      svNode("span", "sv-part sv-" + part, bar).style.flexGrow = String(shares[i] || 0);
    });
    const whole = formats.wholes(shares);
    const words = names.map((part, i) => figures.say("sv_" + part) + " " + whole[i]);
    svNode("small", "", cell).textContent = words.join(" \u00b7 ");
  }

  memory(cell, bytes) {
    const [target, draft, targetCache, draftCache, logits, all] = bytes;
    const sum = (...parts) => parts.reduce((total, part) => total + (part || 0), 0);
    const show = (value) => svSize(value, this.viewer.formats);
    const run = all || sum(targetCache, draftCache, logits);
    svNode("span", "", cell).textContent = show(sum(target, draft, run));
    svNode("small", "", cell).textContent = this.say("sv_race_memory", {
      w: show(sum(target, draft)), c: show(run),
    });
  }

  // The outcome in one sentence, for those who do not see it.
  summary(run) {
    const ran = run.lanes.filter((lane) => run.race && run.race.over && lane.compare);
    if (!ran.length) return "";
    const gain = (lane) => lane.compare.race.speedup[0];
    const first = ran.reduce((best, lane) => (gain(lane) > gain(best) ? lane : best));
    return this.say("sv_race_first", {
      name: this.viewer.said(first.title), gain: this.viewer.formats.number(gain(first), 2),
    });
  }

  // Why it won or lost; where its rounds lie on both sides of 1, that it is not sure.
  why({ why: [key, values], speedup: [, low, high] }) {
    const { formats } = this.viewer;
    const sentence = this.say(key, {
      tau: formats.number(values.tau, 2), cost: formats.number(values.cost, 2),
      draft: formats.whole(values.draft), empty: formats.whole(values.empty),
    });
    return low < 1 && high > 1 ? sentence + " " + this.say("sv_race_unsure") : sentence;
  }
}
