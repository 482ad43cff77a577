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

test("places without a value stay as they are", () => {
  assert.equal(words.svFill("{a} of {b}", { a: 0 }), "0 of {b}");
  assert.equal(words.svValues("{a} of {b}", "nothing"), null);
});
