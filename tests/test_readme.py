"""The README: its table is fresh, its header is a Space's, its commands are two and runnable."""

from __future__ import annotations

import re

import pytest

from specviz.catalog.folders import ROOT
from specviz.config import MethodCard
from specviz.method_cards import read_cards
from specviz.readme import README, fresh, method_table, model_tables, with_table

TEXT = README.read_text(encoding="utf-8")


def test_the_tables_are_fresh() -> None:
    assert fresh(TEXT) == TEXT, "stale: run python -m specviz.readme"
    for card in read_cards():
        assert f"| `{card.key}` |" in TEXT


def test_the_tables_of_the_models_say_what_the_report_says() -> None:
    row = {"rate": 0.912, "tau": 4.5, "sampled_rate": 0.88, "speedup": 2.04, "identical": 5}
    row |= {"prompts": 6, "easiest": ["code", 0.99], "hardest": ["story", 0.8]}
    report = {
        "loss": {"target-a": {"story": 0.31, "list": 1.5}},
        "exact": {"target-a": {"story": 0.97}},
        "fields": {"target-a": {"story": 0.99}},
        "speed": {"target-a": {"speculative": row}},
    }
    assert model_tables(report).splitlines() == [
        "| genre | loss a | right a |",
        "|---|---|---|",
        "| story | 0.310 | 0.97 (0.99) |",
        "| list | 1.500 |  |",
        "",
        "| target | method | α̂ greedy | easiest | hardest | α̂ at temperature 1 | τ | speed-up "
        "| equal to plain greedy |",
        "|---|---|---|---|---|---|---|---|---|",
        "| target-a | speculative | 0.91 | code 0.99 | story 0.80 | 0.88 | 4.50 | 2.04× | 5 of 6 |",
    ]


def test_a_lossy_method_is_marked() -> None:
    card = MethodCard("k", "T", "how | much", "P", lossless=False)
    row = method_table((card,)).splitlines()[2]
    assert row == "| T | `k` | how \\| much | any causal model | **no** | P |"


def test_missing_markers_are_noticed() -> None:
    with pytest.raises(ValueError, match="the README lacks"):
        with_table("no markers", "methods", "table")


def test_the_header_is_that_of_a_space() -> None:
    header = TEXT.split("---")[1]
    fields = dict(re.findall(r'^(\w+): "?([^"\n]+)"?$', header, re.MULTILINE))
    assert fields["sdk"] == "gradio" and fields["license"] == "apache-2.0"
    assert fields["python_version"] == "3.12"
    assert (ROOT / fields["app_file"]).is_file()
    assert len(fields["short_description"]) <= 60
    lower = re.search(
        r"^gradio>=([\d.]+),<(\d+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE
    )
    assert lower is not None
    numbers = [int(part) for part in fields["sdk_version"].split(".")]
    assert [int(part) for part in lower.group(1).split(".")] <= numbers < [int(lower.group(2))]


def test_there_are_two_set_up_commands() -> None:
    commands = [line for line in TEXT.splitlines() if line.startswith("python3 -m venv")]
    assert [command.rsplit("&& ", 1)[1] for command in commands] == [
        ".venv/bin/python app.py",
        ".venv/bin/python -m pytest",
    ]
