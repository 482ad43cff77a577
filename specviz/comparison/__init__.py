"""Methods beside each other on one prompt: who runs, the interleaved race, and its outcome.

    lanes = lanes_of([RunRequest.of("speculative", prompt), RunRequest.of("early_exit", prompt)])
    ticks = []
    for tick in compare_stream(lanes, repeats=3):   # tick.lane, tick.repeat, tick.event
        ticks.append(tick)                          # a page shows the race from these
    table = Comparison.of(lanes, ticks)             # also of a part of the ticks

``lanes_of`` puts plain decoding first and gives each method that cannot run its reason. Every
figure is a pure function of the events, like everywhere else.
"""

from specviz.comparison.lanes import Lane, lanes_of
from specviz.comparison.race import compare, compare_stream
from specviz.comparison.result import Comparison, Refused, Row, Spread, Tick
from specviz.comparison.text import comparison_text

__all__ = [
    "Comparison",
    "Lane",
    "Refused",
    "Row",
    "Spread",
    "Tick",
    "compare",
    "compare_stream",
    "comparison_text",
    "lanes_of",
]
