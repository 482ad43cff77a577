"""A stand-in for ``specviz.runs``: invented steps at a chosen pace, no model.

The events obey the invariants of ``specviz.events``, so that traces of them pass ``check``.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specviz.config import MAX_NEW_TOKENS, MethodCard, RunRequest, settings_of
from specviz.errors import PromptError
from specviz.events import (
    Drafted,
    DraftToken,
    Event,
    Fate,
    Finished,
    Prefilled,
    PromptToken,
    RunHeader,
    TargetToken,
    TopToken,
    Verified,
)
from specviz.plans import request_of

CARDS = (
    MethodCard("plain", "Plain decoding", "One token per step.", "", order=0),
    MethodCard(
        "speculative",
        "Speculative decoding",
        "A smaller model drafts.",
        "Leviathan et al. 2023",
        provides_probs=True,
        needs=frozenset({"draft_model"}),
        settings=("gamma", "schedule", "confidence"),
        order=10,
    ),
    MethodCard(
        "prompt_lookup",
        "Prompt lookup",
        "The context drafts.",
        "Saxena 2023",
        settings=("gamma", "ngram"),
        order=20,
    ),
    MethodCard(
        "early_exit",
        "Early exit",
        "The first layers draft.",
        "Elhoushi et al. 2024",
        provides_probs=True,
        needs=frozenset({"exit_layer"}),
        settings=("gamma", "exit_layer"),
        order=30,
    ),
    MethodCard(
        "mtp_layers",
        "MTP layers",
        "The checkpoint's extra layers draft.",
        "DeepSeek-AI 2024",
        provides_probs=True,
        needs=frozenset({"mtp_layers"}),
        settings=("confidence",),
        order=40,
    ),
    MethodCard(
        "ensemble",
        "Ensemble",
        "The rule mixes target and drafter.",
        "Fu et al. 2025",
        lossless=False,
        provides_probs=True,
        needs=frozenset({"probs_drafter"}),
        settings=("gamma", "schedule", "confidence", "ensemble_weight"),
        order=80,
    ),
)
WORDS = (" the", " fox", " ran", " and", " saw", " a", " red", " tree", ".", " It", " was", " old")

GREEDY = "Greedy"  # a prompt with this word is told to have been judged greedily


@dataclass(frozen=True)
class Target:
    """A target of the menu."""

    id: str
    title: str
    num_layers: int = 8
    default: bool = False


@dataclass(frozen=True)
class Example:
    """An example prompt."""

    title: str
    prompt: str
    chat: bool = False


@dataclass
class FakeRuns:
    """Invented runs.

    Attributes:
        rate: steps per second, 0 = as fast as possible.
        num_steps: steps of a run, unless a ``max_new_tokens`` below the greatest ends it before.
        texts: token texts to use instead of ordinary words.
        forwards: target forward passes of all runs so far.
        late: those that ended after their run had been told to stop; one is in flight at most.
        closed: how many runs came to their ``finally``.
        can_run: whether any method is available.
    """

    rate: float = 0.0
    num_steps: int = 40
    texts: tuple[str, ...] = WORDS
    traces: tuple[Path, ...] = ()
    forwards: int = 0
    late: int = 0
    closed: int = 0
    can_run: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)

    def cards(self) -> tuple[MethodCard, ...]:
        return CARDS

    def targets(self) -> tuple[Target, ...]:
        return (Target("big", "Big model", 12, default=True), Target("other", "Other model", 4))

    def availability(self, target_id: str) -> Mapping[str, str | None]:
        if not self.can_run:
            return {card.key: "torch is not installed" for card in CARDS}
        reason = "no draft model fits" if target_id == "other" else None
        return {card.key: reason if card.key == "speculative" else None for card in CARDS}

    def drafts(self, target_id: str, method_key: str) -> tuple[str, ...]:
        return ("small", "tiny") if method_key == "speculative" else ()

    def vocabulary_overlap(self, target_id: str, draft_id: str) -> float | None:
        return 0.6254 if draft_id == "small" else None

    def examples(self, target_id: str) -> tuple[Example, ...]:
        return (
            Example("Story", f"Tell {target_id} a story."),
            Example("Talk", "Hello?", chat=True),
        )

    def warm_up(self) -> None:
        self.num_warm_ups = getattr(self, "num_warm_ups", 0) + 1

    def recorded(self) -> tuple[Path, ...]:
        return self.traces

    def request_of(self, method: str, prompt: str, **options: Any) -> RunRequest:
        return request_of(method, prompt, **options)

    def stream(
        self,
        request: RunRequest,
        *,
        stop: threading.Event | None = None,
        status: Callable[[str], None] | None = None,
    ) -> Iterator[Event]:
        if not request.prompt.strip():
            raise PromptError("the prompt is empty; type some text")
        if request.prompt == "crash":
            raise RuntimeError("secret path /somewhere")
        return self._stream(request, stop or threading.Event(), status or (lambda text: None))

    def _stream(
        self, request: RunRequest, stop: threading.Event, status: Callable[[str], None]
    ) -> Iterator[Event]:
        status("waiting: another run has the models")
        with self.lock:
            try:
                status("Running")
                yield from self._events(request, stop)
            finally:
                self.closed += 1

    def _events(self, request: RunRequest, stop: threading.Event) -> Iterator[Event]:
        yield Prefilled(len(request.prompt.split()), 0.002, header=header(request))
        gamma = 0 if request.method == "plain" else request.config.gamma
        dice = random.Random(ascii((request.method, request.prompt)))
        ids: list[int] = []
        begin, index = time.perf_counter(), 0
        limit = request.config.max_new_tokens
        while index < self.num_steps and (len(ids) < limit or limit == MAX_NEW_TOKENS):
            if stop.is_set():
                break
            drafted, verified = self._step(index, gamma, dice)
            yield drafted
            if self.rate:
                time.sleep(max(0.0, begin + (index + 1) / self.rate - time.perf_counter()))
            self.forwards += 1
            self.late += stop.is_set()
            ids += verified.committed_ids
            yield verified
            index += 1
        yield Finished(
            ids=tuple(ids),
            finish_reason="cancelled" if stop.is_set() else "length",
            decode_s=0.003 * index,
            text="".join(self.texts[i] for i in ids),
        )

    def _step(self, index: int, gamma: int, dice: random.Random) -> tuple[Drafted, Verified]:
        kept = dice.randint(0, gamma)
        proposed = tuple(self._draft(place, kept, dice) for place in range(gamma))
        fate = Fate.BONUS if kept == gamma else Fate.RESIDUAL
        own = self._id(dice)
        target = TargetToken(
            id=own,
            fate=fate,
            text=self.texts[own],
            data=self.texts[own].encode("utf-8", "surrogatepass"),
            target_prob=0.5,
            target_top=self._tops(dice),
            residual_top=self._tops(dice) if fate is Fate.RESIDUAL else (),
        )
        drafted = Drafted(index, gamma, proposed, 0.001, gamma)
        return drafted, Verified(
            index,
            gamma,
            proposed,
            target,
            draft_s=0.001 if gamma else 0.0,
            verify_s=0.0018,
            other_s=0.0002 if gamma else 0.0012,
            num_draft_forwards=gamma,
        )

    def _draft(self, place: int, kept: int, dice: random.Random) -> DraftToken:
        fate = Fate.ACCEPTED if place < kept else Fate.REJECTED
        fate = Fate.DISCARDED if place > kept else fate
        own = self._id(dice)
        return DraftToken(
            id=own,
            text=self.texts[own],
            data=self.texts[own].encode("utf-8", "surrogatepass"),
            parent=place - 1,
            fate=fate,
            target_prob=0.25,
            draft_prob=0.5,
            accept_prob=0.5,
            overlap=0.6,
            draw=0.1 if fate is Fate.ACCEPTED else 0.9,
            target_top=self._tops(dice),
            draft_top=self._tops(dice),
        )

    def _id(self, dice: random.Random) -> int:
        return dice.randrange(len(self.texts))

    def _tops(self, dice: random.Random) -> tuple[TopToken, ...]:
        ids = [self._id(dice) for _ in range(5)]
        return tuple(TopToken(i, 0.4 / (n + 1), self.texts[i]) for n, i in enumerate(ids))


def header(request: RunRequest) -> RunHeader:
    """The header of an invented run; the prompt is split at blanks."""
    words = [word + " " for word in request.prompt.split(" ")]
    words[-1] = words[-1][:-1]
    tokens = tuple(
        PromptToken(i, word, word.encode("utf-8", "surrogatepass")) for i, word in enumerate(words)
    )
    card = next(card for card in CARDS if card.key == request.method)
    model: dict[str, Any] = {
        "id": request.target,
        "source": "embedded",
        "sha256": "0" * 64,
        "parameters": 1,
        "bytes": 4,
        "tokenizer_sha256": "0" * 64,
        "device": "cpu",
    }
    draft = model | {"id": request.draft} if request.draft else None
    return RunHeader(
        provenance={
            "kind": "measured",
            "specviz": "0",
            "python": "3",
            "torch": "0",
            "transformers": "0",
            "device": "cpu (fake)",
            "dtype": "float32",
            "threads": 1,
        },
        request={"method": request.method, **settings_of(request.config)},
        method={
            "key": card.key,
            "title": card.title,
            "drafter": card.key,
            "rule": "greedy_match" if GREEDY in request.prompt else "speculative_sampling",
            "lossless": True,
        },
        models={"target": model, "draft": draft},
        prompt_text=request.prompt,
        prompt_tokens=tokens,
        created="2026-11-29T12:00:00Z",
    )


def request(
    method: str = "speculative", prompt: str = "Once upon a time", **options: Any
) -> RunRequest:
    """A request for an invented run."""
    options = {"max_new_tokens": MAX_NEW_TOKENS, "target": "big"} | options
    if method == "speculative":
        options.setdefault("draft", "small")
    return RunRequest.of(method, prompt, **options)
