"""Events -> messages: small, inert, bounded."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from specviz.events import (
    DraftToken,
    Fate,
    NgramSource,
    Prefilled,
    TargetToken,
    TopToken,
    Verified,
)
from specviz.metrics import count
from specviz.ui.outbox import Outbox
from specviz.ui.protocol import (
    FATE_CODES,
    LaneEncoder,
    draft_token,
    dumps,
    hex_of,
    light,
    notice,
    number,
    open_record,
)
from tests.ui.fake_runs import FakeRuns, request

HOSTILE = ("</script><script>", "<img src=x onerror=alert(1)>", "${1+1}", "{{x}}", "\x00", "\ud83d")


def records(num_steps: int = 20, **options: Any) -> list[list[Any]]:
    encoder = LaneEncoder(0)
    events = FakeRuns(num_steps=num_steps).stream(request(**options))
    return [encoder.encode(event) for event in events]


def steps_of(found: list[list[Any]]) -> list[dict[str, Any]]:
    return [record[2] for record in found if record[0] == "step"]


def test_every_fate_has_a_code() -> None:
    assert set(FATE_CODES) == set(Fate)
    assert len(set(FATE_CODES.values())) == len(Fate)


def test_missing_and_infinite_numbers_become_null() -> None:
    assert [number(value) for value in (None, math.nan, math.inf, -math.inf, 0.25)] == [
        None,
        None,
        None,
        None,
        0.25,
    ]
    token = DraftToken(1, "a", b"a", fate=Fate.ACCEPTED, target_prob=math.nan, draft_prob=0.5)
    assert "p" not in draft_token(token)
    assert draft_token(token)["q"] == 0.5


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_travel_unchanged_and_inert(text: str) -> None:
    message = dumps(draft_token(DraftToken(1, text, fate=Fate.ACCEPTED)))
    assert json.loads(message)["x"] == text
    assert message.isascii()
    assert "<" not in message


def test_bytes_of_a_split_character_are_told() -> None:
    assert hex_of(DraftToken(1, "", b"\xe2\x82")) == "e282"
    assert hex_of(DraftToken(1, "€", b"\xe2\x82\xac")) is None
    assert hex_of(DraftToken(1, "€", b"\xac")) == "ac"


def test_a_mixture_is_told_where_the_rule_mixes() -> None:
    token = DraftToken(
        1, "a", b"a", fate=Fate.ACCEPTED, target_prob=0.1, draft_prob=0.5, accept_prob=0.52
    )
    assert draft_token(token, 0.6)["m"] == pytest.approx(0.26)
    assert "m" not in draft_token(token)
    assert "m" not in draft_token(replace(token, accept_prob=None), 0.6)
    start = next(e for e in FakeRuns().stream(request()) if isinstance(e, Prefilled))
    lossy = start.header.method | {"lossless": False}
    encoder = LaneEncoder(0)
    encoder.encode(start)
    assert encoder.weight is None
    encoder.encode(replace(start, header=replace(start.header, method=lossy)))
    assert encoder.weight == start.header.request["ensemble_weight"]


def test_a_source_is_a_plain_list() -> None:
    token = DraftToken(1, "a", b"a", fate=Fate.ACCEPTED, source=NgramSource(start=7, ngram=3))
    assert draft_token(token)["src"] == ["ngram", 7, 3]


def test_running_figures_equal_the_counts_of_all_steps_so_far() -> None:
    events = [e for e in FakeRuns().stream(request()) if isinstance(e, Verified)]
    encoder = LaneEncoder(0)
    for end, event in enumerate(events, start=1):
        run = encoder.encode(event)[2]["run"]
        counts = count(events[:end])
        assert run[0] == number(counts.acceptance_rate)
        assert run[1] == number(counts.block_efficiency)
        assert run[3] == counts.num_tokens
        assert run[9:12] == [counts.num_accepted, counts.num_judged, counts.num_proposed]


def test_a_run_without_drafts_has_no_rate() -> None:
    for step in steps_of(records(method="plain")):
        assert step["run"][0] is None
        assert step["run"][1] == 1


def test_committed_texts_join_to_the_output() -> None:
    events = list(FakeRuns().stream(request()))
    encoder = LaneEncoder(0)
    steps = steps_of([encoder.encode(event) for event in events])
    kept = [token["x"] for step in steps for token in step["tok"] if token["f"] in "asb"]
    assert "".join(kept) == events[-1].text


def test_a_cut_step_has_no_target_token() -> None:
    token = DraftToken(1, "a", b"a", fate=Fate.ACCEPTED)
    step = Verified(0, 1, (token,), None, cut="length", verify_s=0.1)
    record = LaneEncoder(0).encode(step)[2]
    assert record["cut"] == "length"
    assert [item["f"] for item in record["tok"]] == ["a"]


def test_messages_are_numbered_and_bounded() -> None:
    outbox = Outbox("id", max_bytes=4000)
    outbox.add(open_record(kind="live", lanes=[]))
    for record in records(60):
        outbox.add(record)
    messages = outbox.close("done")
    parsed = [json.loads(message) for message in messages]
    assert [message["seq"] for message in parsed] == list(range(len(parsed)))
    assert [message.get("end") for message in parsed] == [None] * (len(parsed) - 1) + ["done"]
    assert max(map(len, messages)) < 6000
    assert sum(len(message["ev"]) for message in parsed) == len(records(60)) + 1


def test_steps_that_pile_up_travel_without_alternatives() -> None:
    outbox = Outbox("id", max_bytes=3000)
    for record in records(30):
        outbox.add(record)
    steps = [r[2] for m in outbox.close("done") for r in json.loads(m)["ev"] if r[0] == "step"]
    assert not steps[0].get("light")
    assert steps[-1]["light"]
    assert all("tt" not in token for token in steps[-1]["tok"])
    assert len(steps) == 30


def test_light_leaves_the_record_itself_alone() -> None:
    token = TargetToken(1, Fate.BONUS, "a", b"a", target_top=(TopToken(1, 0.5, "a"),))
    record = LaneEncoder(0).encode(Verified(0, 0, (), token))
    assert "tt" not in light(record)[2]["tok"][0]
    assert "tt" in record[2]["tok"][0]


def test_a_message_carries_the_time_of_its_oldest_record() -> None:
    outbox = Outbox("id")
    outbox.add(["finish", 0, {}], at=12.5)
    outbox.add(["finish", 0, {}], at=13.5)
    assert json.loads(outbox.pop())["at"] == 12500


def test_a_notice_belongs_to_no_run() -> None:
    message = json.loads(notice("PromptError", "the prompt is empty", 1.0))
    assert (message["run"], message["ev"]) == ("", [])
    assert message["error"] == ["PromptError", "the prompt is empty"]


def test_encoding_does_not_depend_on_earlier_lanes() -> None:
    event = Verified(0, 0, (), TargetToken(1, Fate.BONUS, "a", b"a"), verify_s=0.5)
    one, two = LaneEncoder(0), LaneEncoder(1)
    one.encode(event)
    assert two.encode(event)[2]["run"] == LaneEncoder(0).encode(replace(event))[2]["run"]
