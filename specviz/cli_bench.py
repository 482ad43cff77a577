"""``bench``: every method beside ``transformers.generate()``, as tables, JSON or a file."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from specviz.errors import ModelError, SettingError

DONE = 0


def add_bench(commands: Any) -> None:
    """``bench``: the benchmark."""
    command = commands.add_parser("bench", help="measure beside generate()", allow_abbrev=False)
    names = {"nargs": "+", "default": (), "metavar": "ID"}
    command.add_argument("--target", help="targets (default: all on this machine)", **names)
    command.add_argument("--methods", help="methods (default: all)", **names)
    command.add_argument("--tokens", type=_whole, default=64, metavar="N", help="new tokens (64)")
    command.add_argument("--repeats", type=_whole, default=3, metavar="N", help="rounds (3)")
    command.add_argument("--prompts", type=_whole, metavar="N", help="of a target's examples (1–3)")
    command.add_argument("--gamma", type=_whole, default=5, metavar="N", help="draft length (5)")
    command.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1")
    command.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 …")
    command.add_argument("--json", action="store_true", help="print all rounds as JSON")
    command.add_argument("--write", action="store_true", help="put the tables into BENCHMARKS.md")
    command.set_defaults(handler=_bench)


def _bench(options: argparse.Namespace) -> int:
    try:
        from specviz import bench
    except ImportError as error:
        raise ModelError(
            f"the benchmark needs torch and transformers ({error}); install requirements.txt"
        ) from error
    results = bench.bench(
        targets=options.target,
        methods=options.methods,
        tokens=options.tokens,
        repeats=options.repeats,
        prompts=options.prompts,
        gamma=options.gamma,
        device=options.device,
        dtype=options.dtype,
        status=_tell if sys.stderr.isatty() else None,
    )
    if sys.stderr.isatty():
        _tell("")
    if options.write:
        bench.write_markdown(results)
    if options.json:
        print(json.dumps(bench.document_of(results), indent=2))
    else:
        print(bench.report_text(results))
    return DONE


def _tell(text: str) -> None:
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingError(f"a whole number is needed, got {text!r}") from None
