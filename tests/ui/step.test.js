// A step as the inspector shows it, without a browser: node --test tests/ui/step.test.js

const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");

const source = ["model", "step"].map((name) =>
  fs.readFileSync(path.join(__dirname, `../../assets/specviz-${name}.js`), "utf8")).join("\n");
const names = "{ svStepLine, svRows, svWhy, svCaption, svRule, svFate, svBytes, svAlign }";
const { svStepLine, svRows, svWhy, svCaption, svRule, svFate, svBytes, svAlign } = new Function(
  `const module = undefined;\n${source}\nreturn ${names};`)();

const NAMES = ["kept", "accepted", "rejected", "next"];
const refused = {
  tok: [
    { x: " a", f: "a", id: 1, p: 0.9, q: 0.8 },
    { x: " b", f: "r", id: 2, p: 0.1, q: 0.7, tt: [[3, " c", 0.6], [2, " b", 0.1]], dt: [[2, " b", 0.7]] },
    { x: " d", f: "d", id: 4, q: 0.5 },
    { x: " c", f: "s", id: 3, p: 0.6, tt: [[3, " c", 0.6]], rt: [[3, " c", 0.95]] },
  ],
};

test("a step is one line of four parts", () => {
  const steps = [{ tok: [{ x: "Once\n", f: "b" }] }, refused];
  assert.equal(svStepLine(steps, 1, NAMES), "kept: Once\u21b5 | accepted:  a | rejected:  b | next:  c");
  assert.equal(svStepLine(steps, 0, NAMES), "kept: \u2013 | accepted: \u2013 | rejected: \u2013 | next: Once\u21b5");
});

test("a long text before the step is cut, hidden characters become signs", () => {
  const steps = Array.from({ length: 40 }, () => ({ tok: [{ x: " word", f: "b" }] }));
  const line = svStepLine([...steps, { tok: [{ x: "\u202e", f: "b" }] }], 40, NAMES);
  assert.ok(line.startsWith("kept: \u2026"));
  assert.ok(line.length < 140);
  assert.ok(line.endsWith("next: \u27e8U+202E\u27e9"));
  assert.ok(svStepLine([{ tok: [{ x: "", h: "f09f", f: "b" }] }], 0, NAMES).endsWith("\u27e8F0 9F\u27e9"));
});

test("a refused token and the one in its stead show the same place", () => {
  for (const picked of [1, 3]) {
    const rows = svRows(refused, picked);
    assert.deepEqual(rows.map((row) => [row.id, row.p, row.q, row.r]),
      [[3, 0.6, undefined, 0.95], [2, 0.1, 0.7, undefined]]);
    assert.ok(rows[1].drafted);
    assert.ok(rows[0].next);
  }
  assert.deepEqual(svRows(refused, 2), []);
});

const lane = (rule, temperature) => ({ start: { method: { rule }, request: { temperature } } });

test("the rule in force is the trace's; an ensemble may be greedy", () => {
  assert.equal(svRule(lane("greedy_match", 0)), "greedy_match");
  assert.equal(svRule(lane("ensemble", 0.8)), "ensemble");
  assert.equal(svRule(lane("ensemble", 0)), "ensemble_greedy");
  assert.equal(svRule(lane("<script>", 0)), "");
  assert.equal(svRule({ start: null }), "");
  assert.equal(svRule({ start: { method: null, request: null } }), "");
});

test("a sentence says what the rule did: nothing is drawn under greedy decoding", () => {
  const [a, r, d, s] = refused.tok;
  const why = (token, rule) => svWhy(token, refused, rule);
  assert.deepEqual([a, r, s].map((token) => why(token, "greedy_match")),
    ["sv_why_accepted_greedy_match", "sv_why_rejected_greedy_match", "sv_why_residual_greedy_match"]);
  assert.equal(why(r, "sample_match"), "sv_why_rejected_sample_match");
  assert.equal(why({ ...r, u: 0.4 }, "speculative_sampling"), "sv_why_rejected_drawn");
  assert.equal(why(s, "speculative_sampling"), "sv_why_residual_speculative_sampling");
  assert.equal(why(s, "ensemble_greedy"), "sv_why_residual_ensemble_greedy");
  assert.equal(why(r, "speculative_sampling"), "sv_why_rejected_other"); // a file without the draw
  assert.equal(why(r, ""), "sv_why_rejected_other");
  assert.equal(why(d, "greedy_match"), "sv_why_discarded");
});

test("the caption names the residual only where one was drawn from", () => {
  const [a, r, d] = refused.tok;
  assert.equal(svCaption(r, ["p", "q"], "greedy_match"), "sv_inspect_table_greedy_match");
  assert.equal(svCaption(a, ["p"], "ensemble_greedy"), "sv_inspect_table_ensemble_greedy");
  assert.equal(svCaption(d, ["q"], "greedy_match"), "sv_inspect_table_other");
  assert.equal(svCaption(r, ["p", "r"], "sample_match"), "sv_inspect_table_residual_sample_match");
  assert.equal(svCaption(r, ["p", "q", "r"], "speculative_sampling"), "sv_inspect_table_residual_speculative_sampling");
});

test("a bonus follows a draft; a token without one is the target's own", () => {
  const own = { x: "a", f: "b" };
  assert.equal(svFate(own, { tok: [own] }), "own");
  assert.equal(svFate(own, { tok: [{ x: "b", f: "a" }, own] }), "bonus");
  assert.equal(svWhy(own, { tok: [own] }, "greedy_match"), "sv_why_alone");
});

test("bytes come from hex, from a label of bytes, or from the text", () => {
  assert.deepEqual(svBytes("", "e282"), ["E2", "82"]);
  assert.deepEqual(svBytes("<0xF0><0x9F>"), ["F0", "9F"]);
  assert.deepEqual(svBytes("\u00e9"), ["C3", "A9"]);
});

test("pieces and tokens lie over the same bytes, a shared piece once", () => {
  const pieces = (ids, texts) => ["pieces", ids, texts];
  const { columns, above, below } = svAlign([
    { x: "ab", src: pieces([1, 2], ["a", "bc"]) }, { x: "cd", src: pieces([2, 3], ["bc", "d"]) },
  ]);
  assert.equal(columns.length, 4);
  assert.deepEqual(above.map(({ token, from, to }) => [token.id, from, to]), [[1, 0, 1], [2, 1, 3], [3, 3, 4]]);
  assert.deepEqual(below.map(({ from, to }) => [from, to]), [[0, 2], [2, 4]]);
});

test("of huge pieces only the first bytes are set beside each other", () => {
  const huge = "x".repeat(100000);
  const ids = Array.from({ length: 5000 }, (_, i) => i);
  const src = ["pieces", ids, ids.map(() => "yz")];
  const { columns, above, below, cut } = svAlign([{ x: huge, src }, { x: "b", src }], 10);
  assert.equal(columns.length, 10);
  assert.equal(above.length, 5);
  assert.deepEqual(below.map(({ from, to }) => [from, to]), [[0, 10]]);
  assert.ok(cut);
  assert.equal(svAlign([{ x: "ab", src: ["pieces", [1], ["ab"]] }], 2).cut, false);
});

test("the line of a step with a huge token is cut", () => {
  const line = svStepLine([{ tok: [{ x: "x".repeat(100000), f: "b" }] }], 0, NAMES);
  assert.ok(line.length < 500 && line.endsWith("x\u2026"));
});
