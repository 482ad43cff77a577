// Texts of the page that are neither labels nor drawn by the viewer: headings, hints, reasons.
// The value is a JSON list of [tag, class, key, values, literal text, children].

function svWords() {
  const root = element.querySelector("[data-sv='words']");
  const draw = () => {
    const tag = document.documentElement.lang || "en";
    const texts = SV_TEXTS[tag] || SV_TEXTS[tag.split("-")[0]] || SV_TEXTS.en;
    root.textContent = "";
    let items = [];
    try { items = JSON.parse(props.value || "[]"); } catch { items = []; }
    for (const item of items) add(root, item, texts);
  };
  const add = (parent, [name, style, key, values, literal, children], texts) => {
    const node = document.createElement(name);
    if (style) node.className = style;
    const text = key ? texts[key] || SV_TEXTS.en[key] || key : "";
    node.textContent = literal || text.replace(/\{(\w+)\}/g, (all, at) =>
      (values && values[at] !== undefined ? String(values[at]) : all));
    for (const child of children || []) add(node, child, texts);
    parent.appendChild(node);
  };
  new MutationObserver(draw)
    .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
  watch("value", draw);
  draw();
}
svWords();
