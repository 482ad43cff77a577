"""Every method on the installed zoo with our own engine: acceptance, tokens per pass, speed-up.

`python -m specviz.zoo.speed --report assets/models/evaluation.json` compares each method with plain
decoding, interleaved, on held-out prompts, and runs it once more at temperature 1. Rates are pooled
over all prompts; speed-ups are medians and only worth something on an otherwise idle machine.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from specviz import comparison, runs
from specviz.config import RunRequest
from specviz.zoo.command import positive, refusals
from specviz.zoo.corpus import documents
from specviz.zoo.loop import log
from specviz.zoo.report import INSTALLED, check_place, digests, merge

SPEED_SEED = 9000
GENRES = ("story", "rewrite", "json", "reading", "recipe", "code")
LOOKUP_GENRES = ("rewrite",)


@dataclass(frozen=True, slots=True)
class Lane:
    """One method on one target with its options."""

    name: str
    target: str
    method: str
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def genres(self) -> tuple[str, ...]:
        """Where the method is at home: all of them, but copies for prompt lookup."""
        return LOOKUP_GENRES if self.method == "prompt_lookup" else GENRES


def lanes() -> list[Lane]:
    """Every method that an embedded target serves, and some that teach by being worse."""
    found = []
    for target in ("target-glm", "target-gemma"):
        found += [
            Lane("speculative", target, "speculative"),
            Lane("speculative, assistant-tiny", target, "speculative", {"draft": "assistant-tiny"}),
            Lane("prompt lookup, rewrites", target, "prompt_lookup"),
            Lane("early exit 1", target, "early_exit", {"exit_layer": 1}),
            Lane("early exit 2", target, "early_exit", {"exit_layer": 2}),
            Lane("early exit 4", target, "early_exit", {"exit_layer": 4}),
            Lane("universal", target, "universal"),
            Lane("ensemble", target, "ensemble"),
        ]
    found.insert(6, Lane("MTP layers", "target-glm", "mtp_layers"))
    return [*found, Lane("MTP drafter", "target-gemma", "mtp_drafter")]


def pooled(metrics: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Acceptance rate and tokens per pass over several runs together."""
    rows = list(metrics)
    total = {
        name: sum(row[name] for row in rows)
        for name in ("num_accepted", "num_judged", "num_tokens", "num_target_forwards")
    }
    return {
        "rate": round(total["num_accepted"] / max(total["num_judged"], 1), 3),
        "tau": round(total["num_tokens"] / total["num_target_forwards"], 2),
    }


def figures(lane: Lane, *, prompts: int, new_tokens: int) -> dict[str, Any]:
    """What one lane reaches, over some prompts of each of its genres."""
    greedy: dict[str, list[Mapping[str, Any]]] = {}
    speeds, identical, sampled = [], 0, []
    for genre in lane.genres:
        for document in documents(SPEED_SEED, prompts, genre=genre):
            options = {"target": lane.target, "max_new_tokens": new_tokens, **lane.options}
            row = comparison.compare([lane.method], document.prompt, repeats=3, **options).rows[-1]
            greedy.setdefault(genre, []).append(row.trace.metrics)
            speeds.append(row.speedup.median)
            identical += row.verdict == "identical"
            request = RunRequest.of(lane.method, document.prompt, temperature=1.0, **options)
            sampled.append(runs.run(request).metrics)
    every = [metrics for rows in greedy.values() for metrics in rows]
    by_genre = {genre: pooled(rows)["rate"] for genre, rows in greedy.items()}
    return {
        "prompts": len(every),
        **pooled(every),
        "sampled_rate": pooled(sampled)["rate"],
        "easiest": max(by_genre.items(), key=lambda item: item[1]),
        "hardest": min(by_genre.items(), key=lambda item: item[1]),
        "speedup": round(median(speeds), 2),
        "identical": identical,
    }


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="specviz.zoo.speed", description=__doc__)
    parser.add_argument("--report", type=Path, default=Path("evaluation.json"))
    parser.add_argument("--prompts", type=positive, default=2, help="per genre")
    parser.add_argument("--new-tokens", type=positive, default=96)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and write the figures into the report."""
    with refusals("specviz.zoo.speed"):
        run(parse(arguments))


def run(options: argparse.Namespace) -> None:
    """Measure the installed zoo as the options ask; where the report goes is checked first."""
    check_place(options.report)
    of = digests(INSTALLED)
    found: dict[str, dict[str, Any]] = {}
    for lane in lanes():
        row = figures(lane, prompts=options.prompts, new_tokens=options.new_tokens)
        found.setdefault(lane.target, {})[lane.name] = row
        log(f"{lane.target}: {lane.name} {row}")
    merge(options.report, {"speed": found}, of)


if __name__ == "__main__":
    main()
