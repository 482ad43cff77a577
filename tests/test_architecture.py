"""Who may import whom, how large a file may be, and which names are not used here.

The rules are those of the house style; each is checked on the syntax tree, so nothing is imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "specviz"
MAX_LINES = 300
MAX_FUNCTION_LINES, MAX_LAYOUT_LINES = 50, 80
BANNED_FILES = {"utils.py", "common.py", "fns.py", "helpers.py", "misc.py"}

BASE = ("specviz.errors", "specviz.config", "specviz.events", "specviz.version")
LISTS = tuple(
    f"specviz.catalog.{name}"
    for name in ("entries", "examples", "folders", "locate", "pairing", "menu")
)
LOADER = tuple(
    f"specviz.catalog.{name}" for name in ("load", "threads", "mtp", "devices", "digests")
)
PLANNING = ("specviz.method_cards", "specviz.plans", "specviz.turns")
TEXTS = ("specviz.attach", "specviz.token_text")
LIVE = ("specviz.live", "specviz.header")
PURE = (*BASE, "specviz.metrics", "specviz.trace")
COMMANDS = ("specviz.runs", "specviz.comparison", "specviz.bench", "specviz.export")
SHOWN = tuple(f"specviz.{name}" for name in ("export", "render", "runs", "comparison", "sweep"))
MESSAGES = tuple(
    f"specviz.ui.{name}" for name in ("protocol", "registry", "scripts", "shelf")
)  # the pure part


@dataclass(frozen=True)
class Rule:
    """What modules with a prefix may import: parts of specviz, and packages outside the stdlib."""

    prefix: str
    ours: tuple[str, ...]
    others: tuple[str, ...] = ()


# The first rule whose prefix fits a module is the one that holds for it.
RULES = (
    Rule("specviz.errors", ()),
    Rule("specviz.events", ()),
    Rule("specviz.version", ()),
    Rule("specviz.config", ("specviz.errors",)),
    Rule("specviz.metrics", (*BASE, "specviz.metrics")),
    Rule("specviz.trace", PURE),
    Rule("specviz.catalog.locate", (*BASE, *LISTS), ("huggingface_hub",)),
    *(Rule(name, (*BASE, *LISTS)) for name in LISTS),
    *(
        Rule(
            name,
            (*BASE, *LISTS, *LOADER, "specviz.engine.language_model"),
            ("torch", "transformers"),
        )
        for name in LOADER
    ),
    Rule("specviz.catalog", ()),
    Rule("specviz.render.figures", (*PURE, "specviz.render"), ("plotly",)),
    Rule("specviz.render", (*PURE, "specviz.render")),
    Rule("specviz.engine", (*BASE, "specviz.engine"), ("torch", "transformers")),
    Rule("specviz.zoo.speed", (*BASE, "specviz.runs", "specviz.comparison", "specviz.zoo")),
    Rule(
        "specviz.zoo.near_ties",
        (*BASE, "specviz.catalog.examples", "specviz.zoo"),
        ("torch", "transformers"),
    ),
    Rule(
        "specviz.zoo",
        (*BASE, "specviz.zoo"),
        ("torch", "transformers", "tokenizers", "safetensors", "numpy"),
    ),
    *(Rule(name, (*BASE, *LISTS, *PLANNING)) for name in PLANNING),
    *(Rule(name, (*BASE, *TEXTS)) for name in TEXTS),
    *(
        Rule(
            name,
            (*BASE, *LISTS, *LOADER, *PLANNING, *TEXTS, *LIVE, "specviz.engine"),
            ("torch", "transformers"),
        )
        for name in LIVE
    ),
    Rule("specviz.runs", (*PURE, *LISTS, *PLANNING, *LIVE)),
    Rule(
        "specviz.bench",
        (*PURE, *LISTS, *PLANNING, *LIVE, "specviz.runs", "specviz.engine", "specviz.bench"),
        ("torch", "transformers"),
    ),
    Rule("specviz.sweep", PURE),
    Rule("specviz.record", (*PURE, "specviz.runs")),
    Rule("specviz.comparison", (*PURE, *PLANNING, "specviz.runs", "specviz.comparison")),
    Rule("specviz.export", (*PURE, "specviz.render", *MESSAGES, "specviz.export")),
    Rule("specviz.ui.zero_gpu", (*PURE, *SHOWN, "specviz.ui"), ("gradio", "spaces")),
    Rule(
        "specviz.ui",
        (*PURE, *SHOWN, "specviz.ui"),
        ("gradio", "plotly"),
    ),
    Rule("specviz.cli", (*PURE, "specviz.render", *COMMANDS, "specviz.cli", "specviz.ui")),
    Rule("specviz.readme", (*BASE, "specviz.method_cards")),
    Rule("specviz.__main__", ("specviz.cli",)),
    Rule("specviz", (*PURE, "specviz.runs", "specviz.comparison")),
    Rule("app", ("specviz.ui", "specviz.config", "specviz.cli")),
)

# Only where the import stands inside a function may these be imported from there.
LAZY = {
    "specviz.runs": ("specviz.live",),
    "specviz": ("specviz.runs", "specviz.comparison"),
    "specviz.cli": ("specviz.ui",),
    "specviz.ui.zero_gpu": ("spaces",),
    "specviz.cli_bench": ("specviz.bench",),
    "specviz.catalog.locate": ("huggingface_hub",),
}


@dataclass(frozen=True)
class Import:
    """One imported module, and whether a function imports it."""

    name: str
    inside: bool
    line: int


def sources() -> list[Path]:
    return sorted([*PACKAGE.rglob("*.py"), *ROOT.glob("app.py")])


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def covers(prefix: str, name: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def imports_of(path: Path) -> Iterator[Import]:
    """Every import; ``from specviz import runs`` counts as ``specviz.runs``."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    yield from _imports(tree, inside=False)


def _imports(node: ast.AST, *, inside: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        deeper = inside or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef))
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(alias.name, inside, child.lineno)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"relative import on line {child.lineno}"
            base = child.module or ""
            for alias in child.names:
                full = f"{base}.{alias.name}"
                yield Import(full if is_ours(full) else base, inside, child.lineno)
        elif not _is_type_checking(child):
            yield from _imports(child, inside=deeper)


def _is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def is_ours(name: str) -> bool:
    """Whether a dotted name is a module of this project."""
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def rule_of(name: str) -> Rule:
    if name == "specviz":
        return next(rule for rule in RULES if rule.prefix == "specviz")
    for rule in RULES:
        if rule.prefix != "specviz" and covers(rule.prefix, name):
            return rule
        if rule.prefix == "specviz.cli" and name.startswith("specviz.cli_"):
            return rule
    raise AssertionError(f"no import rule for {name}; add one to the table")


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_module_imports_only_what_its_row_allows(path: Path) -> None:
    name = module_name(path)
    rule = rule_of(name)
    for found in imports_of(path):
        top = found.name.split(".")[0]
        if top in sys.stdlib_module_names:
            continue
        good = any(covers(prefix, found.name) for prefix in (*rule.ours, *rule.others))
        good = good or (rule.prefix == "specviz.cli" and found.name.startswith("specviz.cli_"))
        good = good or (found.name == "specviz" and top == "specviz")
        assert good, f"{name}:{found.line} may not import {found.name}"
        lazy = any(covers(prefix, found.name) for prefix in LAZY.get(name, ()))
        assert found.inside or not lazy, f"{name}:{found.line}: import {found.name} in a function"


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_module_is_small_and_has_a_docstring(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text)), f"{path.name} needs a docstring"
    assert text.count("\n") <= MAX_LINES, f"{path.name} has {text.count(chr(10))} lines"
    assert path.name not in BANNED_FILES


@pytest.mark.parametrize("path", sources(), ids=module_name)
def test_functions_are_short(path: Path) -> None:
    limit = MAX_LAYOUT_LINES if "ui" in path.parts else MAX_FUNCTION_LINES
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= limit, f"{path.name}: {node.name} has {lines} lines"


@pytest.mark.parametrize(
    "path", [p for p in sources() if {"engine", "metrics", "trace"} & set(p.parts)], ids=module_name
)
def test_distributions_have_names_rather_than_letters(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        name = node.id if isinstance(node, ast.Name) else getattr(node, "arg", None)
        assert name not in ("p", "q"), (
            f"{path.name}:{getattr(node, 'lineno', '?')} names a {name!r}"
        )


def test_nobody_imports_the_zoo() -> None:
    for path in sources():
        if "zoo" in path.parts:
            continue
        zoo = [found.name for found in imports_of(path) if covers("specviz.zoo", found.name)]
        assert not zoo, f"{path.name} imports {zoo}"


def test_the_top_level_holds_only_what_was_agreed() -> None:
    allowed = {
        "app.py", "requirements.txt", "specviz", "tests", "assets", "README.md", "CHANGELOG.md",
        "BENCHMARKS.md", "pyproject.toml", "shared",
    }  # fmt: skip
    ignored = {"build", "dist", "screenshots", "node_modules"}
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith((".", "__"))}
    assert found <= allowed | ignored
