"""The single changes of a module: of a condition, a comparison, a number, a field, a statement.

Each is one of a function of the module or of a method of its classes; nested functions are left.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from inspect import getsource

from channelsim.channel.errors import InvariantError
from scripts.tools.attack_faults.engine_checks import code_of, function_of, functions_in

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
"""Comparisons, and what takes the place of each."""

REPLACING = ("replace", "changed")
"""The functions that copy a record with other fields."""

REACHED = "__channelsim_reached__"
"""The name of the function that a changed statement calls first."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A change of a function, the one at this `index` of its module."""

    module: str
    function: str
    line: int
    change: str
    index: int

    def plant(self, reached: Callable[[], None]) -> None:
        """Change the function in this process for good. `reached` is called by the statement."""
        module = import_module(self.module)
        tree = ast.parse(getsource(module))
        site = [*_sites(tree)][self.index]
        site.change()
        call = ast.Call(ast.Name(REACHED, ast.Load()), [], [])
        kept: list[ast.stmt] = [ast.Pass()] if site.is_dropped else [site.statement]
        site.body[site.at : site.at + 1] = [ast.Expr(call), *kept]
        ast.fix_missing_locations(tree)
        function = function_of(module, self.function)
        if function is None:
            raise InvariantError(f"{self.module} has no function {self.function}")
        code = compile(tree, str(module.__file__), "exec", dont_inherit=True)
        vars(module)[REACHED] = reached
        function.__code__ = code_of(code, self.function)


def mutants_of(name: str) -> Iterator[Mutant]:
    """The changes of a module, in the order of its lines."""
    module = import_module(name)
    for index, site in enumerate(_sites(ast.parse(getsource(module)))):
        function = function_of(module, site.function)
        # A decorator may have put another function in its place.
        if function is not None and function.__code__.co_qualname == site.function:
            yield Mutant(name, site.function, site.line, site.what, index)


@dataclass(frozen=True, slots=True)
class _Site:
    """A place in a syntax tree: a statement of a body, and what changes it, or that it goes."""

    function: str
    body: list[ast.stmt]
    at: int
    line: int
    what: str
    change: Callable[[], None]
    is_dropped: bool = False

    @property
    def statement(self) -> ast.stmt:
        """The statement."""
        return self.body[self.at]


def _sites(tree: ast.Module) -> Iterator[_Site]:
    for name, function in functions_in(tree):
        for body, at in _statements(function.body):
            statement = body[at]
            if _can_be_dropped(statement):
                yield _Site(name, body, at, statement.lineno, "no statement", lambda: None, True)
            for line, what, change in _changes_in(statement):
                yield _Site(name, body, at, line, what, change)


def _statements(body: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int]]:
    for at, statement in enumerate(body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        yield body, at
        for field in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, field, []))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _statements(part.body)


def _can_be_dropped(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(ast.Call() | ast.Await()) | ast.AugAssign() | ast.Continue() | ast.Break():
            return True
        case ast.Assign([ast.Attribute()]):
            return True
        case _:
            return False


Change = tuple[int, str, Callable[[], None]]
"""A line, what is changed there, and a function that changes it."""


def _changes_in(statement: ast.stmt) -> Iterator[Change]:
    """The changes of the expressions of a statement, but not of those that it contains."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        yield from _changes_of(node)
        waiting += [
            child
            for child in ast.iter_child_nodes(node)
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case | ast.Lambda)
        ]


def _changes_of(node: ast.AST) -> Iterator[Change]:
    line = getattr(node, "lineno", 0)
    match node:
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            negated = ast.UnaryOp(ast.Not(), test)
            yield line, "the condition negated", partial(setattr, node, "test", negated)
        case ast.Compare(ops=[one]) if type(one) in COMPARISONS:
            other = COMPARISONS[type(one)]
            what = f"{other.__name__} for {type(one).__name__}"
            yield line, what, partial(setattr, node, "ops", [other()])
        case ast.BoolOp(op=op, values=values):
            swapped = ast.And() if isinstance(op, ast.Or) else ast.Or()
            yield line, "`and` and `or` swapped", partial(setattr, node, "op", swapped)
            if len(values) > 2:
                yield from _without_each(line, "operand", values)
        case ast.Call(func=ast.Name(id=name), keywords=fields) if name in REPLACING:
            yield from _without_each(line, "field", fields)
        case ast.List(elts=items, ctx=ast.Load()) if len(items) > 1:
            yield from _without_each(line, "item", items)
        case ast.BinOp(op=ast.Add()):
            yield line, "`-` for `+`", partial(setattr, node, "op", ast.Sub())
        case ast.BinOp(op=ast.Sub()):
            yield line, "`+` for `-`", partial(setattr, node, "op", ast.Add())
        case ast.Constant(value=bool() as value):
            yield line, f"{not value} for {value}", partial(setattr, node, "value", not value)
        case ast.Constant(value=int() as value):
            yield line, f"{value + 1} for {value}", partial(setattr, node, "value", value + 1)
        case ast.comprehension(ifs=[test, *_]):
            yield test.lineno, "no filter", partial(setattr, node, "ifs", [])
        case _:
            pass


def _without_each(
    line: int, what: str, parts: list[ast.expr] | list[ast.keyword]
) -> Iterator[Change]:
    for number in range(len(parts)):
        yield line, f"without {what} {number + 1}", partial(_remove, parts, number)


def _remove(parts: list[ast.expr] | list[ast.keyword], number: int) -> None:
    del parts[number]
