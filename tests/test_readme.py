"""The README: its table is fresh, its header is a Space's, its commands are two and runnable."""

from __future__ import annotations

import re

import pytest

from specviz.catalog.folders import ROOT
from specviz.config import MethodCard
from specviz.method_cards import read_cards
from specviz.readme import README, method_table, with_table

TEXT = README.read_text(encoding="utf-8")


def test_the_table_of_methods_is_fresh() -> None:
    fresh = with_table(TEXT, method_table(read_cards()))
    assert fresh == TEXT, "stale: run python -m specviz.readme"


def test_a_lossy_method_is_marked() -> None:
    card = MethodCard("k", "T", "how | much", "P", lossless=False)
    row = method_table((card,)).splitlines()[2]
    assert row == "| T | `k` | how \\| much | any causal model | **no** | P |"


def test_missing_markers_are_noticed() -> None:
    with pytest.raises(ValueError, match="the README lacks"):
        with_table("no markers", "table")


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
