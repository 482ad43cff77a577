"""``run`` and ``replay``: decode once and print, or print a run that was saved."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specviz.cli_stop import interruptible
from specviz.config import SCHEDULES, DecodeConfig, RunRequest
from specviz.errors import PromptError, SettingError
from specviz.events import Event, Finished, Prefilled, Verified
from specviz.metrics import speed_verdict
from specviz.metrics.counts import counted
from specviz.render.spans import prompt_spans, step_spans
from specviz.render.step_text import step_report
from specviz.render.text import HEADER, colored_text, legend, run_text
from specviz.render.visible import visible
from specviz.trace import Trace, check, verdict_text

DONE, INTERRUPTED = 0, 130
_DEFAULTS = DecodeConfig()
_NUMBERS = {
    "max_new_tokens": "most tokens to add",
    "gamma": "draft tokens asked for per step, 1 to 16",
    "confidence": "stop drafting after a token with q below this, 0 = off",
    "exit_layer": "layers that draft in early exit (default: the model's)",
    "ngram": "longest n-gram of prompt lookup",
    "ensemble_weight": "weight of the target in an ensemble, between 0 and 1",
    "temperature": "0 = greedy",
    "top_k": "keep the k most likely tokens, 0 = all",
    "top_p": "keep the most likely tokens up to this probability, 1 = all",
    "repetition_penalty": "1 = off",
    "no_repeat_ngram_size": "no n-gram of this size twice, 0 = off",
    "min_new_tokens": "no end before this many new tokens",
    "seed": "start of the random draws",
}
_TEXTS = {
    "target": "catalogue id, hub id or folder of the target (default: target-glm)",
    "draft": "catalogue id, hub id or folder of the draft model (default: the target's)",
    "drafter": "ensemble: the method whose drafts are verified (default: speculative)",
}


def add_run(commands: Any) -> None:
    """``run``: one run."""
    command = commands.add_parser("run", help="decode once and print", allow_abbrev=False)
    command.add_argument("method", metavar="METHOD", help="see: python -m specviz methods")
    add_run_options(command)
    command.add_argument("--baseline", action="store_true", help="decode plainly too and compare")
    command.add_argument("--trace", metavar="FILE", help="write the trace to this file")
    command.add_argument("--json", action="store_true", help="print the trace and nothing else")
    command.add_argument("--quiet", action="store_true", help="no status and no summary")
    command.set_defaults(handler=_run)


def add_run_options(command: argparse.ArgumentParser) -> None:
    """The options of everything that decodes."""
    command.add_argument("-", dest="stdin", action="store_true", help="read the prompt from stdin")
    command.add_argument("--prompt", metavar="TEXT", help="the text to continue")
    command.add_argument("--prompt-file", metavar="FILE", help="read the prompt from this file")
    command.add_argument("--chat", action="store_true", help="apply the chat template")
    for name, text in _TEXTS.items():
        command.add_argument(_flag(name), metavar="ID", help=text)
    for name, text in _NUMBERS.items():
        default = getattr(_DEFAULTS, name)
        shown = "" if default is None else f" (default {default})"
        command.add_argument(_flag(name), type=_number, metavar="N", help=text + shown)
    command.add_argument("--schedule", help=f"one of {', '.join(SCHEDULES)}")
    command.add_argument("--stop", action="append", metavar="TEXT", help="end at this text")
    command.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:1, mps")
    command.add_argument("--dtype", default="auto", help="auto, float32, bfloat16, float16 …")


def request_of(options: argparse.Namespace, method: str) -> RunRequest:
    """The request that the options describe.

    Raises:
        SpecvizError: a value is not allowed, or there is not exactly one prompt.
    """
    from specviz import runs

    names = [*_NUMBERS, *_TEXTS, "schedule"]
    given = {name: getattr(options, name) for name in names}
    chosen = {name: value for name, value in given.items() if value is not None}
    if options.stop:
        chosen["stop"] = tuple(options.stop)
    fixed = {name: getattr(options, name) for name in ("chat", "device", "dtype")}
    return runs.request_of(method, _prompt(options), **fixed, **chosen)


def add_replay(commands: Any) -> None:
    """``replay``: a saved run as text."""
    command = commands.add_parser("replay", help="print a saved run", allow_abbrev=False)
    command.add_argument("trace", metavar="TRACE", help="a file written by --trace or the page")
    command.add_argument("--step", type=_number, metavar="N", help="one step, in full (0 = first)")
    command.set_defaults(handler=_replay)


def _run(options: argparse.Namespace) -> int:
    from specviz import runs

    request = request_of(options, options.method)
    if options.trace is not None:
        check_writable(options.trace)
    printer = _Printer(show=not options.json, color=_color(), quiet=options.quiet)
    with interruptible(tell=not options.quiet) as stop:
        trace: Trace | None
        if options.baseline:
            trace = runs.run(request, baseline=True, stop=stop, status=printer.status)
            for event in trace.events():
                printer.event(event)
        else:
            trace = _record(runs.stream(request, stop=stop, status=printer.status), printer)
    printer.end()
    if trace is not None and options.trace is not None:
        _save(trace, options.trace)
    if trace is not None and options.json:
        sys.stdout.write(trace.dumps())
    if trace is not None and not options.quiet and not options.json:
        print(_summary(trace), file=sys.stderr)
    return INTERRUPTED if stop.is_set() else DONE


def _record(events: Iterator[Event], printer: _Printer) -> Trace | None:
    """Print a run as it happens; None if it was stopped before it began."""
    seen = []
    for event in events:
        seen.append(event)
        printer.event(event)
    return Trace.from_events(seen) if isinstance(seen[0], Prefilled) else None


class _Printer:
    """Prints the kept text as it comes: in colour on a terminal, exactly as decoded elsewhere."""

    def __init__(self, *, show: bool, color: bool, quiet: bool) -> None:
        self.show, self.color = show, color
        self.tell = not quiet and sys.stderr.isatty()
        self.written = ""
        self.told = False

    def status(self, text: str) -> None:
        """Overwrite the status line on a terminal."""
        if self.tell:
            print(f"\r\x1b[K{text} …", end="", file=sys.stderr, flush=True)
            self.told = True

    def event(self, event: Event) -> None:
        """Print what the event adds to the text."""
        if not self.show:
            return
        if isinstance(event, Prefilled):
            self._clear()
            if self.color and event.header is not None:
                self._write(colored_text(prompt_spans(event.header.prompt_tokens)))
        elif isinstance(event, Verified):
            spans = step_spans(event)
            plain = "".join(span.text for span in spans if span.kept)
            self.written += plain
            self._write(colored_text(spans) if self.color else plain)
        elif isinstance(event, Finished) and event.text.startswith(self.written):
            self._write(event.text[len(self.written) :])

    def end(self) -> None:
        """Finish the line."""
        self._clear()
        if self.show:
            self._write("\n")

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def _clear(self) -> None:
        if self.told:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
            self.told = False


def _replay(options: argparse.Namespace) -> int:
    trace = Trace.load(options.trace)
    check(trace)
    color = _color()
    if options.step is None:
        print(_summary(trace))
        print(legend(color=color), end="\n\n")
        print(f"step  {HEADER}")
        print(run_text(trace.events(), color=color))
        return DONE
    last = len(trace.steps) - 1
    if not isinstance(options.step, int) or not 0 <= options.step <= last:
        raise SettingError(
            f"step must be a whole number from 0 to {last} in this trace, got {options.step!r}"
        )
    print(step_report(trace.steps[options.step], color=color))
    return DONE


def _summary(trace: Trace) -> str:
    document, figures = trace.document, trace.metrics
    rate = figures.get("acceptance_rate")
    seconds = document["timing"]["decode_s"]
    count = len(trace.output_ids)
    parts = [
        visible(str(document["method"]["key"])),  # a file may say anything
        f"{counted(count, 'token')} in {counted(len(trace.steps), 'step')}",
        f"acceptance rate {'–' if rate is None else f'{rate:.0%}'}",
        f"{count / seconds:.1f} tokens/s" if seconds else "no time",
        f"ended by {document['output']['finish_reason']}",
    ]
    if trace.baseline is not None:
        parts += _beside_plain(trace)
    return " · ".join(parts)


def _beside_plain(trace: Trace) -> list[str]:
    assert trace.baseline is not None
    speedup = trace.metrics.get("measured_speedup")
    times = "" if speedup is None else f"{speedup:.2f}x plain decoding, "
    sampled = bool(trace.document["request"].get("temperature"))
    return [times + speed_verdict(speedup), verdict_text(trace.baseline, sampled)]


def _prompt(options: argparse.Namespace) -> str:
    given = [options.prompt is not None, options.prompt_file is not None, options.stdin]
    if sum(given) != 1:
        raise PromptError(
            f"exactly one prompt is needed, got {sum(given)}; use --prompt TEXT, "
            "--prompt-file FILE, or - to read it from stdin"
        )
    if options.prompt is not None:
        return str(options.prompt)
    try:
        path = options.prompt_file
        data = sys.stdin.buffer.read() if path is None else Path(path).read_bytes()
        text = data.decode("utf-8")
    except (OSError, ValueError) as error:
        raise PromptError(f"the prompt cannot be read ({error}); it must be UTF-8 text") from None
    return text.removesuffix("\n")


def check_writable(name: str) -> None:
    """Refuse, before anything runs, a file that cannot be written.

    Raises:
        SettingError: it names no file, or one in a folder that cannot be written to.
    """
    try:
        path = Path(name)
        folder = path.resolve().parent
        good = not path.is_dir() and folder.is_dir()
        good = good and os.access(path if path.exists() else folder, os.W_OK)
    except (OSError, ValueError):  # what no file can be called
        good = False
    if not good:
        raise SettingError(f"the trace cannot be written to {name!r}; name a file")


def _save(trace: Trace, path: str) -> None:
    try:
        trace.save(path)
    except OSError as error:
        raise SettingError(f"the trace cannot be written to {path!r} ({error})") from None


def _number(text: str) -> int | float | str:
    """A number where the text is one; the settings themselves say what is allowed."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _color() -> bool:
    return sys.stdout.isatty()
