"""Runs to take away: a page in one file, a time line, a link. Pure functions of a trace.

What is written here opens without specviz, without a network and without trust in the trace: no
text of a run is ever markup or code. This package must not know torch, Gradio or the engine; it
draws with the viewer's own scripts and messages, so an exported page looks like the page.
"""

from specviz.export.html import export_html
from specviz.export.link import Link, parse_query, settings_query
from specviz.export.timeline import export_timeline

__all__ = ["Link", "export_html", "export_timeline", "parse_query", "settings_query"]
