"""Reads every text that a page shows or tells to a screen reader, but for what models wrote."""

from __future__ import annotations

from typing import Any

READ = """() => {
  const model = '.sv-text, .sv-t, .sv-pt, .sv-dist-token, .sv-alt-x, .sv-plain-line, .sv-byte, kbd,'
    + ' textarea, input, script, style, noscript';
  const shown = (node) => node.checkVisibility({ checkOpacity: false, checkVisibilityCSS: true })
    && node.getClientRects().length > 0;
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const parent = node.parentElement;
    const text = node.textContent.trim();
    if (text && !parent.closest(model) && shown(parent)) found.push(text);
  }
  for (const name of ['aria-label', 'title', 'placeholder', 'aria-valuetext', 'alt']) {
    for (const node of document.querySelectorAll('[' + name + ']')) {
      const text = node.getAttribute(name).trim();
      if (text && shown(node)) found.push(text);
    }
  }
  for (const field of document.querySelectorAll('#sv-status textarea, input[role=listbox]')) {
    if (field.value && shown(field)) found.push(field.value);
  }
  return [...new Set(found)];
}"""


def visible_texts(page: Any) -> list[str]:
    """All texts, each once, in the order of the page."""
    return [str(text) for text in page.evaluate(READ)]
