"""Decoding with an MTP drafter: a small model that reads the target's states (Gemma 4).

The drafter was trained for one target and has no keys and values of its own: from a constant
position it reads the target's cache, the embedding of the last token and the hidden state before
it, and feeds its own state back for each further token. So it needs no prompt processing and next
to no memory.

Lossless also under sampling, because each draft is drawn from the q that is reported; Transformers
5.24 drafts the argmax and verifies it as if it had been drawn.

Source: Gemma 4's assistant models in Transformers; the idea is EAGLE's, arXiv 2401.15077.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specviz.config import MethodCard
from specviz.engine.assistant import Assistant, SharedKV, assistant_of
from specviz.engine.context import Context
from specviz.engine.drafters.base import Chain, Draft, Drafter, Parts
from specviz.engine.language_model import LanguageModel, Outputs, Want
from specviz.events import LayerSource

METHOD = MethodCard(
    key="mtp_drafter",
    title="MTP drafter",
    summary="A small drafter made for the target reads its hidden state and its cache.",
    paper="Gemma 4 assistant (Transformers); Li et al. 2024, arXiv 2401.15077",
    provides_probs=True,
    needs=frozenset({"mtp_drafter"}),
    settings=("gamma", "schedule", "confidence"),
    order=50,
)


class MtpDrafter(Drafter):
    """Drafts from the target's state; keeps only views of what the target computed."""

    want = Want(hidden=True, shared_kv=True)

    def __init__(self, assistant: Assistant, target: LanguageModel, window: int) -> None:
        """``window``: sliding window of the drafter, 0 = none."""
        self._assistant = assistant
        self._embed = target.module.get_input_embeddings()
        self._vocab_size, self._device, self._window = target.vocab_size, target.device, window
        self._state: Tensor | None = None  # (1, b), of the token before the last
        self._kv: SharedKV = {}

    def begin(self, context: Context, outputs: Outputs | None) -> None:
        """Take over the state of the prompt."""
        self._state, self._kv = None, {}
        if outputs is not None:
            self._read(outputs, dropped=0)

    def propose(self, context: Context, gamma: int) -> Draft:
        """Draft in a chain, all from the position of the last token of the text."""
        state = self._state
        if state is None:
            return Draft()
        chain = Chain(context, self._vocab_size)
        token, position = context.ids[-1], len(context.ids) - 1
        while len(chain.ids) < gamma and not chain.stopped:
            embedded = self._embed(torch.tensor([token], device=self._device))
            joined = torch.cat([embedded, state], -1)
            logits, state = self._assistant.step(joined, self._kv, position)
            token = chain.add(logits)
        count = len(chain.ids)
        return chain.draft(tuple(LayerSource(depth=i + 1) for i in range(count)), count)

    def commit(self, context: Context, outputs: Outputs, kept: int) -> None:
        """Take over the state of what was kept; keys and values of rejected drafts are cut off."""
        assert outputs.hidden is not None
        dropped = outputs.hidden.shape[0] - kept
        self._read(outputs, dropped)

    def _read(self, outputs: Outputs, dropped: int) -> None:
        """State and entries without those of the last ``dropped`` positions."""
        assert outputs.hidden is not None and outputs.shared_kv is not None
        last = outputs.hidden.shape[0] - dropped
        self._state = outputs.hidden[last - 1 : last]
        self._kv = {
            kind: (self._visible(keys, kind, dropped), self._visible(values, kind, dropped))
            for kind, (keys, values) in outputs.shared_kv.items()
        }

    def _visible(self, entries: Tensor, kind: str, dropped: int) -> Tensor:
        """The valid entries (1, K, T, D) that the drafter may see in a layer of this kind."""
        stop = entries.shape[2] - dropped
        sliding = kind == "sliding_attention" and self._window > 0
        return entries[:, :, max(0, stop - self._window + 1) if sliding else 0 : stop]


def build(parts: Parts) -> Drafter:
    """A drafter that uses ``parts.drafter_model``, a Gemma 4 assistant of the target."""
    assert parts.drafter_model is not None, "mtp_drafter needs the drafter of the target"
    config = parts.drafter_model.config.get_text_config()  # type: ignore[union-attr, operator]
    window = int(getattr(config, "sliding_window", 0) or 0)
    assistant = assistant_of(parts.drafter_model, parts.target.device)
    return MtpDrafter(assistant, parts.target, window)
