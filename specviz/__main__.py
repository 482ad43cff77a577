"""``python -m specviz``: see ``specviz.cli``."""

from specviz.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
