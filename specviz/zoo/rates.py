"""Acceptance rates of every method on exported models, from one pass over finished texts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from specviz.zoo.acceptance import (
    DraftCheck,
    Tally,
    from_choices,
    from_depths,
    from_lookup,
    overlap,
    walk,
)
from specviz.zoo.corpus import Document
from specviz.zoo.distill import Scored, drafter_logits, mtp_logits
from specviz.zoo.exported import Exported

GAMMA = 4
NEW_TOKENS = 120
DRAFT_STEPS = 4
EXITS = (1, 2, 4, 6, 8)
LOSSY_WEIGHT = 0.7


@dataclass(frozen=True, slots=True)
class Pass:
    """One target pass over a text: ids, where the prompt ends, and what was computed."""

    ids: list[int]
    first: int
    logits: Tensor
    states: tuple[Tensor, ...]
    keys_values: dict[str, tuple[Tensor, Tensor]]


@torch.no_grad()
def target_pass(target: Any, ids: Tensor, first: int) -> Pass:
    """Score a finished text with all hidden states, and the shared keys of a Gemma 4 target."""
    output = target.model(input_ids=ids, output_hidden_states=True, use_cache=True)
    keys_values: dict[str, tuple[Tensor, Tensor]] = {}
    for index, kind in enumerate(getattr(target.config, "layer_types", None) or ()):
        layer = output.past_key_values.layers[index]
        keys_values[kind] = (layer.keys, layer.values)
    states = (*output.hidden_states[:-1], output.last_hidden_state)
    logits = target.lm_head(output.last_hidden_state)
    return Pass(ids[0].tolist(), first, logits, states, keys_values)


def exit_logits(target: Any, passed: Pass, layer: int) -> Tensor:
    """Logits of the first `layer` layers through the final norm and head."""
    return target.lm_head(target.model.norm(passed.states[layer]))


def depth_logits(zoo: Exported, name: str, passed: Pass) -> list[Tensor]:
    """Logits of MTP layers (GLM) or of the drafter (Gemma 4), one tensor per depth."""
    target, ids = zoo.models[name], torch.tensor([passed.ids])
    if name == "target-glm":
        return list(mtp_logits(target, zoo.mtp.layers, ids, passed.states[-1]))
    scored = Scored(passed.logits, passed.states[-1], passed.keys_values)
    return list(drafter_logits(target, zoo.models["drafter-gemma"], ids, scored, DRAFT_STEPS))


def draft_logits(zoo: Exported, name: str, passed: Pass) -> Iterator[tuple[str, Tensor]]:
    """Logits of the drafts that read the plain text: assistants and early exits."""
    target, ids = zoo.models[name], torch.tensor([passed.ids])
    for key in ("assistant", "assistant-tiny"):
        if key in zoo.models:
            yield f"speculative, {key}", zoo.models[key](ids).logits
    for layer in EXITS:
        if layer < target.config.num_hidden_layers:
            yield f"early exit {layer}", exit_logits(target, passed, layer)


def checks(zoo: Exported, name: str, passed: Pass) -> dict[str, DraftCheck]:
    """The draft check of every method that one pass can judge."""
    found: dict[str, DraftCheck] = {"prompt lookup": from_lookup(passed.ids)}
    for method, logits in draft_logits(zoo, name, passed):
        found[method] = from_choices(logits[0].argmax(-1), passed.ids)
        if method == "speculative, assistant":
            # Accepted are drafts that are also the first choice of the mixture.
            mixed = LOSSY_WEIGHT * passed.logits.softmax(-1)
            mixed = mixed + (1 - LOSSY_WEIGHT) * logits.softmax(-1)
            agrees = (mixed.argmax(-1) == logits.argmax(-1))[0].tolist()
            found["ensemble 0.7"] = lambda at, depth, agrees=agrees: agrees[at + depth]
    method = "mtp layers" if name == "target-glm" else "mtp drafter"
    choices = [logits[0].argmax(-1) for logits in depth_logits(zoo, name, passed)]
    found[method] = from_depths(choices, passed.ids, offset=1)
    return found


@torch.no_grad()
def generated(target: Any, tokenizer: Any, document: Document, *, sample: bool) -> Pass:
    """Let the target continue the prompt and score the result."""
    ids = tokenizer(document.prompt, return_tensors="pt").input_ids
    options = (
        {"do_sample": True, "temperature": 1.0, "top_k": 0} if sample else {"do_sample": False}
    )
    text = target.generate(ids, max_new_tokens=NEW_TOKENS, **options)
    return target_pass(target, text, ids.shape[1] - 1)


@torch.no_grad()
def method_rates(zoo: Exported, name: str, docs: list[Document]) -> dict[str, dict[str, float]]:
    """Rates of every method over the documents.

    Returns:
        Method to `greedy` (accepted over tested), `tau` (tokens per target pass at gamma 4) and,
        for drafts that read the plain text, `sampled`: mean overlap of p and q at temperature 1
        on text drawn from the target.
    """
    target = zoo.models[name]
    tallies: dict[str, Tally] = {}
    overlaps: dict[str, list[Tensor]] = {}
    torch.manual_seed(0)
    for document in docs:
        passed = generated(target, zoo.tokenizer, document, sample=False)
        for method, check in checks(zoo, name, passed).items():
            tally = walk(check, first=passed.first, last=len(passed.ids) - 1, gamma=GAMMA)
            tallies[method] = tallies.get(method, Tally()) + tally
        drawn = generated(target, zoo.tokenizer, document, sample=True)
        for method, logits in draft_logits(zoo, name, drawn):
            positions = slice(drawn.first, len(drawn.ids) - 1)
            both = overlap(drawn.logits[0, positions], logits[0, positions])
            overlaps.setdefault(method, []).append(both)
    rates: dict[str, dict[str, float]] = {}
    for method, tally in tallies.items():
        figures = {"greedy": tally.acceptance_rate, "tau": tally.block_efficiency}
        if method in overlaps:
            figures["sampled"] = torch.cat(overlaps[method]).mean().item()
        rates[method] = {key: round(value, 3) for key, value in figures.items()}
    return rates
