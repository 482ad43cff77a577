// Which language is shown, and English words of other parts: node --test tests/ui/language.test.js

const test = require("node:test");
const assert = require("node:assert");
const path = require("node:path");

global.SV_TEXTS = {
  en: {
    sv_say_cat: "a cat", sv_say_got: "{what} is not allowed, got {n}; stop", sv_x: "a dog",
    sv_set_top_k: "Top-k (0 = off)", sv_draft_model: "Draft model",
    sv_say_low: "{setting} is low, got {value}", sv_say_low_hint: "{setting} is low, got {value}; {known}",
    sv_say_hint: "lift it{flag}", sv_say_no: "no: {why}", sv_say_at: "{place}: {known}",
    sv_say_huge: "a huge number",
  },
  "pt-BR": {
    sv_say_cat: "um gato", sv_say_got: "{n}: {what} não pode", sv_x: "um cão",
    sv_set_top_k: "Top-k (0 = desligado)", sv_draft_model: "Modelo de rascunho",
    sv_say_low: "{setting} é baixo: {value}", sv_say_low_hint: "{setting} é baixo: {value}; {known}",
    sv_say_hint: "aumente{flag}", sv_say_no: "não: {why}", sv_say_at: "{place}: {known}",
    sv_say_huge: "um número enorme",
  },
  "zh-CN": {},
  ru: { sv_set_top_k: "Top-k (0 = выкл.)", sv_say_low: "{setting}: мало, {value}" },
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

test("a setting is told by its label, in English too, and an unknown one by its name", () => {
  assert.equal(words.svSaid("top_k is low, got 1", "en"), "\u201cTop-k\u201d is low, got 1");
  assert.equal(words.svSaid("top_k is low, got 1", "ru"), "\u00abTop-k\u00bb: мало, 1");
  assert.equal(words.svSaid("draft is low, got 1", "pt-BR"), "\u201cModelo de rascunho\u201d é baixo: 1");
  assert.equal(words.svSaid("constructor is low, got 1", "en"), "constructor is low, got 1");
});

test("an option of the command line is not shown", () => {
  assert.equal(words.svSaid("lift it (--top-k)", "en"), "lift it");
  assert.equal(words.svSaid("lift it: --target tiny", "pt-BR"), "aumente");
  assert.equal(words.svSaid("lift it (no option)", "pt-BR"), "lift it (no option)");
});

test("texts in texts are told, what was typed is not", () => {
  const said = (text) => words.svSaid(text, "pt-BR");
  assert.equal(said("no: a cat \u00b7 lift it (--x) \u00b7 a mouse"), "não: um gato \u00b7 aumente \u00b7 a mouse");
  assert.equal(said("top_k is low, got a huge number"), "\u201cTop-k\u201d é baixo: um número enorme");
  assert.equal(said("top_k is low, got 'a cat'"), "\u201cTop-k\u201d é baixo: 'a cat'");
  assert.equal(said("top_k is low, got 'x \u00b7 a cat \u00b7 y'"), "\u201cTop-k\u201d é baixo: 'x \u00b7 a cat \u00b7 y'");
  assert.equal(said("a cat is not allowed, got a cat; stop"), "a cat: a cat não pode");
});

test("the text with most words of its own is meant, if all is known that must be", () => {
  assert.equal(words.svFound("top_k is low, got 1; lift it (--top-k)").key, "sv_say_low_hint");
  const odd = words.svFound("top_k is low, got 'a; b'");
  assert.deepEqual(odd, { key: "sv_say_low", values: { setting: "top_k", value: "'a; b'" } });
  assert.equal(words.svFound("step 3: lift it").key, "sv_say_at");
  assert.equal(words.svFound("step 3: wait"), null);
  assert.equal(words.svFound("no: " + "x".repeat(3000)), null);
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
  assert.equal(words.svFound("nothing"), null);
});
