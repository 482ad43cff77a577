"""The page: lays out, wires, and turns events into messages; it decodes nothing itself.

The page reads ``specviz.runs`` and pure code only. It never imports torch, transformers, the
engine or the model loader, so that it opens on recorded runs where torch is missing.
"""
