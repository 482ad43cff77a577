// The host of an exported page: stands in for Gradio (`element`, `props`, `watch`, `server`), and
// draws the data sheet under the viewer. The run comes as JSON in the page. Text is only text.

const svxJson = (id) => document.getElementById(id).textContent;
const svxSheet = JSON.parse(svxJson("svx-sheet"));
const svxMessages = JSON.parse(svxJson("svx-run"));
const svxDark = window.matchMedia("(prefers-color-scheme: dark)");

function svxTheme() {
  document.body.classList.toggle("dark", svxDark.matches);
}

// The first of the reader's languages that there is.
function svxLanguage() {
  const wanted = (navigator.languages || [navigator.language || "en"]).map(String);
  for (const tag of wanted) {
    const base = tag.split("-")[0];
    const found = [tag, base].find((name) => SV_TEXTS[name])
      || Object.keys(SV_TEXTS).find((name) => name.split("-")[0] === base);
    if (found) return found;
  }
  return "en";
}

svxTheme();
svxDark.addEventListener("change", svxTheme);
document.documentElement.lang = svxLanguage();

// What Gradio gives to the viewer elsewhere. The trace is in the page, so it can be saved again;
// other questions to a server have no answer here.
const element = document;
const props = { value: JSON.stringify(svxMessages[0]) };
const watch = () => {};
const server = new Proxy({ offers: ["trace"], trace: async () => svxJson("svx-trace") }, {
  get: (known, name) => known[name] || (async () => null),
});

class SvxPage {
  constructor(viewer) {
    this.viewer = viewer;
    this.say = (key, values) => viewer.say(key, values);
    for (const text of svxMessages.slice(1)) viewer.feed.receive(JSON.stringify(text));
    document.title = svxSheet.title + " \u2013 specviz";
    this.place("kind").textContent = this.say("svx_kind");
    this.keys();
    for (const section of svxSheet.sections) this.section(section);
    this.place("foot").textContent = this.say("svx_foot");
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("hashchange", () => this.jump());
    this.jump();
  }

  place(name) {
    return document.querySelector(`[data-svx='${name}']`);
  }

  keys() {
    const place = this.place("keys");
    const parts = { svx_key_step: "\u2190 \u2192", svx_key_play: "Space", svx_key_ends: "Home End" };
    for (const [word, keys] of Object.entries(parts)) {
      for (const key of keys.split(" ")) {
        svNode("kbd", "", place).textContent = key;
        place.append(" ");
      }
      place.append(this.say(word) + "  ");
    }
  }

  // Keys that are pressed while nothing has the focus move through the run.
  key(event) {
    const { viewer } = this;
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== document.body) return;
    const moves = {
      ArrowRight: () => viewer.bar.by(1), ArrowLeft: () => viewer.bar.by(-1),
      Home: () => viewer.bar.to(0), End: () => viewer.bar.to(Infinity),
    };
    if (moves[event.key]) {
      viewer.player.hold(viewer.feed.run, viewer.player.shown(viewer.feed.run));
      moves[event.key]();
      event.preventDefault();
    } else viewer.cursor.key(event);
  }

  // "#step=12" opens the page behind step 12.
  jump() {
    const found = /^#step=(\d{1,9})$/.exec(window.location.hash);
    if (!found) return;
    this.viewer.feed.run.played = true;
    this.viewer.bar.to(Number(found[1]));
  }

  date() {
    const date = new Date(svxSheet.created);
    if (Number.isNaN(date.getTime())) return SV_DASH;
    const options = { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" };
    return new Intl.DateTimeFormat(document.documentElement.lang, options).format(date) + " UTC";
  }

  section({ key, rows, bars, columns }) {
    if (!rows.length && !(bars && bars.length)) return;
    const box = svNode("section", "svx-section", this.place("sheet"));
    svNode("h2", "", box).textContent = this.say(key);
    if (bars) this.bars(box, bars, columns);
    else {
      const list = svNode("dl", "svx-rows", box);
      for (const row of rows) this.row(list, row);
    }
  }

  row(list, [key, value, form, note, values]) {
    const line = svNode("div", "", list);
    const label = svNode("dt", form === "setting" ? "svx-code" : "", line);
    label.textContent = form === "setting" ? values.name : this.say(key);
    const cell = svNode("dd", form === "code" || form === "setting" ? "svx-code" : "", line);
    cell.textContent = this.text(value, form);
    if (!note) return;
    const told = {};
    for (const [name, number] of Object.entries(values)) {
      told[name] = note === "svx_share" ? this.viewer.formats.percent(number) : this.whole(number);
    }
    svNode("dd", "svx-note", line).textContent = this.say(note, told);
  }

  whole(number) {
    return new Intl.NumberFormat(document.documentElement.lang).format(number);
  }

  text(value, form) {
    const show = this.viewer.formats;
    if (form === "percent") return show.percent(value);
    if (form === "number") return show.number(value, 2);
    if (form === "fine") return show.number(value, 3);
    if (form === "times") return show.number(value, 2) + "\u00d7";
    if (form === "whole") return this.whole(value);
    if (form === "seconds") return show.ms(1000 * value);
    if (form === "bytes") return this.bytes(value);
    if (form === "date") return this.date();
    if (form === "key") return this.say(value);
    return svVisible(String(value));
  }

  bytes(value) {
    const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
    const power = Math.min(3, Math.floor(Math.log10(Math.max(1, value)) / 3));
    return new Intl.NumberFormat(document.documentElement.lang, {
      style: "unit", unit: units[power], maximumFractionDigits: power > 1 ? 1 : 0,
    }).format(value / 1000 ** power);
  }

  // A table of bars: [name, share of the full bar, part, whole].
  bars(box, bars, columns) {
    const table = svNode("table", "svx-bars", box);
    const head = svNode("tr", "", svNode("thead", "", table));
    for (const [style, word] of [["", columns], ["svx-wide", ""], ["", columns + "_count"]]) {
      const cell = svNode("th", style, head);
      cell.scope = "col";
      cell.textContent = word ? this.say(word) : "";
    }
    const body = svNode("tbody", "", table);
    for (const [name, share, part, whole] of bars) {
      const line = svNode("tr", "", body);
      const first = svNode("th", "", line);
      first.scope = "row";
      first.textContent = this.whole(name);
      const bar = svNode("span", "svx-bar", svNode("td", "svx-wide", line));
      bar.style.setProperty("--sv-share", String(share));
      const cell = svNode("td", "", line);
      cell.textContent = this.viewer.formats.whole(share) + " ";
      svNode("small", "", cell).textContent = this.say("svx_of", {
        a: this.whole(part), n: this.whole(whole),
      });
    }
  }
}

document.addEventListener("DOMContentLoaded", () => new SvxPage(svViewer));
