"""``export``: a saved run as a page in one file, or as a time line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from specviz.errors import SettingError
from specviz.export import export_html, export_timeline
from specviz.trace import Trace, check
from specviz.trace.store import replace_file

DONE = 0
FORMS: dict[str, tuple[Callable[[Trace], str], str]] = {
    "html": (export_html, "a page that opens from disk, without a server or a network"),
    "timeline": (export_timeline, "Chrome trace events, for Perfetto or chrome://tracing"),
}


def add_export(commands: Any) -> None:
    """``export``: a saved run in another form."""
    command = commands.add_parser("export", help="a saved run as a page", allow_abbrev=False)
    command.add_argument("trace", metavar="TRACE", help="a file written by --trace or the page")
    for name, (_, about) in FORMS.items():
        command.add_argument(f"--{name}", metavar="FILE", help=f"{about} (- for stdout)")
    command.set_defaults(handler=_export)


def _export(options: argparse.Namespace) -> int:
    wanted = {name: path for name in FORMS if (path := getattr(options, name)) is not None}
    if not wanted or list(wanted.values()).count("-") > 1:
        flags = " or ".join(f"--{name} FILE" for name in FORMS)
        raise SettingError(f"name what to write: {flags}; see: python -m specviz export --help")
    trace = Trace.load(options.trace)
    check(trace)
    told = sys.stderr if "-" in wanted.values() else sys.stdout
    for name, path in wanted.items():
        text = FORMS[name][0](trace)
        _write(text, path)
        if path != "-":
            print(f"wrote {path} ({_size(len(text.encode()))})", file=told)
    return DONE


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e3:.1f} kB" if num_bytes < 1e6 else f"{num_bytes / 1e6:.1f} MB"


def _write(text: str, path: str) -> None:
    if path == "-":
        sys.stdout.write(text)
        return
    try:
        target = Path(path)
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")  # a pipe or a device cannot be replaced
        else:
            replace_file(target.resolve(), text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SettingError(f"the file {path!r} cannot be written ({error}); name another") from None
