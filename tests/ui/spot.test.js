// Where the lesson's card goes, without a browser: node --test tests/ui/spot.test.js

const test = require("node:test");
const assert = require("node:assert");
const path = require("node:path");
const { svCardPlace, svScrollBy } = require(path.join(__dirname, "../../assets/specviz-spot.js"));

const view = { width: 1000, height: 800 };
const card = { width: 400, height: 250 };
const apart = (lit, at) => at.left >= lit.left + lit.width || at.left + card.width <= lit.left
  || at.top >= lit.top + lit.height || at.top + card.height <= lit.top;
const inside = (at, size) => at.left >= 0 && at.top >= 0 && at.left + card.width <= size.width
  && at.top + card.height <= size.height;

test("the card goes under the lit part where there is room", () => {
  const at = svCardPlace({ left: 300, top: 100, width: 200, height: 80 }, card, view);
  assert.ok(at.top > 180 && at.top < 200);
  assert.equal(at.left, 300);
});

test("else above it, else beside it, and never over it while it fits anywhere", () => {
  for (const lit of [
    { left: 300, top: 600, width: 200, height: 150 },
    { left: 20, top: 20, width: 300, height: 760 },
    { left: 700, top: 20, width: 280, height: 760 },
  ]) {
    const at = svCardPlace(lit, card, view);
    assert.ok(apart(lit, at), JSON.stringify(at));
    assert.ok(inside(at, view), JSON.stringify(at));
  }
});

test("a part that fills the window is covered at the bottom only", () => {
  const at = svCardPlace({ left: 0, top: -50, width: 1000, height: 1000 }, card, view);
  assert.ok(inside(at, view));
  assert.ok(at.top > view.height / 2);
});

test("at the right edge the card stays in the window", () => {
  const at = svCardPlace({ left: 950, top: 10, width: 40, height: 40 }, card, view);
  assert.ok(inside(at, view));
});

test("scrolling brings part and card into the middle, or the part to the top", () => {
  const small = svScrollBy({ top: 2000, height: 100 }, card, view);
  const top = 2000 - small;
  assert.ok(top > 50 && top + 100 + card.height < view.height - 50);
  assert.equal(svScrollBy({ top: 2000, height: 900 }, card, view), 2000 - 12);
});
