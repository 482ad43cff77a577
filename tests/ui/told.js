// What the page makes of English texts. Reads {SV_TEXTS, texts} as JSON; writes for each text its key
// and values, all keys that fit with their sizes, best first, and what is shown per language.

const path = require("node:path");

const { SV_TEXTS, texts } = JSON.parse(require("node:fs").readFileSync(0, "utf-8"));
global.SV_TEXTS = SV_TEXTS;
const { svFound, svSaid, svValues } = require(path.join(__dirname, "../../assets/specviz-language.js"));

function fits(pattern, text) {
  const values = svValues(pattern, text);
  return values && (values.known === undefined || svFound(values.known));
}

const told = texts.map((text) => {
  const found = svFound(text) || { key: "", values: {} };
  const fitting = svFound.patterns.filter((pattern) => fits(pattern, text));
  const shown = Object.keys(SV_TEXTS).map((tag) => [tag, svSaid(text, tag)]);
  return { ...found, sizes: fitting.map(({ size }) => size), shown: Object.fromEntries(shown) };
});
process.stdout.write(JSON.stringify(told));
