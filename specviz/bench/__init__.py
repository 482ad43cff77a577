"""The benchmark: each method beside ``transformers.generate()`` and beside bare forward passes.

In one process, interleaved, on the same prompts with the same draft length, four things are timed:

- *ours*: a run as users get it, from the prompt's ids to events with texts;
- *generate*: the same method of Transformers, its ids compared with ours;
- *forwards*: our run's forward passes, called again and nothing else: the limit of our own path;
- *modules*: the same forwards through Transformers' own modules, and nothing else: the limit of
  any program that calls these modules.

Each ratio is taken within a round, so that a slow minute of the machine cancels.
"""

from specviz.bench.measure import bench
from specviz.bench.report import document_of, report_text, write_markdown
from specviz.bench.result import Result, Seconds

__all__ = ["Result", "Seconds", "bench", "document_of", "report_text", "write_markdown"]
