"""Every invariant of the trace format: broken one by one, each is found and named."""

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specviz.errors import TraceError
from specviz.events import Fate
from specviz.trace import Trace, baseline_of, check, split_texts
from tests.trace.sample_runs import drafted, own, run, sized, step
from tests.trace.strategies import few, runs

Document = dict[str, Any]
STEPS = [sized(0, 3, 2), sized(1, 2, 2), step(2, "aad", cut="eos")]
IDS = [0, 1, 3, 10, 11, 12, 20, 21]


def good() -> Document:
    """Three steps; the plain run beside it differs at token 3."""
    plain = run(
        [replace(step(i, ""), target_token=own(token, Fate.BONUS)) for i, token in enumerate(IDS)]
    )
    baseline = baseline_of(plain, IDS)
    document: Document = json.loads(Trace.from_events(run(STEPS), baseline).dumps())
    return document


def test_good_trace_passes() -> None:
    check(good())
    check(Trace.from_document(good()))


def _swap_fates(d: Document) -> None:
    tokens = d["steps"][0]["proposed"]
    tokens[1]["fate"], tokens[2]["fate"] = "rejected", "accepted"


def _two_rejected(d: Document) -> None:
    d["steps"][0]["proposed"][1]["fate"] = "rejected"


def _drop_last_step(d: Document) -> None:
    d["steps"].pop()


def _cut_early(d: Document) -> None:
    d["steps"][1]["cut"], d["steps"][1]["target_token"] = "length", None


def _target_after_cut(d: Document) -> None:
    d["steps"][2]["target_token"] = d["steps"][1]["target_token"]


def _reject_in_a_cut(d: Document) -> None:
    d["steps"][2]["proposed"][2]["fate"] = "rejected"


def _discard_without_reason(d: Document) -> None:
    d["steps"][1]["proposed"][1]["fate"] = "discarded"


def _empty_step(d: Document) -> None:
    d["steps"][2]["proposed"] = []


def setting(*path: str | int, to: object) -> Callable[[Document], None]:
    """A change of one value."""

    def apply(d: Document) -> None:
        node: Any = d
        for part in path[:-1]:
            node = node[part]
        node[path[-1]] = to

    return apply


BROKEN: list[tuple[Callable[[Document], None], str]] = [
    (_swap_fates, "step 0: proposed 2 is accepted behind a rejected token"),
    (_two_rejected, "step 0: more than one proposed token is rejected"),
    (_drop_last_step, "the output has 8 ids, but all 2 steps commit 6"),
    (_cut_early, "step 1: is cut by 'length', but the run goes on"),
    (_target_after_cut, "step 2: is cut by 'eos', yet has a target token"),
    (_reject_in_a_cut, "step 2: is cut by 'eos', yet a token is rejected"),
    (_discard_without_reason, "step 1: tokens are discarded"),
    (_empty_step, "step 2: commits no token"),
    (setting("steps", 1, "index", to=7), "step 1: its index must be 1, got 7"),
    (setting("steps", 1, "proposed", 0, "id", to=99), "step 1: its committed ids"),
    (setting("steps", 0, "target_token", "id", to=99), "step 0: its committed ids"),
    (setting("steps", 0, "target_token", to=None), "step 0: has no target token"),
    (setting("steps", 0, "target_token", "fate", to="bonus"), "step 0: .* must be residual"),
    (setting("steps", 1, "target_token", "fate", to="residual"), "step 1: .* must be bonus"),
    (setting("steps", 1, "proposed", 1, "parent", to=1), "step 1: proposed 1 follows token 1"),
    (setting("steps", 1, "memory_bytes", to=5), "step 1: memory_bytes"),
    (setting("output", "ids", to=[0, 1, 3]), "step 1: its committed ids"),
    (setting("output", "ids", to=[*IDS, 5]), "9 ids, but all 3 steps commit 8"),
    (setting("output", "text", to="other"), "text of the output is not the decoding"),
    (setting("timing", "decode_s", to=0.2), "steps add up to 0.105 s"),
    (setting("timing", "decode_s", to=0.0), "must agree within 5%"),
    (setting("prompt", "ids", to=[1, 3]), "prompt: ids and tokens differ at token 1"),
    (setting("metrics", "acceptance_rate", to=0.5), "metrics: acceptance_rate is 0.5"),
    (setting("metrics", "acceptance_rate", to=None), "metrics: acceptance_rate is None"),
    (setting("metrics", "num_steps", to=4), "metrics: num_steps is 4, but the steps give 3"),
    (setting("baseline", "identical", to=False), "baseline: its ids differ nowhere"),
    (setting("baseline", "first_difference", to=4), "baseline"),
    (setting("baseline", "ids", 3, to=99), "baseline: its ids differ at token 3"),
]


@pytest.mark.parametrize(("damage", "sentence"), BROKEN)
def test_contradiction_is_named(damage: Callable[[Document], None], sentence: str) -> None:
    document = copy.deepcopy(good())
    damage(document)
    with pytest.raises(TraceError, match=sentence):
        check(document)
    with pytest.raises(TraceError, match=sentence):
        check(Trace.from_document(document))


@given(st.data())
@few(40)
def test_no_other_fate_fits_in_any_run(data: st.DataObject) -> None:
    events = data.draw(runs())
    document: Document = json.loads(Trace.from_events(events).dumps())
    tokens = [token for step in document["steps"] for token in step["proposed"]]
    assume(tokens)
    token = data.draw(st.sampled_from(tokens))
    others = {"accepted", "rejected", "discarded"} - {token["fate"]}
    token["fate"] = data.draw(st.sampled_from(sorted(others)))
    with pytest.raises(TraceError):
        check(document)


@given(st.data())
@few(40)
def test_no_other_id_fits_in_any_run(data: st.DataObject) -> None:
    """One id of the output, or of a token that was committed, is another one."""
    document: Document = json.loads(Trace.from_events(data.draw(runs())).dumps())
    kept = [
        token
        for step in document["steps"]
        for token in (*step["proposed"], *filter(None, [step["target_token"]]))
        if token["fate"] not in ("rejected", "discarded")
    ]
    assume(kept)
    if data.draw(st.booleans()):
        data.draw(st.sampled_from(kept))["id"] ^= 1
    else:
        document["output"]["ids"][data.draw(st.integers(0, len(kept) - 1))] ^= 1
    with pytest.raises(TraceError, match=r"step \d: its committed ids"):
        check(document)


def test_check_refuses_what_is_no_trace() -> None:
    with pytest.raises(TraceError, match="not a trace"):
        check({})


def test_times_may_differ_by_five_percent() -> None:
    document = good()
    document["timing"]["decode_s"] = 0.105 * 1.04
    check(document)


def test_metrics_may_hold_less_or_more() -> None:
    document = good()
    document["metrics"] = {"block_efficiency": 8 / 3, "later": 1}
    check(document)


def euro(texts: tuple[str, str, str]) -> Document:
    """€ (E2 82 AC) over three tokens, with these texts."""
    data = (b"\xe2", b"\x82", b"\xac")
    tokens = tuple(
        drafted(i, Fate.ACCEPTED, text, data=piece)
        for i, (text, piece) in enumerate(zip(texts, data, strict=True))
    )
    only = replace(step(0, "aaa"), proposed=tokens, target_token=own(3, Fate.BONUS, "!"))
    document: Document = json.loads(Trace.from_events(run([only], text="€!")).dumps())
    return document


def test_split_character_has_its_text_in_the_last_token() -> None:
    check(euro(("", "", "€")))
    with pytest.raises(TraceError, match="step 0: token 0 must have the text ''"):
        check(euro(("€", "", "")))


def test_unfinished_character_at_the_end_is_a_replacement_sign() -> None:
    only = replace(step(0, "a"), target_token=own(1, Fate.BONUS, "", data=b"\xe2\x82"))
    check(Trace.from_events(run([only], text="a\ufffd")))


def test_split_texts_gives_each_text_to_the_last_piece() -> None:
    assert split_texts([b"a", b"\xe2", b"\x82\xac", b"b\xc3", b"\xa9"]) == ["a", "", "€", "b", "é"]


@pytest.mark.parametrize(
    ("start", "ngram", "sound"),
    [
        (2, 2, True),
        (9, 3, True),
        (10, 1, True),
        (11, 1, False),
        (2, 3, False),
        (10**9, 10**9, False),
    ],
)
def test_copies_come_from_the_context(start: int, ngram: int, sound: bool) -> None:
    """Two tokens of the prompt and eight of the output: nothing lies behind token 10."""
    document = good()
    source = {"kind": "ngram", "start": start, "ngram": ngram}
    document["steps"][0]["proposed"][0]["source"] = source
    if sound:
        check(document)
        return
    with pytest.raises(TraceError, match="step 0: proposed 0 is copied from token"):
        check(document)
