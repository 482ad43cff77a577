"""One model as the engine sees it: "score these ids after that prefix".

``LanguageModel`` hides whether a forward pass is the direct one (``engine.direct``) or the
module's own; it knows nothing of tokenizers, prompts or methods.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from specviz.engine.cache import DirectCache, KVCache, ModuleCache
from specviz.engine.direct import DirectDecoder
from specviz.engine.direct_weights import why_unsupported
from specviz.errors import MethodError

PREFILL_CHUNK = 512  # bounds the attention mask of a long prompt to 512 rows
_AGREEMENT = {torch.float64: 1e-4, torch.float32: 1e-3}  # half precision: 5 % of the spread


@dataclass(frozen=True, slots=True)
class Want:
    """What a drafter needs from the target's forward pass beside the logits.

    Attributes:
        hidden: the hidden states after the final norm.
        taps: the outputs of these layers, ascending (1 = first layer's output; the last layer's
            comes after the final norm, as Transformers has it).
        shared_kv: keys and values of the last full and the last sliding layer (Gemma 4).
    """

    hidden: bool = False
    taps: tuple[int, ...] = ()
    shared_kv: bool = False


@dataclass(frozen=True, slots=True)
class Outputs:
    """Result of a forward pass over n ids.

    Attributes:
        logits: (k, V) of the last k positions, in the model's dtype.
        hidden: (n, d) after the final norm, or None.
        taps: one (n, d) per wanted layer.
        shared_kv: layer kind -> (keys, values), each (1, kv heads, tokens, head size).
    """

    logits: Tensor
    hidden: Tensor | None = None
    taps: tuple[Tensor, ...] = ()
    shared_kv: dict[str, tuple[Tensor, Tensor]] | None = None


def agreement(dtype: torch.dtype) -> float:
    """By how much a direct pass may differ from the module's, in units of the spread."""
    return _AGREEMENT.get(dtype, 5e-2)


class LanguageModel:
    """A causal Transformers model, ready to decode; nothing in it changes by a run."""

    def __init__(
        self, model: PreTrainedModel, end_ids: tuple[int, ...] = (), *, direct: bool | None = None
    ) -> None:
        """Wrap a loaded model.

        Args:
            model: in evaluation mode, on its device.
            end_ids: ids that end a text.
            direct: use ``engine.direct`` (True), the module's ``forward`` (False), or the direct
                pass where it is supported and agrees with the module (None).
        """
        config = model.config.get_text_config(decoder=True)
        self.module = model
        self.end_ids = tuple(end_ids)
        self.device = model.get_input_embeddings().weight.device
        self.dtype = model.get_input_embeddings().weight.dtype
        self.vocab_size = int(config.vocab_size)
        self.num_layers = int(config.num_hidden_layers)
        self.max_positions = int(getattr(config, "max_position_embeddings", 0) or 0)
        self.num_threads: int | None = None
        self.path_note = ""
        self.decoder = self._choose(direct)

    def new_cache(self, capacity: int = 64) -> KVCache:
        """An empty cache, with room for ``capacity`` tokens to begin with."""
        if self.decoder is not None:
            return self.decoder.new_cache(capacity)
        return ModuleCache(self.module)

    def forward(
        self, ids: Sequence[int], cache: KVCache, *, keep: int = 1, want: Want | None = None
    ) -> Outputs:
        """One forward pass over ``ids``, which follow what the cache holds.

        Args:
            ids: n ≥ 1 token ids.
            cache: made by ``new_cache``; afterwards n tokens longer.
            keep: how many of the last positions get logits.
            want: what else to return.
        """
        want = want or Want()
        if self.decoder is not None:
            assert isinstance(cache, DirectCache)
            return self._forward_direct(self.decoder, ids, cache, keep, want)
        assert isinstance(cache, ModuleCache)
        return self._forward_module(ids, cache, keep, want)

    def prefill(self, ids: Sequence[int], cache: KVCache, want: Want | None = None) -> Outputs:
        """Process a prompt in chunks; hidden states and taps cover all of it."""
        parts = [
            self.forward(ids[at : at + PREFILL_CHUNK], cache, keep=1, want=want)
            for at in range(0, len(ids), PREFILL_CHUNK)
        ]
        last = parts[-1]
        cache.crop(len(ids))
        if last.hidden is not None and len(parts) > 1:
            last = replace(
                last, hidden=torch.cat([part.hidden for part in parts if part.hidden is not None])
            )
        if last.taps and len(parts) > 1:
            columns = zip(*(part.taps for part in parts), strict=True)
            last = replace(last, taps=tuple(torch.cat(column) for column in columns))
        return last

    def why_not_croppable(self) -> str | None:
        """The reason why its cache cannot be rolled back, None where it can."""
        if self.decoder is not None:
            return None
        layers = ModuleCache(self.module).inner.layers
        stateful = getattr(self.module, "_is_stateful", False)
        if stateful or not all(getattr(layer, "is_croppable", False) for layer in layers):
            kind = self.module.config.model_type
            return f"the cache of {kind!r} models (linear attention or state) cannot be rolled back"
        return None

    def first_layers(self, count: int) -> LanguageModel:
        """A model of the first ``count`` layers that shares all weights with this one.

        Only the shells of the module are copied; parameters and config are the same objects and
        stay as they are. The cache of the shell has layers that are never used.
        """
        shell = copy.copy(self.module)
        shell._modules = dict(self.module._modules)
        name = next(n for n, m in shell._modules.items() if m is self.module.get_decoder())
        body = copy.copy(self.module.get_decoder())
        body._modules = dict(body._modules)
        body._modules["layers"] = nn.ModuleList(list(body.layers)[:count])
        shell._modules[name] = body
        return LanguageModel(shell, self.end_ids, direct=False)

    def _choose(self, direct: bool | None) -> DirectDecoder | None:
        reason = why_unsupported(self.module)
        if direct is False or (direct is None and reason is not None):
            self.path_note = f"module forward: {reason or 'asked for'}"
            return None
        if reason is not None:
            raise MethodError(f"the direct forward pass does not serve this model: {reason}")
        decoder = DirectDecoder(self.module)
        gap = self._disagreement(decoder)
        self.path_note = f"direct forward (differs from the module by {gap:.1e})"
        if direct is None and gap > agreement(self.dtype):
            self.path_note = f"module forward: the direct one differs by {gap:.1e}"
            return None
        return decoder

    @torch.inference_mode()
    def _disagreement(self, decoder: DirectDecoder) -> float:
        """Largest difference of logits between direct and module pass, over their spread."""
        step = max(1, self.vocab_size // 13)
        ids = [(7 + step * i) % self.vocab_size for i in range(12)]
        inputs = torch.tensor([ids], device=self.device)
        expected = self.module(input_ids=inputs, use_cache=False).logits[0].float()
        cache = decoder.new_cache(16)
        rows = [
            self._forward_direct(decoder, part, cache, len(part), Want()).logits.float()
            for part in (ids[:7], ids[7:8], ids[8:])
        ]
        gap = (torch.cat(rows) - expected).abs().max()
        return float(gap / expected.std().clamp_min(1e-6))

    def _forward_direct(
        self,
        decoder: DirectDecoder,
        ids: Sequence[int],
        cache: DirectCache,
        keep: int,
        want: Want,
    ) -> Outputs:
        start = cache.length
        hidden, done, taps = decoder.embed(ids), 0, []
        for layer in (*want.taps, self.num_layers):
            hidden = decoder.run(hidden, done, layer, cache, start)
            done = layer
            taps.append(hidden)
        cache.extend(start + len(ids))
        whole = want.hidden or self.num_layers in want.taps
        normed = decoder.norm(hidden if whole else hidden[-keep:])
        if self.num_layers in want.taps:
            taps[-2] = normed
        shared = self._shared_kv(decoder, cache) if want.shared_kv else None
        logits = decoder.head(normed[-keep:])
        return Outputs(logits, normed if want.hidden else None, tuple(taps[:-1]), shared)

    def _shared_kv(
        self, decoder: DirectDecoder, cache: DirectCache
    ) -> dict[str, tuple[Tensor, Tensor]]:
        """Keys and values of the last layer of each kind, views of the cache."""
        last = {layer.kind: index for index, layer in enumerate(decoder.layers)}
        stop = cache.length
        return {
            kind: (cache.keys[index][None, :, :stop], cache.values[index][None, :, :stop])
            for kind, index in last.items()
        }

    def _forward_module(
        self, ids: Sequence[int], cache: ModuleCache, keep: int, want: Want
    ) -> Outputs:
        extra: dict[str, object] = {}
        if want.hidden or want.taps:
            extra["output_hidden_states"] = True
        if want.shared_kv:
            extra["return_shared_kv_states"] = True
        inputs = torch.tensor([ids], device=self.device)
        found = self.module(
            input_ids=inputs, cache=cache.inner, use_cache=True, logits_to_keep=keep, **extra
        )
        cache.extend(cache.length + len(ids))
        states = found.hidden_states if want.hidden or want.taps else None
        return Outputs(
            logits=found.logits[0, -keep:],
            hidden=states[-1][0] if want.hidden and states is not None else None,
            taps=tuple(states[layer][0] for layer in want.taps) if states is not None else (),
            shared_kv=dict(found.shared_kv_states) if want.shared_kv else None,
        )
