"""The results as a table, as JSON, and as a section of ``BENCHMARKS.md``."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers

from specviz.bench.result import FORMS, Result
from specviz.catalog.folders import ROOT
from specviz.metrics.counts import counted

FORMAT, VERSION = "specviz.bench", 1
RESULTS_FILE = ROOT / "BENCHMARKS.md"
HOW_TO_READ = """# Benchmarks

Written by `python -m specviz bench --write`; do not edit. One section per processor and
number format. *The page* is kept as it stands: its tables are what
`python -m tests.browser.figures` prints, without and with `--live`.

How to read it: in one process and interleaved, each method is run four ways on the same prompts
with the same draft length, greedily.

- **ours**: a run as users get it, from the prompt's ids to events with texts.
- **generate()**: the same method of Transformers. MTP layers are handed to it ready, since it would
  read them from disk in every call. *ids* says whether both gave the same tokens.
- **bare modules**: the forward passes of our run through Transformers' modules, and nothing else:
  what a loop without any overhead would need. Above 1, our direct forward pass is faster than that.
- **bare forwards**: the forward passes of our run by our own path, and nothing else. What is
  missing to 1 is the loop around them and the making of events.

Tokens per second are those of one processor's time on a CPU (other programs count less then), and
of the clock on the wall elsewhere. Ratios are of tokens per second, so above 1 ours is faster; they
are taken within a round, and the median stands first, then the lowest and the highest. Prompt
processing is included, loading and warm-up are not. *forwards / loop / events* are the parts of our
time; the loop is what the other two leave.
"""


def report_text(results: Sequence[Result]) -> str:
    """One table per target, then what was not run."""
    parts = []
    for target in dict.fromkeys(result.target for result in results):
        ran = [r for r in results if r.target == target and r.refusal is None]
        if ran:
            parts.append(f"{_heading(target, ran)}\n{_aligned(_cells(ran))}")
    refused = [f"  {r.method} on {r.target}: {r.refusal}" for r in results if r.refusal]
    if refused:
        parts.append("Not run:\n" + "\n".join(refused))
    return "\n\n".join(parts)


def document_of(results: Sequence[Result]) -> dict[str, Any]:
    """Plain values for JSON, every round included; times in seconds."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "machine": machine(results),
        "results": [_document(result) for result in results],
    }


def write_markdown(results: Sequence[Result], path: Path = RESULTS_FILE) -> None:
    """Put the results into the file; sections of other processors and formats stay."""
    facts = machine(results)
    title = f"{facts['processor']}, {facts['dtype']}"
    lines = [
        f"- {name}: {value}" for name, value in facts.items() if name not in ("processor", "dtype")
    ]
    tables = [
        f"### {_heading(target, ran)}\n\n{_markdown_table(_cells(ran))}"
        for target in dict.fromkeys(result.target for result in results)
        if (ran := [r for r in results if r.target == target and r.refusal is None])
    ]
    refused = [f"- {r.method} on {r.target}: {r.refusal}" for r in results if r.refusal]
    tables += ["Not run:\n\n" + "\n".join(refused)] if refused else []
    body = "\n\n".join(["\n".join(lines), *tables])
    sections = _sections(path)
    sections[title] = body
    text = [HOW_TO_READ.rstrip(), *(f"## {name}\n\n{part}" for name, part in sections.items())]
    path.write_text("\n\n".join(text) + "\n", encoding="utf-8")


def machine(results: Sequence[Result]) -> dict[str, Any]:
    """When and on what the results were measured."""
    ran = [result for result in results if result.refusal is None]
    devices = {result.device for result in ran}
    threads = sorted({result.threads for result in ran if result.threads is not None})
    load = os.getloadavg()[1] if hasattr(os, "getloadavg") else None
    return {
        "processor": _processor(devices),
        "dtype": ", ".join(sorted({result.dtype for result in ran})) or None,
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "threads used": ", ".join(map(str, threads)) or None,
        "programs running, 5-minute mean": None if load is None else round(load, 1),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "ratios of": "CPU time" if devices <= {"cpu"} else "wall time",
    }


def _processor(devices: set[str]) -> str:
    gpus = sorted(device for device in devices if device.startswith("cuda"))
    if gpus:
        return torch.cuda.get_device_name(torch.device(gpus[0]))
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _heading(target: str, ran: Sequence[Result]) -> str:
    first = ran[0]
    prompts = counted(first.num_prompts, "prompt")
    tokens, rounds = counted(first.num_tokens, "new token"), counted(len(first.rounds), "round")
    return f"{target} · {prompts} · {tokens} · {rounds} · {first.device}"


def _cells(ran: Sequence[Result]) -> list[list[str]]:
    return [list(COLUMNS), *([show(result) for show in COLUMNS.values()] for result in ran)]


def _aligned(cells: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[place]) for line in cells) for place in range(len(cells[0]))]
    rows = (zip(line, widths, strict=True) for line in cells)
    return "\n".join("  ".join(cell.ljust(width) for cell, width in row).rstrip() for row in rows)


def _markdown_table(cells: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(line) + " |" for line in cells]
    return "\n".join([lines[0], "|" + " --- |" * len(cells[0]), *lines[1:]])


def _sections(path: Path) -> dict[str, str]:
    """Title -> body of the sections that the file holds already."""
    if not path.is_file():
        return {}
    parts = path.read_text(encoding="utf-8").split("\n## ")[1:]
    pairs = (part.partition("\n") for part in parts)
    return {title.strip(): body.strip() for title, _, body in pairs}


def _document(result: Result) -> dict[str, Any]:
    if result.refusal is not None:
        return {"method": result.method, "target": result.target, "refusal": result.refusal}
    ratios = {
        f"{form}_over_ours": {
            clock: result.ratios(form, over="ours", clock=clock) for clock in ("cpu", "wall")
        }
        for form in FORMS[1:]
    }
    return {**asdict(result), "clock": result.clock, "ratios": ratios, "shares": result.shares}


def _ids(result: Result) -> str:
    places = [place for place in result.differences if place is not None]
    return f"differ at {', '.join(map(str, places))}" if places else "equal"


def _speed(form: str) -> Callable[[Result], str]:
    return lambda result: f"{1 / result.per_token_s(form):.0f}"


def _ratio(form: str) -> Callable[[Result], str]:
    """Tokens per second of ours over those of a form, which is the form's time over ours."""

    def show(result: Result) -> str:
        values = result.ratios(form, over="ours")
        note = "" if form != "modules" or result.same_steps else " (other steps)"
        return f"{median(values):.2f} ({min(values):.2f}–{max(values):.2f}){note}"

    return show


def _shares(result: Result) -> str:
    return " / ".join(f"{100 * share:.0f}" for share in result.shares.values())


COLUMNS: Mapping[str, Callable[[Result], str]] = {
    "method": lambda result: result.method,
    "γ": lambda result: "–" if result.gamma is None else str(result.gamma),
    "ours, tokens/s": _speed("ours"),
    "generate(), tokens/s": _speed("generate"),
    "ours ÷ generate()": _ratio("generate"),
    "ids": _ids,
    "ours ÷ bare modules": _ratio("modules"),
    "ours ÷ bare forwards": _ratio("forwards"),
    "forwards / loop / events %": _shares,
}
