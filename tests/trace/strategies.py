"""Random runs that keep every invariant of the event contract, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from specviz.events import (
    CUTS,
    DraftToken,
    Event,
    Fate,
    Finished,
    LayerSource,
    Memory,
    NgramSource,
    PiecesSource,
    Prefilled,
    PromptToken,
    TargetToken,
    TopToken,
    Verified,
)
from specviz.trace.decode import drafted_of
from tests.trace.sample_runs import header

IDS = st.integers(0, 2**31 - 1)
TEXTS = st.text(st.characters(), max_size=4)  # lone surrogates included
PROBS = st.none() | st.floats(0, 1)
AMOUNTS = st.none() | st.floats(0, 100)
SECONDS = st.floats(0, 10)
COUNTS = st.integers(0, 1000)
SOURCES = (
    st.none()
    | st.sampled_from((NgramSource(0, 0), NgramSource(1, 0), NgramSource(1, 1)))
    | st.builds(LayerSource, COUNTS)
    | st.builds(PiecesSource, st.lists(IDS, max_size=2).map(tuple), st.just(("x", "\ud800")))
)
TOPS = st.lists(st.builds(TopToken, IDS, st.floats(0, 1), TEXTS), max_size=2).map(tuple)
MEMORY = st.builds(Memory, COUNTS, COUNTS, COUNTS)


def few(num: int) -> settings:
    """Settings of a property test: ``num`` examples, the same each time, on a busy machine too."""
    slow = (HealthCheck.too_slow,)
    return settings(max_examples=num, deadline=None, derandomize=True, suppress_health_check=slow)


def is_inert(text: str) -> bool:
    """Whether every character can be seen; emoji newer than this Python count as seen."""
    return all(char.isprintable() or 0x1F000 <= ord(char) < 0x1FB00 for char in text)


def token_fields() -> dict[str, Any]:
    """Fields that drafted tokens of any fate have."""
    names = ("target_prob", "draft_prob", "accept_prob", "overlap", "draw", "total_variation")
    return {
        "id": IDS,
        "text": TEXTS,
        "target_top": TOPS,
        "draft_top": TOPS,
        "target_entropy": AMOUNTS,
        "draft_entropy": AMOUNTS,
        "target_choice": st.none() | IDS,
        "source": SOURCES,
        **dict.fromkeys(names, PROBS),
    }


@st.composite
def steps(draw: st.DrawFn, index: int, *, may_be_cut: bool) -> Verified:
    """One consistent step."""
    cut = draw(st.sampled_from((None, *CUTS))) if may_be_cut else None
    accepted = draw(st.integers(1 if cut else 0, 3))
    refused = draw(st.integers(0, 2))
    fates = [Fate.ACCEPTED] * accepted + [Fate.DISCARDED] * refused
    if refused and not cut:
        fates[accepted] = Fate.REJECTED
    proposed = [
        draw(st.builds(DraftToken, fate=st.just(fate), parent=st.just(i - 1), **token_fields()))
        for i, fate in enumerate(fates)
    ]
    kind = Fate.RESIDUAL if refused else Fate.BONUS
    target = st.builds(
        TargetToken,
        IDS,
        st.just(kind),
        TEXTS,
        target_prob=PROBS,
        residual_top=TOPS,
        target_top=TOPS,
    )
    return Verified(
        index=index,
        gamma=draw(COUNTS),
        proposed=tuple(proposed),
        target_token=None if cut else draw(target),
        cut=cut,
        confidence=draw(st.floats(0, 1)),
        draft_s=draw(SECONDS),
        verify_s=draw(SECONDS),
        other_s=draw(SECONDS),
        num_draft_forwards=draw(COUNTS),
        num_target_forwards=draw(COUNTS),
        num_unsent=draw(COUNTS),
        memory=draw(MEMORY),
    )


@st.composite
def runs(draw: st.DrawFn) -> list[Event]:
    """One consistent run, ``Drafted`` events included."""
    num = draw(st.integers(0, 3))
    done = [draw(steps(i, may_be_cut=i == num - 1)) for i in range(num)]
    prompt = [
        PromptToken(draw(IDS), text, text.encode("utf-8", "surrogatepass"))
        for text in draw(st.lists(TEXTS, max_size=2))
    ]
    texts = [t.text for s in done for t in (*s.accepted, *filter(None, [s.target_token]))]
    start = Prefilled(
        num_prompt_tokens=len(prompt),
        prefill_s=draw(SECONDS),
        memory=draw(MEMORY),
        header=header(prompt_text=draw(TEXTS), prompt_tokens=tuple(prompt), load_s=draw(SECONDS)),
    )
    end = Finished(
        ids=tuple(token_id for s in done for token_id in s.committed_ids),
        finish_reason=draw(st.sampled_from(("eos", "stop", "length", "cancelled", "error"))),
        decode_s=sum(s.seconds for s in done),
        observe_s=draw(SECONDS),
        text="".join(texts),
        error=draw(st.none() | TEXTS),
    )
    pairs = [event for step in done for event in (drafted_of(step), step)]
    return [start, *pairs, end]
