"""``python -m specviz export``: files, stdout, and one sentence where it cannot be done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from specviz.cli import main
from specviz.export import export_html, export_timeline
from specviz.export.html import ASSETS
from specviz.trace import Trace

TRACE = min((ASSETS / "traces").glob("*.json"))


def test_writes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, line = tmp_path / "run.html", tmp_path / "run.json"
    assert main(["export", str(TRACE), "--html", str(page), "--timeline", str(line)]) == 0
    out, err = capsys.readouterr()
    trace = Trace.load(TRACE)
    sizes = [
        f"{len(form(trace).encode()) / 1000:.1f} kB" for form in (export_html, export_timeline)
    ]
    assert out == f"wrote {page} ({sizes[0]})\nwrote {line} ({sizes[1]})\n" and err == ""
    assert page.read_bytes() == export_html(trace).encode("utf-8")
    assert line.read_text("ascii") == export_timeline(trace)


def test_writes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(TRACE), "--timeline", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["traceEvents"]


def test_where_a_file_went_does_not_mix_with_what_goes_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "run.html"
    assert main(["export", str(TRACE), "--timeline", "-", "--html", str(page)]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["traceEvents"] and err.startswith(f"wrote {page} (")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "name what to write: --html FILE or --timeline FILE"),
        (["--html", "-", "--timeline", "-"], "name what to write"),
        (["--html", "/nowhere/at/all.html"], "cannot be written"),
        (["--html", "."], "cannot be written"),
        (["--html", "a\0b"], "cannot be written"),
    ],
)
def test_refuses_with_a_sentence(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(TRACE), *options]) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err and err.count("\n") == 1


def test_a_page_is_replaced_as_a_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "run.html"
    page.write_text("old", "utf-8")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert main(["export", str(TRACE), "--html", str(page)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run.html"]
    assert page.read_text("utf-8") == "old"


def test_refuses_what_is_no_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "run.html"
    assert main(["export", str(tmp_path / "missing.json"), "--html", str(page)]) == 2
    assert "No such file" in capsys.readouterr().err
    assert not page.exists()
