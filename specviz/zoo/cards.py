"""Model cards of the zoo: what each model is, what it was trained on, what it cannot do."""

from collections.abc import Mapping
from typing import Any

HEADER = """---
language: en
license: apache-2.0
library_name: transformers
pipeline_tag: text-generation
tags:
- specviz
- speculative-decoding
---
"""

DATA = """## Data

A seeded grammar written for this project (stories, summaries, rewrites, lists of names, reading
questions, JSON and CSV records, recipes, sums, sorting, counting, dates, short Python functions,
chat, a few hundred facts, some Spanish) and, for one document in seventeen, the six novels of Jane
Austen (public domain). No other text, no output of another model. `specviz/zoo/corpus` writes all
of it anew.
"""

LIMITS = """## Limits

A teaching model of a few megabytes. It writes the genres above and nothing else well; it knows only
the facts it was shown, its sums are right only when written out, and text outside of its genres
turns into grammar-like or Austen-like sentences. In a rewrite, too, a sentence that the grammar
would not write comes out as one that it would. The context is 256 tokens in training.
Not for any use beyond showing how decoding methods work.
"""

ABOUT = {
    "target-glm": (
        "specviz target-glm",
        "A dense GLM-4 MoE class model of 20 layers with QK-norm and three MTP layers in a second "
        "file, trained with a loss at early exits. It serves plain, speculative, prompt-lookup, "
        "early-exit, MTP-layer, universal and ensemble decoding. `Glm4MoeForCausalLM` needs "
        "`_keys_to_ignore_on_load_unexpected` set to the numbers of the MTP layers (see "
        "`specviz/catalog/load.py`) before `generate(use_mtp=True)` finds them.",
    ),
    "target-gemma": (
        "specviz target-gemma",
        "A Gemma 4 text class model, grown from a shallow one and trained with a loss at early "
        "exits. It is the target of `drafter-gemma` and shares its tokenizer with `target-glm`.",
    ),
    "drafter-gemma": (
        "specviz drafter-gemma",
        "A Gemma 4 assistant of two layers that reads the keys, values and hidden states of "
        "`target-gemma`. It does not work without that target.",
    ),
    "assistant": (
        "specviz assistant",
        "A Llama of two layers, distilled from both targets; it has their tokenizer and drafts "
        "for either of them.",
    ),
    "assistant-tiny": (
        "specviz assistant-tiny",
        "A Llama of one layer. One layer cannot copy from the prompt, so its drafts fail on names "
        "and numbers: a picture of a worse draft model, which pays less although it costs less.",
    ),
    "assistant-other-tokenizer": (
        "specviz assistant-other-tokenizer",
        "A Llama of two layers with another tokenizer of 640 syllable-like tokens, for universal "
        "assisted decoding.",
    ),
}

DRAFTS_FOR = {
    "drafter-gemma": "MTP drafter",
    "assistant": "speculative",
    "assistant-tiny": "speculative, assistant-tiny",
    "assistant-other-tokenizer": "universal",
}
"""The measured method that a model drafts for."""

NOT_MEASURED = "Acceptance rates and tokens per pass were not measured on these weights.\n"


def model_card(folder: str, report: Mapping[str, Any], training: str) -> str:
    """The README of one folder.

    Args:
        folder: name of the folder.
        report: what the evaluation found; may be empty.
        training: how long the model was trained, in words.
    """
    title, about = ABOUT[folder]
    parts = [HEADER, f"# {title}\n\n{about}\n", DATA, training_section(training)]
    parts += [figures_section(figures_of(folder, report)), LIMITS]
    return "\n".join(part for part in parts if part)


def training_section(training: str) -> str:
    """How the model was trained."""
    return (
        "## Training\n\nMade by `python -m specviz.zoo.recipe`; every run, failures included, is "
        f"in `specviz/zoo/LOG.md`. This one: {training}.\n"
    )


def figures_of(folder: str, report: Mapping[str, Any]) -> dict[str, float]:
    """What the report says of one model, by name."""
    found: dict[str, float] = {}
    losses = report.get("loss", {}).get(folder, {})
    found |= {f"held-out loss, {g}, nats/token": value for g, value in losses.items()}
    for part, words in (("exact", "right answers"), ("fields", "right parts of answers")):
        shares = report.get(part, {}).get(folder, {})
        found |= {f"{words}, {genre}": value for genre, value in shares.items()}
    for target, rows in report.get("speed", {}).items():
        names = rows if target == folder else {DRAFTS_FOR.get(folder)} & set(rows)
        for name in names:
            words = name if target == folder else f"{name} on {target}"
            found[f"acceptance rate, {words}"] = rows[name]["rate"]
            found[f"tokens per pass, {words}"] = rows[name]["tau"]
    return found


def figures_section(figures: Mapping[str, float]) -> str:
    """A table of the figures of one model; a sentence where its drafts were not measured."""
    parts = ["## Figures\n"]
    if figures:
        rows = "".join(f"| {name} | {value} |\n" for name, value in figures.items())
        parts.append(f"| what | value |\n|---|---|\n{rows}")
    if not any(name.startswith("acceptance rate") for name in figures):
        parts.append(NOT_MEASURED)
    return "\n".join(parts)
