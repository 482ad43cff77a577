"""Speed of an installed zoo with our own engine: acceptance, tokens per pass, speed-up, identity.

`python -m specviz.zoo.speed --report speed.json` runs `python -m specviz compare` once per prompt,
in a process of its own, so this package imports nothing of the engine. Figures are medians over the
prompts of a genre; speed-ups are only worth something on an otherwise idle machine.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from specviz.zoo.corpus import documents
from specviz.zoo.loop import log

SPEED_SEED = 9000
GENRES = ("story", "rewrite", "json", "reading", "code")
LOOKUP_GENRES = ("rewrite", "json")


@dataclass(frozen=True, slots=True)
class Lane:
    """One method on one target with its options for `compare`."""

    name: str
    target: str
    method: str
    options: tuple[str, ...] = ()


LANES = (
    Lane("speculative", "target-glm", "speculative"),
    Lane("speculative, tiny", "target-glm", "speculative", ("--draft", "assistant-tiny")),
    Lane("prompt lookup", "target-glm", "prompt_lookup"),
    Lane("early exit 2", "target-glm", "early_exit", ("--exit-layer", "2")),
    Lane("early exit 4", "target-glm", "early_exit", ("--exit-layer", "4")),
    Lane("mtp layers", "target-glm", "mtp_layers"),
    Lane("universal", "target-glm", "universal"),
    Lane("ensemble", "target-glm", "ensemble"),
    Lane("speculative", "target-gemma", "speculative"),
    Lane("early exit 4", "target-gemma", "early_exit", ("--exit-layer", "4")),
    Lane("mtp drafter", "target-gemma", "mtp_drafter"),
)


def compare(lane: Lane, prompt: str, *, new_tokens: int, models: Path) -> dict[str, Any]:
    """The row of the lane's method in `specviz compare --json`; {} when it is refused."""
    options = [str(models / o) if o.startswith("assistant") else o for o in lane.options]
    command = [sys.executable, "-m", "specviz", "compare", lane.method, "--json", "--quiet"]
    command += ["--target", lane.target, "--prompt", prompt, "--repeats", "3"]
    command += ["--max-new-tokens", str(new_tokens), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        log(f"{lane.target} {lane.name}: {done.stderr.strip()[-300:]}")
        return {}
    rows = json.loads(done.stdout)["methods"]
    return next((row for row in rows if row["method"] == lane.method), {})


def figures(rows: list[dict[str, Any]]) -> dict[str, float | int]:
    """Medians over prompts, and how many texts equal plain greedy."""
    found: dict[str, float | int] = {"prompts": len(rows)}
    for key in ("acceptance_rate", "block_efficiency"):
        values = [row[key] for row in rows if row.get(key) is not None]
        if values:
            found[key] = round(median(values), 3)
    speeds = [row["speedup"]["median"] for row in rows if row.get("speedup")]
    if speeds:
        found["speedup"] = round(median(speeds), 2)
    found["identical"] = sum(bool(row.get("identical")) for row in rows)
    return found


def measure(*, prompts: int, new_tokens: int, models: Path) -> dict[str, dict[str, Any]]:
    """Figures of every lane over some prompts of every genre."""
    report: dict[str, dict[str, Any]] = {}
    for lane in LANES:
        genres = LOOKUP_GENRES if lane.method == "prompt_lookup" else GENRES
        asked = [d.prompt for genre in genres for d in documents(SPEED_SEED, prompts, genre=genre)]
        rows = [compare(lane, p, new_tokens=new_tokens, models=models) for p in asked]
        key = f"{lane.target}: {lane.name}"
        report[key] = figures([row for row in rows if row])
        log(f"{key} {report[key]}")
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(prog="specviz.zoo.speed", description=__doc__)
    parser.add_argument("--report", type=Path, default=Path("speed.json"))
    parser.add_argument("--models", type=Path, default=Path("assets/models"))
    parser.add_argument("--prompts", type=int, default=2, help="per genre")
    parser.add_argument("--new-tokens", type=int, default=64)
    options = parser.parse_args(arguments)
    report = measure(prompts=options.prompts, new_tokens=options.new_tokens, models=options.models)
    options.report.write_text(json.dumps(report, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
