// Which dictionary is used, and words that the program wrote in English. Joined before the scripts
// that show texts; SV_TEXTS holds the dictionaries.

const SV_SAID = "sv_say_";
const SV_LONGEST = 1000; // characters of a text that is looked up
const SV_JOINT = " \u00b7 "; // between reasons
const SV_SHAPES = {
  setting: "([a-z_]+)", settings: "([a-z_]+(?:, [a-z_]+)*)",
  flag: "((?::? \\(?--[a-z-]+(?: [^ ()]+)?\\)?)?)",
};
const SV_LABELS = {
  prompt: "sv_prompt", target: "sv_target", method: "sv_method", draft: "sv_draft_model",
  drafter: "sv_drafter", chat: "sv_chat",
};
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
  const found = text && SV_TEXTS[language] && svFound(text);
  if (!found) return text;
  const told = Object.entries(found.values).map(([name, value]) => [name, svTold(name, value, language)]);
  return svFill(SV_TEXTS[language][found.key], Object.fromEntries(told), language);
}

// The key of an English text and the values at its places, null where it is not known. Of several
// that fit, the one with the most words of its own is meant.
function svFound(text) {
  if (!svFound.exact) svLearn();
  const key = svFound.exact.get(text);
  if (key) return { key, values: {} };
  if (text.length > SV_LONGEST) return null;
  for (const pattern of svFound.patterns) {
    const values = svValues(pattern, text);
    if (values && (values.known === undefined || svFound(values.known))) return { key: pattern.key, values };
  }
  return null;
}

// Once, when the first such text is shown.
function svLearn() {
  const known = Object.entries(SV_TEXTS.en).filter(([key]) => key.startsWith(SV_SAID));
  svFound.exact = new Map(known.map(([key, english]) => [english, key]));
  svFound.patterns = known.filter(([, english]) => english.includes("{")).map(svPattern)
    .sort((one, other) => other.size - one.size);
}

function svPattern([key, english]) {
  const parts = english.split(SV_PLACE);
  const [names, own] = [parts.filter((part, at) => at % 2), parts.filter((part, at) => at % 2 === 0)];
  return { key, parts, names, size: own.join("").length, shape: null };
}

// The values at the places of a pattern, null where the text is another one.
function svValues(pattern, text) {
  if (!text.startsWith(pattern.parts[0])) return null;
  if (!pattern.shape) pattern.shape = svShape(pattern.parts);
  const found = pattern.shape.exec(text);
  return found && Object.fromEntries(pattern.names.map((name, at) => [name, found[at + 1] || ""]));
}

function svShape(parts) {
  const source = parts.map((part, at) =>
    (at % 2 ? SV_SHAPES[part] || "(.+?)" : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return new RegExp("^" + source.join("") + "$", "s");
}

// What is shown at a place: a setting by its label, a text of the program told as well, an option of
// the command line not at all. All else, such as names and what a visitor typed, stays as it is.
function svTold(name, value, language) {
  const texts = SV_TEXTS[language];
  if (name === "flag") return "";
  if (name.startsWith("fate")) return texts["sv_" + value] || value;
  if (name.startsWith("setting")) {
    const label = (one) => svQuoted(texts[SV_LABELS[one] || "sv_set_" + one], language) || one;
    return value.split(", ").map(label).join(", ");
  }
  if (name === "why") return value.split(SV_JOINT).map((part) => svSaid(part, language)).join(SV_JOINT);
  return name === "known" || name === "value" ? svSaid(value, language) : value;
}

// A label in quotes, without what it explains: "Exit layer (0 = automatic)" is "Exit layer".
function svQuoted(text, language) {
  const [open, close] = language === "ru" ? "\u00ab\u00bb" : "\u201c\u201d";
  return text && open + text.replace(/\s*[(,\uff08\uff0c].*$/s, "") + close;
}

if (typeof module !== "undefined") {
  module.exports = { svLanguage, svFill, svForm, svSaid, svFound, svValues };
}
