// A step as data for the inspector. Pure functions, no DOM; tested with `node --test`.

const SV_LINE_TAIL = 60; // characters of the text before a step that its line shows
const SV_LINE_PART = 400; // characters of each other part of the line
const SV_ALIGN = 96; // bytes that are set beside each other

// "kept: … | accepted: … | rejected: … | next: …" on one line.
function svStepLine(steps, index, names) {
  let before = "";
  let i = index - 1;
  for (; i >= 0 && before.length < SV_LINE_TAIL; i--) before = svKeptText(steps[i].tok) + before;
  const all = Array.from(before);
  const cut = all.length > SV_LINE_TAIL || i >= 0;
  const kept = (cut ? "\u2026" : "") + all.slice(-SV_LINE_TAIL).join("");
  const { tok } = steps[index];
  const text = (fates) => tok.filter((token) => fates.includes(token.f)).map(svRaw).join("");
  const parts = [kept, text("a"), text("r"), text("sb")];
  const shown = parts.map((part) => svOneLine(svCut(part, SV_LINE_PART)) || "\u2013");
  return names.map((name, at) => name + ": " + shown[at]).join(" | ");
}

// The text of a token as it is, or its bytes where it has none.
function svRaw(token) {
  return token.x || (token.h ? "\u27e8" + svHex(token.h) + "\u27e9" : "");
}

// Text on one line: breaks and hidden characters as signs, blanks as they are.
function svOneLine(text) {
  return svVisible(text).replace(/\r\n|\n|\r/g, "\u21b5").replace(/\t/g, "\u21e5");
}

// Tokens likely at a place of a step, with p, q and the residual r where they are known. A refused
// token and the target's token in its stead share their place.
function svRows(step, picked) {
  const token = step.tok[picked];
  const next = step.tok[step.tok.length - 1];
  const refused = step.tok.find((other) => other.f === "r");
  const same = token.f === "s" ? refused : token.f === "r" ? next : null;
  const draft = token.f === "s" ? refused || {} : token;
  const own = token.f === "r" && next.f === "s" ? next : token;
  const rows = new Map();
  const put = (list, name) => {
    for (const [id, x, prob] of list || []) {
      if (!rows.has(id)) rows.set(id, { id, x });
      rows.get(id)[name] = prob === null ? undefined : prob;
    }
  };
  put(token.tt || (same && same.tt), "p");
  put(draft.dt, "q");
  put(own.rt, "r");
  if (!rows.size) return [];
  const drafted = token.f === "s" ? refused : token.f === "b" ? null : token;
  for (const known of [drafted, own.f === "s" || own.f === "b" ? own : null]) {
    if (!known || known.id === undefined) continue;
    if (!rows.has(known.id)) rows.set(known.id, { id: known.id, x: known.x, h: known.h });
    const row = rows.get(known.id);
    if (known.p !== undefined && known.p !== null) row.p = known.p;
    if (known === drafted && known.q !== undefined && known.q !== null) row.q = known.q;
    row[known === drafted ? "drafted" : "next"] = true;
  }
  const most = (row) => Math.max(row.p || 0, row.q || 0, row.r || 0);
  return [...rows.values()].sort((one, two) => most(two) - most(one)).slice(0, 8);
}

// Whether a rule draws nothing: it compares the draft with the likeliest token.
function svGreedy(rule) {
  return rule === "greedy_match" || rule === "ensemble_greedy";
}

// The key of the sentence that says what happened to a token, and why.
function svWhy(token, step, rule) {
  if (svLossy(token)) return "sv_why_lossy";
  if (token.f === "d") return step.cut ? "sv_why_cut" : "sv_why_discarded";
  if (token.f === "b") return step.tok.length > 1 ? "sv_why_bonus" : "sv_why_alone";
  const told = { a: "sv_why_accepted_", r: "sv_why_rejected_", s: "sv_why_residual_" }[token.f];
  if (token.f !== "s" && token.u !== undefined && !svGreedy(rule)) return told + "drawn";
  const drawn = token.f !== "s" && (rule === "speculative_sampling" || rule === "ensemble");
  return told + (rule && !drawn ? rule : "other");
}

// The key of the caption over the likeliest tokens at a place.
function svCaption(token, columns, rule) {
  if (columns.includes("r")) {
    const own = rule === "sample_match" || rule === "ensemble";
    return "sv_inspect_table_residual_" + (own ? rule : "speculative_sampling");
  }
  return "sv_inspect_table_" + (svGreedy(rule) && "ars".includes(token.f) ? rule : "other");
}

// The bytes of a token in hex, one per item.
function svBytes(x, h) {
  if (h) return h.toUpperCase().match(/../g) || [];
  const escaped = /^(?:<0x[0-9A-F]{2}>)+$/.test(x || "");
  if (escaped) return x.match(/[0-9A-F]{2}(?=>)/g);
  return Array.from(new TextEncoder().encode(x || ""), (byte) =>
    byte.toString(16).toUpperCase().padStart(2, "0"));
}

// Two rows of tokens over the same bytes: `above` the draft model's pieces, `below` the target's
// tokens, each with the bytes [from, to) that it covers. A piece that two tokens share stands once.
// Only the first `limit` bytes are looked at; `cut` says whether there are more.
function svAlign(tokens, limit = SV_ALIGN) {
  const columns = [];
  let cut = false;
  const bytes = (x, h, room) => {
    const all = svBytes((x || "").slice(0, limit * 6 + 6), (h || "").slice(0, limit * 2 + 2));
    cut = cut || all.length > room;
    return all.slice(0, room);
  };
  const below = [];
  for (const token of tokens) {
    const from = columns.length;
    columns.push(...bytes(token.x, token.h, limit - from));
    if (columns.length > from || from < limit) below.push({ token, from, to: columns.length });
  }
  const above = [];
  let end = 0;
  for (const { token, from } of below) {
    const [, ids, texts] = token.src;
    let i = 0;
    for (; i < ids.length && end < limit; i++) {
      const last = above[above.length - 1];
      if (i === 0 && last && last.token.id === ids[i] && end > from) continue;
      const size = Math.min(bytes(texts[i], "", limit - end).length || 1, limit - end);
      above.push({ token: { id: ids[i], x: texts[i] }, from: end, to: end + size });
      end += size;
    }
    cut = cut || i < ids.length;
  }
  while (columns.length < end) columns.push("");
  return { columns, above, below, cut };
}

if (typeof module !== "undefined") {
  module.exports = { svStepLine, svRows, svWhy, svCaption, svBytes, svAlign };
}
