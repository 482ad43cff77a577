"""The one decoding loop: draft, verify, commit, emit.

Every method is this loop with another drafter. Between steps one invariant holds: the target's
cache holds all tokens but the last, which is fed together with the next draft. The loop is a
generator of frozen events; who reads them decides how fast it goes, and the clock only runs inside
a step. It knows no text, no page and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch

from specviz.config import DecodeConfig
from specviz.engine import emit
from specviz.engine.clock import Clock, PeakMemory
from specviz.engine.context import Commit, Context, TextOf
from specviz.engine.drafters import methods
from specviz.engine.drafters.base import Draft, Drafter, Parts
from specviz.engine.language_model import Outputs
from specviz.engine.sampling import Processors
from specviz.engine.schedule import Outcome, schedule_of
from specviz.engine.verifiers import rule_of
from specviz.engine.verifiers.base import Verdict, Verifier
from specviz.events import Drafted, Event, Finished, Memory, Prefilled, Verified


def decode(
    prompt_ids: Sequence[int],
    *,
    method: str,
    parts: Parts,
    text_of: TextOf,
    stopped: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Run a method on a prompt.

    Args:
        prompt_ids: at least one id.
        method: key of a method whose needs ``parts`` fulfils.
        parts: models and settings.
        text_of: decodes ids, for stop texts.
        stopped: asked before every step; True ends the run as cancelled.

    Yields:
        ``Prefilled``, then ``Drafted`` and ``Verified`` for each step, then ``Finished``.
    """
    if not prompt_ids:
        raise ValueError("the prompt has no tokens")
    chosen = methods()[method]
    verifier = rule_of(chosen.card, parts.config)
    yield from Run(prompt_ids, chosen.build(parts), verifier, parts, text_of).events(stopped)


class Run:
    """One decoding run in progress."""

    def __init__(
        self,
        prompt_ids: Sequence[int],
        drafter: Drafter,
        verifier: Verifier,
        parts: Parts,
        text_of: TextOf,
    ) -> None:
        target, config = parts.target, parts.config
        self.target, self.drafter, self.verifier = target, drafter, verifier
        self.config: DecodeConfig = config
        self.clock, self.peak = Clock(target.device), PeakMemory(target.device)
        self.schedule = schedule_of(config.schedule, config.gamma)
        self.context = Context(
            prompt_ids,
            config=config,
            end_ids=target.end_ids,
            cache=target.new_cache(1),
            processors=Processors(
                config,
                prompt_length=len(prompt_ids),
                end_ids=target.end_ids,
                device=target.device,
            ),
            rng=torch.Generator(target.device).manual_seed(config.seed),
            text_of=text_of,
        )
        self.decode_s = self.observe_s = 0.0
        self.finished: str | None = None

    def events(self, stopped: Callable[[], bool]) -> Iterator[Event]:
        """Prefill, then step by step until the text ends or ``stopped`` says so."""
        yield self.prefill()
        index = 0
        while self.finished is None:
            if stopped():
                self.finished = "cancelled"
                break
            gamma = min(self.schedule.gamma, self.context.remaining - 1)
            draft, announced = self.draft(index, gamma)
            yield announced
            yield self.verify(index, draft, announced)
            index += 1
        yield Finished(
            tuple(self.context.new_ids), self.finished or "length", self.decode_s, self.observe_s
        )

    @torch.inference_mode()
    def prefill(self) -> Prefilled:
        """Process all of the prompt but its last token, with the target and the drafter."""
        start = self.clock.now()
        context, outputs = self.context, None
        context.cache = self.target.new_cache(context.capacity)
        if context.prompt_length > 1:
            outputs = self.target.prefill(context.ids[:-1], context.cache, self.drafter.want)
        self.drafter.begin(context, outputs)
        seconds = self.clock.now() - start
        return Prefilled(context.prompt_length, seconds, self._memory(None))

    @torch.inference_mode()
    def draft(self, index: int, gamma: int) -> tuple[Draft, Drafted]:
        """Let the drafter propose."""
        start = self.clock.now()
        draft = self.drafter.propose(self.context, gamma) if gamma > 0 else Draft()
        end = self.clock.now()
        announced = emit.drafted(index, gamma, draft, end - start)
        self.observe_s += self.clock.now() - end
        return draft, announced

    @torch.inference_mode()
    def verify(self, index: int, draft: Draft, announced: Drafted) -> Verified:
        """Score the draft, judge it, commit what is kept, and describe the step."""
        context = self.context
        start = self.clock.now()
        outputs = self._score(draft)
        scores = context.processors.scores(outputs.logits, context.ids, draft.ids)
        verdict = self.verifier.judge(draft, scores, context.rng)
        judged = self.clock.now()
        commit = self._commit(draft, verdict, outputs)
        self._learn(announced, draft, commit, judged - start)
        end = self.clock.now()
        event = Verified(
            index=index,
            gamma=announced.gamma,
            confidence=self.config.confidence,
            cut=commit.cut,
            proposed=emit.judged_tokens(draft, scores, verdict, commit, greedy=self.config.greedy),
            target_token=emit.target_token(draft, scores, verdict, commit),
            draft_s=announced.draft_s,
            verify_s=judged - start,
            other_s=end - judged,
            num_draft_forwards=draft.num_forwards,
            num_target_forwards=1,
            num_unsent=draft.num_unsent,
            memory=self._memory(scores),
        )
        self.decode_s += announced.draft_s + end - start
        self.observe_s += self.clock.now() - end
        return event

    def _score(self, draft: Draft) -> Outputs:
        """Logits of the target at the pending token and at every drafted one: (G + 1, V)."""
        context = self.context
        outputs = self.drafter.verify(context, draft)
        if outputs is not None:
            return outputs
        inputs = [context.ids[-1], *draft.ids]
        want = self.drafter.want
        return self.target.forward(inputs, context.cache, keep=len(inputs), want=want)

    def _commit(self, draft: Draft, verdict: Verdict, outputs: Outputs) -> Commit:
        """Append what is kept; roll the target's cache back to all tokens but the last."""
        context = self.context
        commit = context.commit(draft.ids[: verdict.num_accepted], verdict.next_id)
        context.cache.crop(len(context.ids) - 1)
        self.drafter.commit(context, outputs, len(commit.ids))
        self.finished = commit.finished
        return commit

    def _learn(self, announced: Drafted, draft: Draft, commit: Commit, verify_s: float) -> None:
        """Tell the schedule what the step asked for, got and took."""
        self.schedule.learn(
            Outcome(
                asked=announced.gamma,
                proposed=len(draft.ids),
                accepted=commit.num_accepted,
                draft_s=announced.draft_s,
                verify_s=verify_s,
                loose_end=draft.loose_end,
            )
        )

    def _memory(self, scores: torch.Tensor | None) -> Memory:
        return Memory(
            target_cache_bytes=self.context.cache.num_bytes,
            draft_cache_bytes=self.drafter.cache_bytes,
            logits_bytes=0 if scores is None else scores.numel() * scores.element_size(),
            allocated_bytes=self.peak.num_bytes,
        )
