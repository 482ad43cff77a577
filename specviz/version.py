"""The version of specviz, alone in a module so that nothing heavy is imported for it."""

__version__ = "0.1.0"
