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
    "crypto.keys",
    *("protocol.half_signed", "protocol.messages", "protocol.proposals", "protocol.transitions"),
    *("peer.opening.funding", "peer.opening.handshake", "peer.opening.introduction"),
    *("peer.play.receiving", "peer.shutdown"),
    *("peer.phases.closing", "peer.phases.opening", "peer.phases.playing"),
)
"""The modules of the engine in which the other side is judged."""

_HOOK = "__channelsim_raise__"
_RAISES = re.compile(r"Violation|_violation")
_ID = re.compile(r"CH-[A-Z]+-\d+")


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """A place that raises: the module, the function, and which one in it, counted from 1.

    `rules` are the ids that it may name, as far as its function says; `says` is the detail that
    it gives, as it is written there.
    """

    module: str
    function: str
    number: int
    rules: tuple[str, ...]
    says: str

    @property
    def name(self) -> str:
        """The module, the function, and the number in it."""
        return f"{self.module.split('.')[-1]}.{self.function.split('.')[-1]}/{self.number}"


@cache
def checks() -> tuple[EngineCheck, ...]:
    """All checks of the engine, in the order of its source."""
    return tuple(check for module in MODULES for check in _instrumented(module)[1])


@contextmanager
def left_out(check: EngineCheck, reached: Callable[[], None]) -> Iterator[None]:
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
def _instrumented(name: str) -> tuple[CodeType, tuple[EngineCheck, ...]]:
    """A module's code in which every check asks whether it may raise, and the checks."""
    module = import_module(f"channel.{name}")
    tree = ast.parse(getsource(module))
    found: list[EngineCheck] = []
    for qualname, function in _functions(tree, ""):
        marks = _Marks(function)
        marks.visit(function)
        found += [
            EngineCheck(name, qualname, number, rules, says)
            for number, (rules, says) in enumerate(marks.checks, 1)
        ]
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
        self.checks: list[tuple[tuple[str, ...], str]] = []
        # Where a check raises by a name, it is one of those that the function knows.
        self._known = tuple(dict.fromkeys(_ID.findall(ast.unparse(function))))

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        """The violation is made as before, and raised if the hook says so."""
        source = ast.unparse(node.exc) if node.exc is not None else ""
        if node.exc is None or not _RAISES.search(source):
            return node
        says = [ast.unparse(one) for one in getattr(node.exc, "args", ())[1:2]]
        rules = tuple(_ID.findall(source)) or self._known
        self.checks.append((rules, says[0] if says else source))
        asks = ast.parse(
            f"if True:\n"
            f"    _violation_ = None\n"
            f"    if {_HOOK}({len(self.checks)}, _violation_):\n"
            f"        raise _violation_\n"
        ).body[0]
        assert isinstance(asks, ast.If)
        made, test = asks.body
        assert isinstance(made, ast.Assign)
        assert isinstance(test, ast.If)
        made.value = node.exc
        (raises,) = test.body
        assert isinstance(raises, ast.Raise)
        raises.cause = node.cause
        return asks
