"""``compare``: methods beside each other on one prompt, as tables or as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from specviz.cli_run import add_run_options, check_writable, request_of
from specviz.cli_stop import interruptible
from specviz.comparison import Comparison, compare_stream, comparison_text, lanes_of
from specviz.comparison.race import DEFAULT_REPEATS, check_any
from specviz.errors import SettingError

DONE, INTERRUPTED = 0, 130


def add_compare(commands: Any) -> None:
    """``compare``: several runs."""
    command = commands.add_parser("compare", help="compare methods", allow_abbrev=False)
    command.add_argument(
        "methods",
        nargs="+",
        metavar="METHOD",
        help="keys of methods; plain is added",
    )
    add_run_options(command)
    command.add_argument(
        "--repeats", type=_whole, default=DEFAULT_REPEATS, metavar="N", help="rounds (default 3)"
    )
    command.add_argument("--trace", metavar="FILE", help="write one trace per method: FILE-METHOD")
    command.add_argument("--json", action="store_true", help="print the figures as JSON")
    command.add_argument("--quiet", action="store_true", help="no status and no sentences")
    command.set_defaults(handler=_compare)


def _compare(options: argparse.Namespace) -> int:
    if "-" in options.methods:
        options.methods.remove("-")
        options.stdin = "-"
    request = request_of(options, "plain")
    lanes = lanes_of([replace(request, method=method) for method in options.methods])
    if options.trace is not None:
        check_writable(options.trace)
    tell = _teller(show=not options.quiet and sys.stderr.isatty())
    with interruptible(tell=not options.quiet) as stop:
        ticks = compare_stream(lanes, repeats=options.repeats, stop=stop, status=tell)
        comparison = Comparison.of(lanes, ticks)
    tell("")
    if not stop.is_set():
        check_any(comparison)
    if options.trace is not None:
        _save(comparison, Path(options.trace))
    if options.json:
        print(json.dumps(comparison.to_dict(), indent=2))
    else:
        print(comparison_text(comparison, sentences=not options.quiet))
    return INTERRUPTED if stop.is_set() else DONE


def _teller(*, show: bool) -> Callable[[str], None]:
    """Overwrites one status line on a terminal; an empty text clears it."""

    def tell(text: str) -> None:
        if show:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    return tell


def _save(comparison: Comparison, path: Path) -> None:
    """Write the shown run of each method beside ``path``: ``run.json`` -> ``run-plain.json``."""
    for row in comparison.rows:
        name = "".join(sign if sign.isalnum() or sign == "_" else "-" for sign in row.lane.label)
        place = path.with_name(f"{path.stem}-{name.rstrip('-')}{path.suffix}")
        try:
            row.trace.save(place)
        except OSError as error:
            raise SettingError(f"{str(place)!r} cannot be written ({error})") from None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SettingError(f"repeats must be a whole number, got {text!r}") from None
