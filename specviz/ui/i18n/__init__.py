"""All visible strings: one JSON file per language feeds both Gradio and the viewer.

Every key starts with ``sv_``, because keys that equal Gradio's own namespaces are not translated.
A further language is one more file in this folder, named like its BCP 47 tag.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import gradio as gr

FALLBACK = "en"
_FOLDER = Path(__file__).parent


@cache
def texts() -> dict[str, dict[str, str]]:
    """Language tag -> key -> text, for all languages in this folder."""
    files = sorted(_FOLDER.glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


@cache
def catalog() -> gr.I18n:
    """The dictionaries as Gradio wants them at launch."""
    return gr.I18n(**texts())


def t(key: str) -> gr.i18n.I18nData:
    """A text that the browser translates into the visitor's language.

    Raises:
        KeyError: the key is missing in the English dictionary.
    """
    if key not in texts()[FALLBACK]:
        raise KeyError(key)
    return catalog()(key)


def subset(*prefixes: str) -> dict[str, dict[str, str]]:
    """The dictionaries, reduced to the keys that start with one of ``prefixes``."""
    return {
        language: {k: v for k, v in table.items() if k.startswith(prefixes)}
        for language, table in texts().items()
    }
