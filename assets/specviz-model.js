// The viewer's data: messages in, steps out. Pure functions, no DOM; tested with `node --test`.
// Figures are not computed here: the server sends them with every step.

// Places of the running figures in a step's `run` list (see specviz/ui/protocol.py).
const SV_RUN = {
  rate: 0, tau: 1, speed: 2, tokens: 3, elapsed: 4, draft: 5, verify: 6, other: 7, latency: 8,
  accepted: 9, judged: 10, proposed: 11,
};
const SV_FATES = { a: "accepted", r: "rejected", d: "discarded", s: "residual", b: "bonus" };
const SV_RULES = ["greedy_match", "sample_match", "speculative_sampling", "ensemble"];
const SV_LABEL = 60; // characters of a token's name
const SV_KEPT = new Set(["a", "s", "b"]);

// An empty run, before its first message.
function svNewRun(id) {
  return {
    id, kind: "live", name: "", lanes: [], seq: 0, end: null, error: null, ticks: null, race: null,
    at: null,
  };
}

function svNewLane(info) {
  return {
    key: info.key, title: info.title, lossless: info.lossless !== false, start: null,
    steps: [], pending: null, finish: null, compare: null, round: null, refused: info.refused || "",
  };
}

// Apply one message. Returns "ok", "old" (seen before), "gap" (one was missed) or "other" (of
// another run, which has no first message here).
function svApply(run, message) {
  if (message.run !== run.id) return "other";
  if (message.seq < run.seq) return "old";
  if (message.seq > run.seq) return "gap";
  run.seq = message.seq + 1;
  for (const record of message.ev) svRecord(run, record);
  if (message.end) {
    run.end = message.end;
    run.error = message.error || null;
    for (const lane of run.lanes) lane.pending = null;
  }
  return "ok";
}

function svRecord(run, record) {
  const [kind, place, value] = record;
  if (kind === "open") {
    run.kind = place.kind;
    run.name = place.name;
    run.race = place.race || null;
    run.at = place.at === undefined ? null : place.at;
    run.lanes = place.lanes.map(svNewLane);
    return;
  }
  const lane = run.lanes[place];
  if (!lane) return;
  if (kind === "start") lane.start = value;
  else if (kind === "draft") lane.pending = value;
  else if (kind === "finish") lane.finish = value;
  else if (kind === "compare") lane.compare = value;
  else if (kind === "round") lane.round = value;
  else if (kind === "step") {
    lane.steps.push(value);
    lane.pending = null;
    run.ticks = null;
  }
  if (kind === "finish") lane.pending = null;
}

// Steps of all lanes in the order of their clocks: [elapsed ms, lane, step]. All lanes start at 0.
function svTicks(run) {
  if (run.ticks) return run.ticks;
  const ticks = [];
  run.lanes.forEach((lane, place) => {
    lane.steps.forEach((step, index) => ticks.push([step.run[SV_RUN.elapsed], place, index]));
  });
  ticks.sort((one, two) => one[0] - two[0] || one[1] - two[1]);
  run.ticks = ticks;
  return ticks;
}

// The number of ticks, which needs no order.
function svCount(run) {
  return run.lanes.reduce((sum, lane) => sum + lane.steps.length, 0);
}

// How many steps of each lane are shown when the first `count` ticks are.
function svShown(run, count) {
  if (count >= svCount(run)) return run.lanes.map((lane) => lane.steps.length);
  const shown = run.lanes.map(() => 0);
  const ticks = svTicks(run);
  for (let i = 0; i < Math.min(count, ticks.length); i++) shown[ticks[i][1]]++;
  return shown;
}

// The number of ticks after which a step is on screen.
function svTickOf(run, place, index) {
  return svTicks(run).findIndex((tick) => tick[1] === place && tick[2] === index) + 1;
}

// Characters that a screen would hide or obey, as signs; the rest of the text stays as it is.
function svVisible(text) {
  const marked = /^\p{M}/u.test(text) ? "\u25cc" + text : text;
  return marked.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (char) => {
    const code = char.codePointAt(0);
    if (char === "\n" || char === "\t") return char;
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    if (code === 0x7f) return "\u2421";
    return "\u27e8U+" + code.toString(16).toUpperCase().padStart(4, "0") + "\u27e9";
  });
}

// How a token is drawn: the text in its box, with signs for blanks; what stands before and after
// the box (a blank before a word, the line break of a newline, so that lines break there and not
// in the box); whether it is a sign only; whether a line may break inside.
function svFace(token) {
  const text = token.x || "";
  const face = (shown, more) => ({ before: "", text: shown, after: "", sign: true, wide: false, ...more });
  if (token.h && !text) return face("\u27e8" + svHex(token.h) + "\u27e9");
  if (!text) return face("\u2205");
  if (/^[ \u00a0]+$/.test(text)) return face("\u2423".repeat(text.length));
  const before = /^ [^ ]/.test(text) ? " " : "";
  const after = (/^[^\n]*?(\n+ *)$/.exec(text) || ["", ""])[1];
  const middle = text.slice(before.length, text.length - after.length);
  const shown = svVisible(middle.replace(/\n/g, "\u21b5\n").replace(/\t/g, "\u21e5\t"))
    + after.replace(/\n/g, "\u21b5").replace(/ /g, "\u2423");
  const sign = /^[\s\u21b5\u21e5\u2423]+$/.test(shown);
  return { before, text: shown, after, sign, wide: shown.length > 24 || /\n/.test(shown) };
}

function svHex(hex) {
  return (hex.toUpperCase().match(/../g) || []).join(" ");
}

// A text of so many characters at most.
function svCut(text, limit) {
  if (text.length <= limit) return text;
  return Array.from(text.slice(0, 2 * limit)).slice(0, limit).join("") + "\u2026";
}

// A token's name in lists and tooltips: always on one line, blanks visible, cut where it is long.
function svLabel(token) {
  if (token.h && !token.x) return "\u27e8" + svCut(svHex(token.h.slice(0, 400)), SV_LABEL) + "\u27e9";
  if (token.x === "" || token.x === undefined) return "\u2205";
  return svVisible(svCut(token.x, SV_LABEL)).replace(/ /g, "\u2423").replace(/\r\n|\n|\r/g, "\u21b5")
    .replace(/\t/g, "\u21e5");
}

// What became of a token of a step. Without a draft there is no bonus: the step is the target's own.
function svFate(token, step) {
  return token.f === "b" && step.tok.length === 1 ? "own" : SV_FATES[token.f];
}

// The rule that judged a lane's drafts, "" where it is not known; an ensemble may be greedy as well.
function svRule(lane) {
  const { method, request } = lane.start || {};
  const rule = method && method.rule;
  if (!SV_RULES.includes(rule)) return "";
  const { temperature } = (request && request.config) || request || {};
  return rule === "ensemble" && !temperature ? "ensemble_greedy" : rule;
}

// Kept only because the rule is lossy: the target alone would have put another token here.
function svLossy(token) {
  return token.f === "a" && token.tv > 0 && token.tc !== undefined && token.tc !== token.id;
}

// Tokens that became output, as text: what is copied and read aloud.
function svKeptText(tokens) {
  return tokens.filter((token) => SV_KEPT.has(token.f)).map((token) => token.x || "").join("");
}

// Largest value of a pleasant scale that is not below `value`.
function svNice(value) {
  if (!(value > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  for (const factor of [1, 1.5, 2, 3, 5, 8, 10]) if (factor * unit >= value) return factor * unit;
  return 10 * unit;
}

// Shares of a whole in full percents that add up to 100: the largest remainders are rounded up.
function svWholes(shares) {
  if (shares.some((share) => share === null || share === undefined)) return shares;
  const parts = shares.map((share) => Math.floor(100 * share + 1e-9));
  const rest = (i) => 100 * shares[i] - parts[i];
  const order = shares.map((_, i) => i).sort((one, two) => rest(two) - rest(one));
  const missing = Math.round(100 * shares.reduce((all, share) => all + share, 0))
    - parts.reduce((all, part) => all + part, 0);
  for (const i of order.slice(0, missing)) parts[i] += 1;
  return parts.map((part) => part / 100);
}

// Why the text ends with this step, as a cut is named; "" where it does not, or was stopped.
function svEnd(lane, step) {
  if (step.cut) return step.cut;
  const reason = lane.finish && lane.finish.reason;
  const last = lane.steps[lane.steps.length - 1] === step;
  return last && ["eos", "stop", "length"].includes(reason) ? reason : "";
}

// Milliseconds of a step.
function svStepTime(step) {
  return step.ms[0] + step.ms[1] + step.ms[2];
}

// Index of the slowest pace at which a run of `ms` still ends within `limit`; paces are
// how many times slower than real time, fastest first.
function svPace(ms, steps, paces, perStep = 130) {
  const wanted = (steps * perStep) / Math.max(ms, 1);
  let best = 0;
  paces.forEach((pace, i) => { if (pace <= wanted * 1.5) best = i; });
  return best;
}

if (typeof module !== "undefined") {
  module.exports = {
    SV_RUN, SV_FATES, svFate, svRule, svNewRun, svApply, svTicks, svCount, svShown, svTickOf,
    svVisible, svFace, svLabel,
    svKeptText, svLossy, svNice, svWholes, svEnd, svStepTime, svPace, svHex, svCut,
  };
}
