"""The page's own benchmark: how much of the browser it takes, and how late it is.

It asserts nothing: speed depends on the machine and on what else runs there.
"""
