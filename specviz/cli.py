"""The command line: parses options, calls ``specviz.runs``, prints. Nothing is decoded here.

Exit status: 0 done; 2 refused or misused, with one sentence on stderr; 1 a fault of ours;
130 interrupted. Each command is a function that adds its own parser, so a new command is one more
entry in ``COMMANDS``.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from specviz.cli_bench import add_bench
from specviz.cli_compare import add_compare
from specviz.cli_export import add_export
from specviz.cli_lists import add_methods, add_models
from specviz.cli_run import add_replay, add_run
from specviz.errors import SettingError, SpecvizError
from specviz.version import __version__

DONE, FAULT, REFUSED, INTERRUPTED = 0, 1, 2, 130
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 7860

Subparsers = Any  # argparse gives this type no public name


class Parser(argparse.ArgumentParser):
    """A parser that reports misuse as one sentence, like every other refusal."""

    def error(self, message: str) -> NoReturn:
        """Refuse with one sentence."""
        raise SettingError(f"{message}; see: {self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    _prepare_streams()
    try:
        options = parser().parse_args(argv)
        status: int = options.handler(options)
        sys.stdout.flush()
        return status
    except SpecvizError as error:
        print(f"specviz: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("specviz: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return FAULT
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return _fault()
        _drop_output()
        print(f"specviz: the output cannot be written ({error.strerror})", file=sys.stderr)
        return REFUSED
    except Exception:
        return _fault()


def _fault() -> int:
    """Show what went wrong on our side."""
    traceback.print_exc()
    print("specviz: this is a fault of specviz; please report it", file=sys.stderr)
    return FAULT


def _drop_output() -> None:
    """Let Python flush what is left of stdout without failing again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def parser() -> Parser:
    """The whole command line."""
    top = Parser(
        prog="python -m specviz",
        description="Assisted (speculative) decoding, shown step by step.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"specviz {__version__}")
    top.set_defaults(handler=_serve, host=DEFAULT_HOST, port=DEFAULT_PORT, share=False)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for add in COMMANDS:
        add(commands)
    return top


def add_serve(commands: Subparsers) -> None:
    """``serve``: the page."""
    command = commands.add_parser("serve", help="open the app (the default)", allow_abbrev=False)
    command.add_argument("--host", default=DEFAULT_HOST, help="address to listen on")
    command.add_argument("--port", default=DEFAULT_PORT, type=_port, help="port to listen on")
    command.add_argument("--share", action="store_true", help="ask Gradio for a public link")
    command.set_defaults(handler=_serve)


COMMANDS: tuple[Callable[[Subparsers], None], ...] = (
    add_serve,
    add_methods,
    add_models,
    add_run,
    add_compare,
    add_replay,
    add_export,
    add_bench,
)


def _serve(options: argparse.Namespace) -> int:
    from specviz.ui.build import launch

    try:
        launch(host=options.host, port=options.port, share=options.share)
    except OSError as error:
        raise SettingError(
            f"the app cannot listen on port {options.port} of {options.host} "
            f"({str(error).split('. ')[0]}); choose another one (--port)"
        ) from None
    return DONE


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        port = -1
    if not 0 <= port <= 65535:
        raise SettingError(f"port must be a whole number from 0 to 65535, got {text!r}")
    return port


def _prepare_streams() -> None:
    """Never fail on a closed stream, nor on a character that the terminal's encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller, as in ``>&-``
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open until the end)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
