"""Makes the recorded runs of ``assets/traces`` anew: ``python -m specviz.record``.

Each is a run on the embedded models with plain decoding beside it. It is repeated, and the run with
the median speed-up is kept, so that no picture shows a lucky one. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specviz import runs
from specviz.config import RunRequest
from specviz.trace import Trace, check

FOLDER = Path(__file__).resolve().parents[1] / "assets" / "traces"
STORY = "Write a story about a brave fox named Lila."
RECIPE = "Write a recipe for winter soup."
RECORD = (
    "Turn the text into JSON.\n\nText: Nora, 35, works as a painter in Oslo and has a cat. Karl is "
    "a 52 year old sailor from Rome.\n\nJSON:"
)
FOREIGN = "Write a story about 🦊 and 你好，世界."
MAX_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded run: its file name, method, prompt and what differs from the defaults."""

    name: str
    method: str
    prompt: str
    options: Mapping[str, Any] = field(default_factory=dict)


RECORDINGS = (
    Recording("01-speculative-story", "speculative", STORY),
    Recording("02-early-exit-recipe", "early_exit", RECIPE),
    Recording("03-prompt-lookup-json", "prompt_lookup", RECORD),
    Recording("04-sampled-story", "speculative", STORY, {"temperature": 0.8, "seed": 7}),
    Recording("05-mtp-layers-story", "mtp_layers", STORY),
    Recording("06-mtp-drafter-recipe", "mtp_drafter", RECIPE, {"target": "target-gemma"}),
    Recording("07-universal-story", "universal", STORY, {"gamma": 8}),
    Recording("08-ensemble-story", "ensemble", STORY, {"temperature": 0.8, "ensemble_weight": 0.5}),
    Recording(
        "09-slower-than-plain",
        "early_exit",
        STORY,
        {"target": "target-gemma", "exit_layer": 1, "max_new_tokens": 32},
    ),
    Recording("10-emoji-and-chinese", "speculative", FOREIGN, {"temperature": 0.8}),
)


def record(recording: Recording, *, repeats: int, tokens: int) -> Trace:
    """The run with the median speed-up of ``repeats`` (an odd number is meant)."""
    settings = {"max_new_tokens": tokens, **recording.options}
    request = RunRequest.of(recording.method, recording.prompt, **settings)
    made = [runs.run(request, baseline=True) for _ in range(repeats)]
    made.sort(key=lambda trace: trace.metrics["measured_speedup"])
    return made[len(made) // 2]


def main() -> None:
    """Record all runs, or those whose names are given."""
    parser = argparse.ArgumentParser(prog="python -m specviz.record", description=__doc__)
    parser.add_argument("names", nargs="*", help="names of recordings; all if none is given")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=72, help="new tokens of a run, at most")
    options = parser.parse_args()
    for recording in RECORDINGS:
        if options.names and recording.name not in options.names:
            continue
        trace = record(recording, repeats=options.repeats, tokens=options.tokens)
        check(trace)
        path = FOLDER / f"{recording.name}.json"
        trace.save(path)
        size, speedup = path.stat().st_size, trace.metrics["measured_speedup"]
        note = "" if size < MAX_BYTES else "  TOO LARGE: record fewer tokens"
        print(f"{recording.name}: {size} bytes, speed-up {speedup:.2f}{note}")  # noqa: T201


if __name__ == "__main__":
    main()
