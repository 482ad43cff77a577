// Cards of methods: idea, picture, source, needs, cost, when to use it and when not. The value is
// {"fold": bool, "cards": [{key, title, paper, needs, lossless}]}; texts are written as text only.

class SvCards {
  constructor(root) {
    this.root = root;
    this.open = false;
    new MutationObserver(() => this.draw())
      .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
    watch("value", () => this.draw());
    this.draw();
  }

  language() {
    return svLanguage(document.documentElement.lang);
  }

  say(key) {
    return SV_TEXTS[this.language()][key] || SV_TEXTS.en[key] || "";
  }

  node(tag, style, parent, text = "") {
    const node = document.createElement(tag);
    if (style) node.className = style;
    if (text) node.textContent = text;
    parent.appendChild(node);
    return node;
  }

  draw() {
    let value;
    try { value = JSON.parse(props.value || "{}"); } catch { value = {}; }
    this.root.textContent = "";
    const cards = value.cards || [];
    if (!cards.length) return;
    if (value.fold) this.folded(cards[0]);
    else {
      this.node("p", "sv-about", this.root, this.say("sv_card_all"));
      const grid = this.node("div", "sv-methods", this.root);
      for (const card of cards) this.card(grid, card, false);
    }
  }

  // The card of the chosen method, under its menu: closed until it is asked for.
  folded(card) {
    const box = this.node("details", "sv-method-fold", this.root);
    box.open = this.open;
    box.addEventListener("toggle", () => { this.open = box.open; });
    this.node("summary", "", box, this.say("sv_card_more"));
    this.card(box, card, true);
  }

  card(parent, { key, title, paper, needs, lossless }, brief) {
    const box = this.node("article", "sv-method-card", parent);
    box.dataset.method = key;
    if (!brief) {
      const head = this.node("header", "sv-method-head", box);
      this.node("h3", "", head, svSaid(title, this.language()));
      const exact = lossless ? "sv_lossless" : "sv_lossy";
      this.node("span", "sv-badge" + (lossless ? "" : " sv-warn"), head, this.say(exact));
    }
    const picture = svPicture(key, (word) => this.say(word));
    if (picture) box.appendChild(picture);
    const idea = ["_1", "_2"].slice(brief ? 1 : 0).map((part) => this.say("sv_card_" + key + part));
    this.node("p", "sv-method-idea", box, idea.join(" "));
    const list = this.node("dl", "", box);
    const needed = needs.map((need) => this.say("sv_card_need_" + need)).join("; ");
    this.row(list, "needs", needed);
    for (const part of ["cost", "when", "not"]) this.row(list, part, this.say(`sv_card_${key}_${part}`));
    if (!brief && /\d{4}/.test(paper)) this.source(this.row(list, "paper", ""), paper);
  }

  row(list, name, text) {
    const row = this.node("div", "", list);
    this.node("dt", "", row, this.say("sv_card_" + name));
    return this.node("dd", "", row, text);
  }

  // "Yang et al. 2023, arXiv 2304.04487": the number becomes a link, which opens only when pressed.
  source(parent, paper) {
    const [before, number, after] = paper.split(/(arXiv \d{4}\.\d{4,5})/);
    parent.append(before);
    if (!number) return;
    const link = this.node("a", "", parent, number);
    link.href = "https://arxiv.org/abs/" + number.slice("arXiv ".length);
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    parent.append(after);
  }
}

new SvCards(element.querySelector("[data-sv='cards']"));
