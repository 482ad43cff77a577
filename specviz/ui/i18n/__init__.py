"""All visible strings: one JSON file per language feeds both Gradio and the viewer.

Every key starts with ``sv_``, because keys that equal Gradio's own namespaces are not translated.
A further language is one more file in this folder, named like its BCP 47 tag.

Words that other parts of the program write in English (titles of methods, reasons of the
catalogue, refusals) are recognised by their English text, which is that of a ``sv_say_`` key;
what is not recognised is shown as it is. So nothing but the page knows of languages. Some places of
such texts say what stands in them: ``{setting}`` a name that is shown as its label, ``{settings}``
several, ``{flag}`` an option of the command line that is not shown, ``{fate}`` a fate of a token;
``{why}`` and ``{value}`` may be such a text themselves, ``{known}`` must be one for the text to be
meant. The page reads them in ``assets/specviz-language.js``.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

import gradio as gr

from specviz.export.words import without_refusals

FALLBACK = "en"
SAID = "sv_say_"
COPIES = {"pt": "pt-BR", "zh-TW": "zh-CN"}  # tags that Gradio would answer in English
LENT = {"common.complete": "sv_status_done"}  # Gradio 6.31 says this key and has no text for it
_FOLDER = Path(__file__).parent


@cache
def texts() -> dict[str, dict[str, str]]:
    """Language tag -> key -> text, for all languages in this folder."""
    files = sorted(_FOLDER.glob("*.json"))
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}


@cache
def catalog() -> gr.I18n:
    """The dictionaries as Gradio wants them at launch; refusals are shown by the viewer alone."""
    names = {tag: tag for tag in texts()} | COPIES
    tables = {tag: without_refusals(texts()[name]) for tag, name in names.items()}
    lent = {tag: {k: table[own] for k, own in LENT.items()} for tag, table in tables.items()}
    return gr.I18n(**{tag: table | lent[tag] for tag, table in tables.items()})


def language(tag: object) -> str:
    """The language whose texts fit a tag best: its own, one of its family, else English."""
    wanted = str(tag)
    family = wanted.split("-")[0]
    near = (name for name in texts() if name.split("-")[0] == family)
    return wanted if wanted in texts() else next(near, FALLBACK)


def t(key: str) -> gr.i18n.I18nData:
    """A text that the browser translates into the visitor's language.

    Raises:
        KeyError: the key is missing in the English dictionary.
    """
    if key not in texts()[FALLBACK]:
        raise KeyError(key)
    return catalog()(key)


def said(text: str, *, short: bool = False) -> gr.i18n.I18nData | str:
    """An English text of another part as a text that the browser translates, where it is known.

    Args:
        text: the English text.
        short: also take a text with places, and tell it by its ``_short`` key, because what
            Gradio translates can have no values.
    """
    exact = _keys_said().get(text)
    if exact is not None:
        return t(exact)
    for key in _keys_said().values() if short else ():
        if key.endswith("_short") and _pattern(key.removesuffix("_short")).match(text):
            return t(key)
    return text


def translated(text: str, language: str) -> str:
    """An English text of another part in a language, itself where it is not known."""
    keys = [k for k, english in texts()[FALLBACK].items() if english == text and k[:7] == SAID]
    return texts()[language][keys[0]] if keys else text


@cache
def _keys_said() -> dict[str, str]:
    """English text of another part -> its key; refusals, which the viewer tells, are not here."""
    words = without_refusals(texts()[FALLBACK])
    return {text: key for key, text in words.items() if key.startswith(SAID)}


@cache
def _pattern(key: str) -> re.Pattern[str]:
    parts = re.split(r"\{\w+\}", texts()[FALLBACK][key])
    return re.compile("(.*)".join(map(re.escape, parts)) + r"\Z", re.DOTALL)
