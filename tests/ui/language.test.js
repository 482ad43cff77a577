// Which language is shown, and English words of other parts: node --test tests/ui/language.test.js

const test = require("node:test");
const assert = require("node:assert");
const path = require("node:path");

global.SV_TEXTS = {
  en: { sv_say_cat: "a cat", sv_say_got: "{what} is not allowed, got {n}; stop", sv_x: "a dog" },
  "pt-BR": { sv_say_cat: "um gato", sv_say_got: "{n}: {what} não pode", sv_x: "um cão" },
  "zh-CN": {},
};
const words = require(path.join(__dirname, "../../assets/specviz-language.js"));

test("the language is the page's own, one of its family, or English", () => {
  assert.equal(words.svLanguage("pt-BR"), "pt-BR");
  assert.equal(words.svLanguage("pt-PT"), "pt-BR");
  assert.equal(words.svLanguage("zh"), "zh-CN");
  assert.equal(words.svLanguage("fr"), "en");
  assert.equal(words.svLanguage(""), "en");
});

test("known English is told in the language, all else stays", () => {
  assert.equal(words.svSaid("a cat", "pt-BR"), "um gato");
  assert.equal(words.svSaid("a cat", "en"), "a cat");
  assert.equal(words.svSaid("a dog", "pt-BR"), "a dog"); // no word of another part
  assert.equal(words.svSaid("a cat!", "pt-BR"), "a cat!");
  assert.equal(words.svSaid("", "pt-BR"), "");
});

test("values are carried over, whatever they hold", () => {
  const hostile = "<img onerror=x> {n} $& ${1}\n.*";
  const told = words.svSaid(hostile + " is not allowed, got 7; stop", "pt-BR");
  assert.equal(told, "7: " + hostile + " não pode");
});

test("words behind a count take the form of the language", () => {
  const english = "{n} {n|token|tokens} in {s} {s|step|steps}";
  assert.equal(words.svFill(english, { n: 1, s: 1 }, "en"), "1 token in 1 step");
  assert.equal(words.svFill(english, { n: 0, s: 2 }, "en"), "0 tokens in 2 steps");
  const russian = "{n} {n|шаг|шага|шагов}";
  const told = [1, 2, 5, 11, 21, 24, 112].map((n) => words.svFill(russian, { n }, "ru"));
  assert.deepEqual(told, ["1 шаг", "2 шага", "5 шагов", "11 шагов", "21 шаг", "24 шага", "112 шагов"]);
});

test("a count may be text with separators, and nothing in a value is a form", () => {
  assert.equal(words.svFill("{n} {n|шаг|шага|шагов}", { n: "1\u00a0001" }, "ru"), "1\u00a0001 шаг");
  assert.equal(words.svFill("{x} {n|a|b}", { x: "{n|c|d}", n: 1 }, "en"), "{n|c|d} a");
  assert.equal(words.svFill("{n|a|b}", {}, "en"), "{n|a|b}");
});

test("places without a value stay as they are", () => {
  assert.equal(words.svFill("{a} of {b}", { a: 0 }), "0 of {b}");
  assert.equal(words.svValues("{a} of {b}", "nothing"), null);
});
