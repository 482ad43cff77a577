// Which dictionary is used, and words that the program wrote in English. Joined before the scripts
// that show texts; SV_TEXTS holds the dictionaries.

const SV_SAID = "sv_say_";
const SV_PLACE = /\{(\w+)\}/g;
const SV_FORMS = /\{(\w+)((?:\|[^{}|]*)+)\}/g; // {n|token|tokens}: the word that goes with n

// The language that fits the page's tag best: its own, one of its family, else English.
function svLanguage(tag) {
  const wanted = tag || "en";
  const family = wanted.split("-")[0];
  const names = Object.keys(SV_TEXTS);
  return names.find((name) => name === wanted)
    || names.find((name) => name.split("-")[0] === family) || "en";
}

// Fill the places of a text. Forms follow a whole number: in the order one, few, many, as far as the
// language has them.
function svFill(text, values, language = "en") {
  const known = (name) => values && values[name] !== undefined;
  const worded = text.replace(SV_FORMS, (all, name, forms) =>
    (known(name) ? svForm(forms.slice(1).split("|"), values[name], language) : all));
  return worded.replace(SV_PLACE, (all, name) => (known(name) ? String(values[name]) : all));
}

// The form for a count, given as a number or as text with separators of thousands.
function svForm(forms, value, language) {
  const count = typeof value === "number" ? value : Number(String(value).replace(/\D/g, ""));
  const rules = svForm.rules || (svForm.rules = {});
  if (!rules[language]) rules[language] = new Intl.PluralRules(language);
  const place = ["one", "few", "many"].indexOf(rules[language].select(count));
  return place >= 0 && place < forms.length ? forms[place] : forms[forms.length - 1];
}

// An English text of another part, in this language: found by its English wording, and shown as it
// is where it is not known.
function svSaid(text, language) {
  const own = SV_TEXTS[language];
  if (!own || language === "en" || !text) return text;
  if (!svSaid.known) svSaid.known = Object.entries(SV_TEXTS.en).filter(([key]) => key.startsWith(SV_SAID));
  const exact = svSaid.known.find(([, english]) => english === text);
  if (exact) return own[exact[0]];
  for (const [key, english] of svSaid.known) {
    const values = english.includes("{") && svValues(english, text);
    if (values) return svFill(own[key], values, language);
  }
  return text;
}

// The values at the places of a pattern, null where the text is another one.
function svValues(pattern, text) {
  const names = [];
  const parts = pattern.split(SV_PLACE);
  const source = parts.map((part, at) => {
    if (at % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    names.push(part);
    return "(.*)";
  }).join("");
  const found = new RegExp("^" + source + "$", "s").exec(text);
  return found && Object.fromEntries(names.map((name, at) => [name, found[at + 1]]));
}

if (typeof module !== "undefined") {
  module.exports = { svLanguage, svFill, svForm, svSaid, svValues };
}
