"""Recorded runs: write, read, check, replay, compare. Format ``specviz.trace``, version 1."""

from specviz.trace.check import check
from specviz.trace.compare import baseline_of, first_difference, verdict_text
from specviz.trace.record import Trace
from specviz.trace.replay import paced
from specviz.trace.schema import FORMAT, VERSION, json_schema
from specviz.trace.texts import split_texts

__all__ = [
    "FORMAT",
    "VERSION",
    "Trace",
    "baseline_of",
    "check",
    "first_difference",
    "json_schema",
    "paced",
    "split_texts",
    "verdict_text",
]
