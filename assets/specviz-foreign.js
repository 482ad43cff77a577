// Gradio and plotly name some of their controls in English only, in attributes. They are told in the
// page's language; the English is kept, so that another language can be chosen.

const SVF_NAMES = ["aria-label", "title", "data-title"];

class SvForeign {
  constructor(root) {
    this.root = root;
    this.kept = new WeakMap(); // node -> attribute -> [English, what stands there]
    const options = { childList: true, subtree: true, attributes: true, attributeFilter: SVF_NAMES };
    new MutationObserver((records) => this.changed(records)).observe(root, options);
    new MutationObserver(() => this.all(root))
      .observe(document.documentElement, { attributes: true, attributeFilter: ["lang"] });
    this.all(root);
  }

  changed(records) {
    for (const { type, target, addedNodes } of records) {
      if (target.closest(".sv")) continue; // the viewer speaks for itself
      if (type === "attributes") this.node(target);
      for (const node of addedNodes) if (node.nodeType === Node.ELEMENT_NODE) this.all(node);
    }
  }

  all(root) {
    this.node(root);
    for (const node of root.querySelectorAll("[aria-label], [title], [data-title]")) this.node(node);
  }

  node(node) {
    const language = svLanguage(document.documentElement.lang);
    for (const name of SVF_NAMES) {
      const now = node.getAttribute(name);
      if (!now) continue;
      const kept = (this.kept.get(node) || {})[name];
      const english = kept && kept[1] === now ? kept[0] : now;
      const told = language === "en" ? english : svSaid(english, language);
      if (told !== english) this.kept.set(node, { ...this.kept.get(node), [name]: [english, told] });
      if (told !== now) node.setAttribute(name, told);
    }
  }
}

new SvForeign(document.body);
