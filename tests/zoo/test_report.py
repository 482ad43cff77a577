"""Figures do not outlive the weights they were measured on; the shipped ones are of these."""

from __future__ import annotations

import json

import pytest

from specviz.readme import model_tables
from specviz.zoo.cards import model_card
from specviz.zoo.report import (
    INSTALLED,
    REPORT,
    check_place,
    current,
    digests,
    fingerprint,
    merge,
    read_report,
)

ROW = {"rate": 0.9, "tau": 4.0}
OLD = {
    "target-glm": "1",
    "target-gemma": "2",
    "assistant": "3",
    "assistant-tiny": "4",
    "assistant-other-tokenizer": "5",
    "drafter-gemma": "6",
}
TARGETS = ("target-glm", "target-gemma")


def measured(*parts, models=TARGETS):
    return {part: {model: {"speculative": ROW} for model in models} for part in parts}


@pytest.fixture
def path(tmp_path):
    """A report with all parts, measured on the old weights."""
    merge(tmp_path / REPORT, measured("loss", "exact", "fields", "rates"), OLD)
    merge(tmp_path / REPORT, measured("speed"), OLD)
    return tmp_path / REPORT


def shown(report):
    return {
        part: sorted(models)
        for part, models in report.items()
        if part not in ("weights", "exact", "fields")
    }


BOTH = sorted(TARGETS)


@pytest.mark.parametrize(
    ("changed", "loss", "rates", "speed"),
    [
        (None, BOTH, BOTH, BOTH),
        # New weights of a target: what is measured now stays, its speed does not.
        ("target-glm", BOTH, BOTH, ["target-gemma"]),
        # Of the other target: none of its figures does.
        ("target-gemma", ["target-glm"], ["target-glm"], ["target-glm"]),
        # Of what drafts for a target: its rates and speed.
        ("drafter-gemma", BOTH, ["target-glm"], ["target-glm"]),
        ("assistant", BOTH, ["target-glm"], []),
        ("assistant-other-tokenizer", BOTH, ["target-glm"], []),
    ],
)
def test_an_evaluation_drops_figures_of_other_weights(path, changed, loss, rates, speed):
    now = OLD | ({changed: "new"} if changed else {})
    merge(path, measured("loss", "exact", "fields", "rates", models=TARGETS[:1]), now)
    report = read_report(path)
    assert shown(report) == {"loss": loss, "rates": rates, "speed": speed}
    known = {f"{part} {model}" for part in report if part != "weights" for model in report[part]}
    assert set(report["weights"]) == known


def test_the_usual_order_keeps_everything(path):
    now = dict.fromkeys(OLD, "new")
    for target in TARGETS:  # two processes, one per target
        merge(path, measured("loss", "exact", "fields", "rates", models=[target]), now)
    assert shown(read_report(path)) == {"loss": BOTH, "rates": BOTH, "speed": []}
    merge(path, measured("speed"), now)
    report = read_report(path)
    assert shown(report) == {"loss": BOTH, "rates": BOTH, "speed": BOTH}
    assert current(report, now) == report


def test_the_last_digest_goes_with_its_figures(tmp_path):
    path = tmp_path / REPORT
    merge(path, measured("loss", models=TARGETS[:1]), OLD)
    kept = current(read_report(path), dict.fromkeys(OLD, "new"))
    assert kept == {"loss": {}, "weights": {}}


def test_figures_from_before_there_were_digests_stay(tmp_path):
    path = tmp_path / REPORT
    path.write_text(json.dumps(measured("loss", "speed")), encoding="utf-8")
    merge(path, measured("loss", models=TARGETS[:1]), dict.fromkeys(OLD, "new"))
    report = read_report(path)
    assert shown(report) == {"loss": BOTH, "speed": BOTH}
    assert set(report["weights"]) == {"loss target-glm"}


def test_digests_are_of_the_weights_of_each_folder(zoo):
    before = digests(zoo)
    assert set(before) == set(OLD)
    (zoo / "assistant" / "README.md").write_text("other words", encoding="utf-8")
    assert digests(zoo) == before
    weights = zoo / "target-glm" / "model-00002-of-00002.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert [name for name, digest in digests(zoo).items() if digest != before[name]] == [
        "target-glm"
    ]


def test_cards_and_readme_say_that_figures_are_not_there():
    loss = {"story": 0.31}
    report = {part: {"target-glm": loss} for part in ("loss", "exact", "fields")}
    for speed in ({}, {"speed": {}}, {"speed": {"target-glm": {}}}):
        card = model_card("target-glm", report | speed, "base-glm 45 minutes")
        assert "| held-out loss, story, nats/token | 0.31 |\n" in card
        assert (
            "\nAcceptance rates and tokens per pass were not measured on these weights.\n" in card
        )
        assert model_tables(report | speed).endswith(
            "| story | 0.310 | 0.31 (0.31) |\n\n"
            "Methods on target-glm were not measured on these weights."
        )
    whole = model_card("target-glm", report | measured("speed"), "base-glm 45 minutes")
    assert "| tokens per pass, speculative | 4.0 |" in whole and "not measured" not in whole
    alone = model_card("assistant", report | measured("speed"), "assistant 6.0 minutes")
    assert "| tokens per pass, speculative on target-glm | 4.0 |" in alone
    assert "not measured" not in alone
    assert "not measured" in model_card("drafter-gemma", report | measured("speed"), "drafter")


def test_the_shipped_report_is_of_the_shipped_weights():
    check_place(INSTALLED / REPORT)
    report = read_report(INSTALLED / REPORT)
    assert set(report["speed"]) == set(TARGETS)
    assert current(report, digests(INSTALLED)) == report


def test_a_fingerprint_tells_which_folders_are_missing():
    found = [fingerprint("speed", "target-glm", {name: "1"}) for name in ("assistant", "x")]
    assert found[0] != found[1] == fingerprint("speed", "target-glm", {})
