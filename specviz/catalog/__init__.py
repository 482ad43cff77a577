"""The models that specviz knows: the table, their files, loading them, and which fit together.

``entries``, ``folders`` and ``fit`` need only the standard library; ``locate`` may use the hub's
client, and ``load`` is the only place where weights are read.
"""
