"""The decoding engine: models in, frozen events out. Start reading at ``decode.py``."""

from specviz.engine.drafters import Method, methods

__all__ = ["Method", "methods"]
