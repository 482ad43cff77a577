"""The events of a run: what the engine yields, and the only thing that anybody else reads.

A run yields ``Prefilled``, then for each step ``Drafted`` and ``Verified``, then ``Finished``.
``Verified`` repeats everything of its step, so steps can be read from ``Verified`` alone.
Events are frozen and hold plain values: no tensors, no models, no tokenizer. The engine works on
ids and leaves ``text`` and ``data`` empty; ``specviz.runs`` fills them in. Numbers are finite or
None, never NaN. Times are seconds, sizes are bytes.

Invariants, per step: fates are a prefix of accepted, then at most one rejected, then discarded;
``target_token`` is None exactly where ``cut`` is set; the committed ids (accepted ones, then the
target token) of all steps, joined, are the new ids of the output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Fate(str, Enum):
    """What became of a token; every fate has one mark and one colour in ``render.palette``."""

    ACCEPTED = "accepted"  # drafted, judged and kept
    REJECTED = "rejected"  # drafted, judged and refused: at most one per step
    DISCARDED = "discarded"  # drafted behind a rejection or a cut, so never kept
    RESIDUAL = "residual"  # the target's own token in place of the rejected one
    BONUS = "bonus"  # the target's own token after full acceptance


@dataclass(frozen=True, slots=True)
class TopToken:
    """One of the most likely tokens at a position, with its processed probability."""

    id: int
    prob: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class PromptToken:
    """A token of the prompt; ``data`` are its bytes, which may be part of a character."""

    id: int
    text: str = ""
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class NgramSource:
    """Prompt lookup: the draft was copied from ``start`` on (index into prompt + new tokens)
    because the last ``ngram`` tokens also stand just before ``start``."""

    start: int
    ngram: int


@dataclass(frozen=True, slots=True)
class LayerSource:
    """Multi-token prediction: which MTP layer (1, 2, …) or drafter step proposed the token;
    early exit: the number of layers run."""

    depth: int


@dataclass(frozen=True, slots=True)
class PiecesSource:
    """Universal assisted decoding: the draft model's own tokens that this token was made from."""

    ids: tuple[int, ...]
    texts: tuple[str, ...] = ()


Source = NgramSource | LayerSource | PiecesSource


@dataclass(frozen=True, slots=True)
class DraftToken:
    """A drafted token, and once its step is verified, its judgement.

    Attributes:
        parent: index of the drafted token it follows, −1 for the first (drafts are chains today;
            the field is there for trees).
        fate: None while only drafted.
        target_prob: p(token), target distribution after the logits processors.
        draft_prob: q(token), None where the drafter has no distribution (prompt lookup).
        accept_prob: chance that the rule accepts it: min(1, p/q), p, 0 or 1 under greedy.
        overlap: Σ min(p, q) over the vocabulary; 0 or 1 under greedy.
        draw: the uniform random number compared with ``accept_prob``, None where none was drawn.
        target_entropy, draft_entropy: in nats.
        total_variation: ½ Σ |judged distribution − p|: above 0 only where the rule is lossy.
        target_choice: id that the target alone would have put here (argmax of p).
    """

    id: int
    text: str = ""
    data: bytes = b""
    parent: int = -1
    fate: Fate | None = None
    target_prob: float | None = None
    draft_prob: float | None = None
    accept_prob: float | None = None
    overlap: float | None = None
    draw: float | None = None
    target_top: tuple[TopToken, ...] = ()
    draft_top: tuple[TopToken, ...] = ()
    target_entropy: float | None = None
    draft_entropy: float | None = None
    total_variation: float | None = None
    target_choice: int | None = None
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class TargetToken:
    """The token that the target adds at the end of a step: residual or bonus.

    ``residual_top`` are the most likely tokens of the residual distribution norm(max(0, p − q));
    empty for a bonus token and under greedy. ``target_top`` are those of p at this position.
    """

    id: int
    fate: Fate
    text: str = ""
    data: bytes = b""
    target_prob: float | None = None
    residual_top: tuple[TopToken, ...] = ()
    target_top: tuple[TopToken, ...] = ()
    target_entropy: float | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes that a run holds after a step, beside the weights.

    ``allocated_bytes`` is the most that the GPU's allocator has held at once since the run began,
    weights and all that is not ours included; None off CUDA.
    """

    target_cache_bytes: int = 0
    draft_cache_bytes: int = 0
    logits_bytes: int = 0
    allocated_bytes: int | None = None

    @property
    def total_bytes(self) -> int:
        """Sum of all owners, without what only the allocator knows."""
        return self.target_cache_bytes + self.draft_cache_bytes + self.logits_bytes


@dataclass(frozen=True, slots=True)
class RunHeader:
    """What is known before the first forward pass; values are JSON-like and read-only.

    The keys are those of the trace (interfaces.md, section 2): ``provenance``, ``request``,
    ``method``, ``models``, and the prompt's ``text``.
    """

    provenance: Mapping[str, Any]
    request: Mapping[str, Any]
    method: Mapping[str, Any]
    models: Mapping[str, Any]
    prompt_text: str
    prompt_tokens: tuple[PromptToken, ...]
    load_s: float = 0.0
    created: str = ""


@dataclass(frozen=True, slots=True)
class Prefilled:
    """The prompt has been processed; ``header`` is attached by ``specviz.runs``."""

    num_prompt_tokens: int
    prefill_s: float
    memory: Memory = Memory()
    header: RunHeader | None = None


@dataclass(frozen=True, slots=True)
class Drafted:
    """Tokens have been drafted and are about to be verified; their ``fate`` is None."""

    index: int
    gamma: int
    proposed: tuple[DraftToken, ...]
    draft_s: float
    num_draft_forwards: int


@dataclass(frozen=True, slots=True)
class Verified:
    """One whole step.

    Attributes:
        index: 0, 1, 2, …
        gamma: draft length asked for in this step.
        confidence: confidence threshold in force, 0 = off.
        cut: why the block was cut short (``eos``, ``stop``, ``length``), else None.
        proposed: the drafted tokens sent to the target, with their fates.
        target_token: the target's own token, None where the block was cut.
        draft_s, verify_s, other_s: parts of the step's time; they add up to it.
        num_unsent: tokens drafted but not sent to the target.
        memory: bytes held after the step.
    """

    index: int
    gamma: int
    proposed: tuple[DraftToken, ...]
    target_token: TargetToken | None
    cut: str | None = None
    confidence: float = 0.0
    draft_s: float = 0.0
    verify_s: float = 0.0
    other_s: float = 0.0
    num_draft_forwards: int = 0
    num_target_forwards: int = 1
    num_unsent: int = 0
    memory: Memory = field(default_factory=Memory)

    @property
    def accepted(self) -> tuple[DraftToken, ...]:
        """The drafted tokens that were kept."""
        return tuple(token for token in self.proposed if token.fate is Fate.ACCEPTED)

    @property
    def committed_ids(self) -> tuple[int, ...]:
        """Ids that this step added to the output."""
        tail = () if self.target_token is None else (self.target_token.id,)
        return tuple(token.id for token in self.accepted) + tail

    @property
    def seconds(self) -> float:
        """Time of the step."""
        return self.draft_s + self.verify_s + self.other_s


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over.

    Attributes:
        ids: all new ids.
        text: their decoding (filled in by ``specviz.runs``).
        finish_reason: ``eos``, ``stop``, ``length``, ``cancelled`` or ``error``.
        decode_s: time of all steps, without the prompt and without the making of events.
        observe_s: time spent on turning tensors into events, kept out of ``decode_s``.
        error: the sentence that was shown, for ``error``.
    """

    ids: tuple[int, ...]
    finish_reason: str
    decode_s: float
    observe_s: float = 0.0
    text: str = ""
    error: str | None = None


Event = Prefilled | Drafted | Verified | Finished
FINISH_REASONS = ("eos", "stop", "length", "cancelled", "error")
CUTS = ("eos", "stop", "length")
