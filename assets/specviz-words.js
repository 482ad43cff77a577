// Texts of the page that are neither labels nor drawn by the viewer: headings, hints, reasons.
// The value is a JSON list of [tag, class, key, values, literal text, children].

function svWords() {
  const root = element.querySelector("[data-sv='words']");
  const draw = () => {
    const language = svLanguage(document.documentElement.lang);
    root.textContent = "";
    let items = [];
    try { items = JSON.parse(props.value || "[]"); } catch { items = []; }
    for (const item of items) add(root, item, language);
  };
  const add = (parent, [name, style, key, values, literal, children], language) => {
    const node = document.createElement(name);
    if (style) node.className = style;
    const text = key ? SV_TEXTS[language][key] || SV_TEXTS.en[key] || key : "";
    node.textContent = literal ? svSaid(literal, language) : svFill(text, values, language);
    for (const child of children || []) add(node, child, language);
    parent.appendChild(node);
  };
  new MutationObserver(draw)
    .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
  watch("value", draw);
  draw();
}
svWords();
