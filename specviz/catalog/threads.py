"""How many threads a model decodes fastest with on this machine: measured, never assumed.

Tiny models run fastest on one thread, large ones on all; on a busy machine the wrong choice costs
a factor of ten. The measurement is short and happens once, when the model is loaded. Threads wait
for the slowest of them: where all are hardly faster than one, the worker, the server or a browser
on the same machine makes them slower at once, so they are taken only for a clear gain.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from specviz.engine.language_model import LanguageModel

ALL_THREADS = (
    torch.get_num_threads()
)  # as the process started; a run in another thread may lower it
_WIDTHS = (1, 6)  # one plain step and one verification of five drafts
_MAX_ROUNDS = 6
_MAX_SECONDS = 1.0  # for all rounds of a model
_HOPELESS = 2.0  # times slower than one thread: more threads are not measured any further
_LOST = 5.0  # the same for a first pass, which also starts the threads
_WORTH_IT = 1.25  # times faster than one thread: less is lost when the page needs a core, too
_TINY = 50_000_000  # parameters; smaller models are checked on one thread before the measurement


@dataclass(frozen=True, slots=True)
class ThreadChoice:
    """Result of the measurement: ``seconds`` of one forward of 1 plus one of 6 positions."""

    num_threads: int
    seconds: dict[int, float]

    @property
    def sentence(self) -> str:
        """The choice and its figures, for provenance and status."""
        figures = ", ".join(f"{n}: {1000 * s:.1f} ms" for n, s in self.seconds.items())
        rule = f", taken where {_WORTH_IT} times as fast" if len(self.seconds) > 1 else ""
        return f"{self.num_threads} thread(s) (measured {figures}{rule})"


@contextmanager
def few_threads(module: torch.nn.Module) -> Iterator[None]:
    """One thread for a tiny model until its number is measured: on a busy machine, threads wait."""
    before = torch.get_num_threads()
    if sum(parameter.numel() for parameter in module.parameters()) < _TINY:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def choose_threads(model: LanguageModel, all_threads: int = ALL_THREADS) -> ThreadChoice | None:
    """Measure one thread against all and set ``model.num_threads``; None off the CPU."""
    if model.device.type != "cpu":
        return None
    before = torch.get_num_threads()
    try:
        seconds = _interleaved(_Probe(model), sorted({1, all_threads}))
    finally:
        torch.set_num_threads(before)
    best = max(seconds) if _WORTH_IT * seconds[max(seconds)] <= seconds[1] else 1
    model.num_threads = best
    return ThreadChoice(best, seconds)


class _Probe:
    """Times one forward of each width on a number of threads, each time on an empty cache."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._ids = [(3 + 5 * at) % model.vocab_size for at in range(max(_WIDTHS))]

    @torch.inference_mode()
    def seconds(self, count: int) -> float:
        torch.set_num_threads(count)
        cache = self._model.new_cache()
        begin = time.perf_counter()
        for width in _WIDTHS:
            self._model.forward(self._ids[:width], cache, keep=width)
        return time.perf_counter() - begin


def _interleaved(probe: _Probe, counts: list[int]) -> dict[int, float]:
    """Best time of each number of threads; they take turns, so a busy moment hits all alike."""
    start = time.perf_counter()
    best = {count: probe.seconds(count) for count in counts}
    one, bar = counts[0], _LOST  # a first pass also warms up and starts the threads
    for _ in range(_MAX_ROUNDS):
        for count in counts:
            if count == one or best[count] <= bar * best[one]:
                best[count] = min(best[count], probe.seconds(count))
        bar = _HOPELESS
        if time.perf_counter() - start > _MAX_SECONDS:
            break
    return best
