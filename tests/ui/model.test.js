// The viewer's data model, without a browser: node --test tests/ui/model.test.js

const test = require("node:test");
const assert = require("node:assert");
const path = require("node:path");
const model = require(path.join(__dirname, "../../assets/specviz-model.js"));

const run = (rate, tau, tokens, elapsed) => [rate, tau, 1, tokens, elapsed, 0, 1, 0, 1, 0, 0, 0];
const step = (i, elapsed) => ({ i, g: 1, ms: [0, 1, 0], tok: [{ x: "a", f: "b" }], run: run(null, 1, i + 1, elapsed) });
const message = (seq, ev, more) => ({ v: 1, run: "r", seq, ev, ...more });
const opening = ["open", { kind: "live", name: "", lanes: [{ key: "x", title: "X" }, { key: "plain", title: "P" }] }];

test("messages are applied in order, once, and gaps are told", () => {
  const made = model.svNewRun("r");
  assert.equal(model.svApply(made, message(0, [opening])), "ok");
  assert.equal(model.svApply(made, message(0, [opening])), "old");
  assert.equal(model.svApply(made, message(2, [["step", 0, step(0, 5)]])), "gap");
  assert.equal(model.svApply(made, { ...message(1, []), run: "other" }), "other");
  assert.equal(model.svApply(made, message(1, [["step", 0, step(0, 5)]])), "ok");
  assert.equal(made.lanes[0].steps.length, 1);
});

test("a draft waits until its step or the end comes", () => {
  const made = model.svNewRun("r");
  model.svApply(made, message(0, [opening, ["draft", 0, { i: 0, x: [["a", null]] }]]));
  assert.ok(made.lanes[0].pending);
  model.svApply(made, message(1, [["step", 0, step(0, 5)]]));
  assert.equal(made.lanes[0].pending, null);
  model.svApply(made, message(2, [["draft", 0, { i: 1, x: [] }]], { end: "cancelled" }));
  assert.equal(made.lanes[0].pending, null);
  assert.equal(made.end, "cancelled");
});

test("records of lanes that do not exist are passed over", () => {
  const made = model.svNewRun("r");
  assert.equal(model.svApply(made, message(0, [opening, ["step", 7, step(0, 1)], ["odd", 0, 1]])), "ok");
});

test("lanes share one clock", () => {
  const made = model.svNewRun("r");
  model.svApply(made, message(0, [opening,
    ["step", 0, step(0, 10)], ["step", 0, step(1, 20)],
    ["step", 1, step(0, 4)], ["step", 1, step(1, 15)], ["step", 1, step(2, 40)]]));
  assert.deepEqual(model.svTicks(made).map((tick) => tick.slice(1)),
    [[1, 0], [0, 0], [1, 1], [0, 1], [1, 2]]);
  assert.deepEqual(model.svShown(made, 3), [1, 2]);
  assert.deepEqual(model.svShown(made, 99), [2, 3]);
  assert.equal(model.svTickOf(made, 0, 1), 4);
});

test("every token has a face, blanks and hidden characters have signs", () => {
  const face = (x, h) => model.svFace({ x, h });
  assert.equal(face(" ").text, "\u2423");
  assert.deepEqual([face("\n").text, face("\n").after], ["\u21b5", "\n"]);
  assert.deepEqual([face(".\n\n").text, face(".\n\n").after], [".\u21b5\u21b5", "\n\n"]);
  assert.deepEqual([face("\n  ").text, face("\n  ").after], ["\u21b5\u2423\u2423", "\n  "]);
  assert.equal(face("\t").text, "\u21e5\t");
  assert.equal(face("").text, "\u2205");
  assert.deepEqual([face(" fox").before, face(" fox").text], [" ", "fox"]);
  assert.equal(face("  fox").text, "  fox");
  assert.equal(face("", "e282").text, "\u27e8E2 82\u27e9");
  assert.equal(face("\u0000").text, "\u2400");
  assert.equal(face("\u202eabc").text, "\u27e8U+202E\u27e9abc");
  assert.equal(face("\ud83d").text, "\u27e8U+D83D\u27e9");
  assert.equal(face("\u0301").text, "\u25cc\u0301");
  assert.equal(face("<b>").text, "<b>");
  assert.equal(face("\ud83d\ude00").text, "\ud83d\ude00");
});

test("a box with what stands around it shows the whole token", () => {
  for (const x of ["a", " a", " a\n", "\n", "a\nb", "\n\n", " \n", "\n   ", ",\n  "]) {
    const face = model.svFace({ x });
    const text = face.text.replace(/\u21b5/g, "").replace(/\u2423/g, face.after ? "" : " ");
    const back = face.before + text + face.after;
    assert.equal(back, x, JSON.stringify(x));
  }
});

test("labels stand on one line", () => {
  assert.equal(model.svLabel({ x: "\u{1f98a}".repeat(90) }), "\u{1f98a}".repeat(60) + "\u2026");
  assert.ok(model.svLabel({ x: "", h: "f0".repeat(90000) }).length < 70);
  assert.equal(model.svLabel({ x: " a\n\tb" }), "\u2423a\u21b5\u21e5b");
});

test("kept text leaves out what was refused or never judged", () => {
  const tokens = [["a", "a"], ["b", "r"], ["c", "d"], ["d", "s"]].map(([x, f]) => ({ x, f }));
  assert.equal(model.svKeptText(tokens), "ad");
});

test("only tokens that the target would not have put count as lossy", () => {
  assert.equal(model.svLossy({ f: "a", tv: 0.1, tc: 3, id: 4 }), true);
  assert.equal(model.svLossy({ f: "a", tv: 0, tc: 3, id: 4 }), false);
  assert.equal(model.svLossy({ f: "a", tv: 0.1, tc: 4, id: 4 }), false);
  assert.equal(model.svLossy({ f: "r", tv: 0.1, tc: 3, id: 4 }), false);
});

test("scales are pleasant and never too small", () => {
  for (const value of [0.003, 0.9, 1, 1.2, 7, 14, 99, 101]) assert.ok(model.svNice(value) >= value);
  assert.equal(model.svNice(14), 15);
  assert.equal(model.svNice(0), 1);
});

test("a short run is played slowly, a long one in real time", () => {
  const paces = [1, 2, 4, 8, 16, 32];
  assert.ok(paces[model.svPace(200, 30, paces)] >= 16);
  assert.equal(paces[model.svPace(60000, 30, paces)], 1);
});

test("shares in full percents add up to 100, the largest remainders rounded up", () => {
  const shown = (shares) => model.svWholes(shares).map((share) => Math.round(100 * share));
  assert.deepEqual(shown([0.314, 0.553, 0.133]), [32, 55, 13]);
  assert.deepEqual(shown([1 / 3, 1 / 3, 1 / 3]), [34, 33, 33]);
  assert.deepEqual(shown([0, 0.995, 0.005]), [0, 100, 0]);
  assert.deepEqual(shown([0.29, 0.57, 0.14]), [29, 57, 14]);
  assert.deepEqual(model.svWholes([null, undefined, 0.5]), [null, undefined, 0.5]);
});

test("a step takes the time of its three parts", () => {
  assert.equal(model.svStepTime({ ms: [1, 2.5, 0.5] }), 4);
});

test("the last step says why the text ends, whether it was cut or not", () => {
  const [first, last] = [{ tok: [] }, { tok: [] }];
  const lane = (reason) => ({ steps: [first, last], finish: reason ? { reason } : null });
  assert.equal(model.svEnd(lane("eos"), last), "eos");
  assert.equal(model.svEnd(lane("length"), last), "length");
  assert.equal(model.svEnd(lane("length"), first), "");
  assert.equal(model.svEnd(lane("cancelled"), last), "");
  assert.equal(model.svEnd(lane(null), last), "");
  assert.equal(model.svEnd(lane("eos"), { tok: [], cut: "stop" }), "stop");
});
