"""Every sentence with which the program refuses something, read from its source.

A sentence is a text with a mark in each place whose value is known only when it is raised. Helper
functions of the same module, local names and choices between texts are followed.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from specviz import errors

SOURCE = Path(__file__).parents[2] / "specviz"
PLACE = "\0"
WORDS = ("hint", "allowed")  # parameters that are part of a sentence; others are values
ERRORS = {name for name in vars(errors) if name.endswith("Error")}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Names = Mapping[str, list[ast.expr]]


@dataclass(frozen=True)
class Refusal:
    """One sentence: where it is written, and its text with ``PLACE`` for values."""

    path: str
    line: int
    text: str


class Reader:
    """Reads the sentences of one module.

    Args:
        tree: the module.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.all = [node for node in ast.walk(tree) if isinstance(node, Function)]
        self.functions = {function.name: function for function in self.all}

    def raised(self, kinds: Container[str] = ERRORS) -> Iterator[tuple[int, str]]:
        """(line, text) of every error that is made, each text once per place."""
        for function in (self.tree, *self.all):
            for node in own_nodes(function):
                if isinstance(node, ast.Call) and name_of(node.func) in kinds and node.args:
                    names = self.names(function)
                    for text in dict.fromkeys(self.texts(node.args[0], names)):
                        yield node.lineno, text

    def returned(self, name: str) -> list[str]:
        """Texts that a function returns, alone or as the last of a tuple."""
        function = self.functions[name]
        found = []
        for node in ast.walk(function):
            value = node.value if isinstance(node, ast.Return) else None
            if isinstance(value, ast.Tuple):
                value = value.elts[-1]
            if value is not None:
                found += self.texts(value, self.names(function))
        return [text for text in dict.fromkeys(found) if text.strip(PLACE)]

    def names(self, function: ast.AST) -> Names:
        """What each name of a function can be; of parameters only those that are words."""
        found: dict[str, list[ast.expr]] = {}
        if isinstance(function, Function):
            found = {name: self.handed(function, name) for name in WORDS}
        for node in own_nodes(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                found.setdefault(node.targets[0].id, []).append(node.value)
        return {name: values for name, values in found.items() if values}

    def handed(self, function: Function, name: str) -> list[ast.expr]:
        """What this module hands to a parameter of a function, its default included."""
        arguments = function.args
        places = [argument.arg for argument in arguments.args]
        keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        found = [value for argument, value in keywords if argument.arg == name and value]
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and name_of(node.func) == function.name:
                given = dict(zip(places, node.args, strict=False))
                given |= {keyword.arg or "": keyword.value for keyword in node.keywords}
                found += [given[name]] if name in given else []
        return [value for value in found if isinstance(value, ast.Constant)]

    def texts(self, node: ast.expr, names: Names) -> list[str]:
        """The texts that an expression can be."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else []
        if isinstance(node, ast.JoinedStr):
            return joined([self.part(value, names) for value in node.values])
        if isinstance(node, ast.IfExp):
            return self.chosen(node, names)
        if isinstance(node, ast.BoolOp):
            return [text for value in node.values for text in self.texts(value, names)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return joined([self.texts(node.left, names), self.texts(node.right, names)])
        if isinstance(node, ast.Name) and node.id in names:
            return [text for value in names[node.id] for text in self.named(node.id, value, names)]
        if isinstance(node, ast.Call) and name_of(node.func) in self.functions:
            return self.called(node, names)
        return [PLACE]

    def named(self, name: str, value: ast.expr, names: Names) -> list[str]:
        """The texts of one value of a name; where it builds on itself, on its other values."""
        others = [other for other in names[name] if other is not value]
        rest = {key: values for key, values in names.items() if key != name}
        return self.texts(value, {**rest, name: others} if others else rest)

    def chosen(self, node: ast.IfExp, names: Names) -> list[str]:
        """The texts of both branches; ``x if x else y`` takes no empty x into the first."""
        if not isinstance(node.test, ast.Name) or node.test.id not in names:
            return self.texts(node.body, names) + self.texts(node.orelse, names)
        name, found = node.test.id, []
        for value in names[name]:
            known = {**names, name: [value]}
            if not isinstance(value, ast.Constant) or value.value:
                found += self.texts(node.body, known)
            if not isinstance(value, ast.Constant) or not value.value:
                found += self.texts(node.orelse, known)
        return found

    def part(self, value: ast.expr, names: Names) -> list[str]:
        """The texts of one part of an f-string; what is formatted is a value."""
        if not isinstance(value, ast.FormattedValue):
            return self.texts(value, names)
        plain = value.conversion == -1 and value.format_spec is None
        return (self.texts(value.value, names) if plain else []) or [PLACE]

    def called(self, node: ast.Call, names: Names) -> list[str]:
        """The texts of a helper's return values, its texts among the arguments put in."""
        function = self.functions[name_of(node.func)]
        inner = dict(self.names(function))
        for parameter, argument in zip(function.args.args, node.args, strict=False):
            made = self.texts(argument, names)
            inner[parameter.arg] = [ast.Constant(text) for text in made] or [ast.Name("?")]
        values = [n.value for n in ast.walk(function) if isinstance(n, ast.Return)]
        found = [text for value in values if value is not None for text in self.texts(value, inner)]
        return found or [PLACE]


def refusals() -> list[Refusal]:
    """The sentences of all errors of ``specviz.errors``, zoo apart."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if not name.startswith("zoo/"):
            found += [Refusal(name, line, text) for line, text in reader(name).raised()]
    return found


def reasons(path: str, *functions: str) -> list[Refusal]:
    """The texts that functions return, and those of ``ValueError``, to be put into a sentence."""
    read = reader(path)
    found = [
        Refusal(path, read.functions[name].lineno, text)
        for name in functions
        for text in read.returned(name)
    ]
    return found + [Refusal(path, line, text) for line, text in read.raised({"ValueError"})]


def reader(path: str) -> Reader:
    """The reader of a module, named by its path below ``specviz``."""
    return Reader(ast.parse((SOURCE / path).read_text("utf-8")))


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, those of functions in it apart."""
    for node in ast.iter_child_nodes(function):
        if not isinstance(node, Function):
            yield node
            yield from own_nodes(node)


def name_of(node: ast.expr) -> str:
    """``f`` of ``f`` and of ``module.f``."""
    return str(getattr(node, "id", getattr(node, "attr", "")))


def joined(parts: list[list[str]]) -> list[str]:
    """All ways to take one text of each part."""
    return ["".join(chosen).replace(PLACE + "...", PLACE) for chosen in product(*parts)]
