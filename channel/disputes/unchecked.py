"""Every check of the engine, found by the violation that it raises, and how to leave it out.

A check is a place that raises `Violation`. While one is left out, what it would have refused
goes on as if it had been right. All other code of the engine stays what it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import getsource
from types import CodeType, FunctionType, ModuleType

from channel.errors import InvariantError, Violation

MODULES = (
    *("batch", "funding", "introduction", "keys", "messages", "opening", "peer", "peer_ends"),
    *("proposal", "receive", "shutdown", "signed"),
)
"""The modules of the engine in which the other side is judged."""

_HOOK = "__channelsim_raise__"
_RAISES = re.compile(r"Violation|IllegalMoves|_violation")
_ID = re.compile(r"CH-[A-Z]+-\d+")


@dataclass(frozen=True, slots=True)
class Check:
    """A place that raises: the module, the function, which one in it, and what it may name."""

    module: str
    function: str
    number: int
    rules: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name: rule, function, and a number where there are several."""
        rule = "/".join(self.rules) or "any rule"
        return f"{rule} in {self.module}.{self.function.split('.')[-1]} #{self.number}"


@cache
def checks() -> tuple[Check, ...]:
    """All checks of the engine, in the order of its source."""
    return tuple(check for module in MODULES for check in _instrumented(module)[1])


@contextmanager
def left_out(check: Check, reached: Callable[[], None]) -> Iterator[None]:
    """Leave a check out for as long as this lasts; `reached` is called where it would raise.

    Raises `InvariantError` if the engine has no such check (any more).
    """
    code, known = _instrumented(check.module)
    if check not in known:
        raise InvariantError(f"the engine has no check {check.name}")
    module = import_module(f"channel.{check.module}")
    function = _function(module, check.function)
    if function is None:
        raise InvariantError(f"{check.name}: no such function")

    def refuses(number: int, error: BaseException) -> bool:
        if number != check.number or not isinstance(error, Violation):
            return True
        reached()
        return False

    original = function.__code__
    function.__code__ = _code(code, check.function)
    function.__globals__[_HOOK] = refuses
    try:
        yield
    finally:
        function.__code__ = original
        del function.__globals__[_HOOK]


def _function(module: ModuleType, qualname: str) -> FunctionType | None:
    """A module's function, or a class's, plain or behind a decorator."""
    found: object = module
    for part in qualname.split("."):
        space = vars(found) if found is not None else {}
        found = space.get(part)
        found = getattr(found, "__func__", found)
    return found if isinstance(found, FunctionType) else None


def _code(module: CodeType, qualname: str) -> CodeType:
    """The code object of a function, by its qualified name, out of its module's."""
    waiting = [module]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == qualname:
            return code
        waiting += [one for one in code.co_consts if isinstance(one, CodeType)]
    raise InvariantError(f"{qualname} is not in the instrumented module")


@cache
def _instrumented(name: str) -> tuple[CodeType, tuple[Check, ...]]:
    """A module's code in which every check asks whether it may raise, and the checks."""
    module = import_module(f"channel.{name}")
    tree = ast.parse(getsource(module))
    found: list[Check] = []
    for qualname, function in _functions(tree, ""):
        marks = _Marks(function)
        marks.visit(function)
        found += [Check(name, qualname, at, rules) for at, rules in enumerate(marks.rules)]
    ast.fix_missing_locations(tree)
    return compile(tree, f"{name} (instrumented)", "exec", dont_inherit=True), tuple(found)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, but no nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")


class _Marks(ast.NodeTransformer):
    """Puts a question in front of every check of one function."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.rules: list[tuple[str, ...]] = []
        # Where a check raises by a name, it is one of those that the function knows.
        self._known = tuple(dict.fromkeys(_ID.findall(ast.unparse(function))))

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        if node.exc is None or not _RAISES.search(ast.unparse(node.exc)):
            return node
        own = tuple(_ID.findall(ast.unparse(node.exc)))
        self.rules.append(own or self._known)
        asks = ast.parse(
            f"_violation_ = X\nif {_HOOK}({len(self.rules) - 1}, _violation_):\n    raise Y"
        )
        assign, test = asks.body
        assert isinstance(assign, ast.Assign)
        assert isinstance(test, ast.If)
        assign.value = node.exc
        test.body = [ast.Raise(ast.Name("_violation_", ast.Load()), node.cause)]
        return ast.If(ast.Constant(True), [assign, test], [])
