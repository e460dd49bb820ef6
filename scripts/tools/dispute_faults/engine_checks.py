"""The checks of the engine, each of which can be left out.

A check is a statement that raises `Violation`. While it is skipped, the engine accepts what it
would have refused. All other code of the engine stays as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import getsource
from types import CodeType, FunctionType, ModuleType

from channelsim.channel.errors import InvariantError, Violation
from scripts.tools.attack_faults.planting import Planting

MODULES = (
    "crypto.keys",
    *("protocol.half_signed", "protocol.messages", "protocol.proposals", "protocol.transitions"),
    *("peer.opening.funding", "peer.opening.handshake", "peer.opening.introduction"),
    *("peer.play.receiving", "peer.shutdown"),
    *("peer.phases.closing", "peer.phases.opening", "peer.phases.playing"),
    "peer.phases.resuming",
)
"""The modules of the engine that check the other side's messages."""

_HOOK = "__channelsim_raise__"
_RAISES = re.compile(r"Violation|_violation")
_ID = re.compile(r"CH-[A-Z]+-\d+")


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """A statement that raises: its module, its function, and its number there, from 1.

    `rules` are the ids that it may name, as far as its function shows; `says` is the source of its
    detail.
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


def skips(check: EngineCheck) -> Planting:
    """Skip a check."""
    return lambda stack, reach: stack.enter_context(skipped(check, reach.mark))


@contextmanager
def skipped(check: EngineCheck, reached: Callable[[], None]) -> Iterator[None]:
    """Skip a check in this context; `reached` is called where it would raise.

    Raises `InvariantError` if the engine has no such check.
    """
    code, known = _instrumented(check.module)
    if check not in known:
        raise InvariantError(f"the engine has no check {check.name}")
    module = import_module(f"channelsim.channel.{check.module}")
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


@contextmanager
def unchecked(rule: str, reached: Callable[[], None]) -> Iterator[None]:
    """Check nothing by this rule of the channel in this context; `reached` as for `skipped`."""

    def refuses(number: int, error: BaseException) -> bool:
        if not isinstance(error, Violation) or error.rule != rule:
            return True
        reached()
        return False

    with ExitStack() as stack:
        for name in MODULES:
            code, known = _instrumented(name)
            module = import_module(f"channelsim.channel.{name}")
            for qualname in dict.fromkeys(check.function for check in known):
                function = _function(module, qualname)
                if function is None:
                    raise InvariantError(f"{name} has no function {qualname}")
                stack.callback(setattr, function, "__code__", function.__code__)
                function.__code__ = _code(code, qualname)
            vars(module)[_HOOK] = refuses
            stack.callback(vars(module).pop, _HOOK)
        yield


def _function(module: ModuleType, qualname: str) -> FunctionType | None:
    """A function of a module or of a class, plain or decorated; None if there is none."""
    part: object = module
    for name in qualname.split("."):
        part = vars(part).get(name) if part is not None else None
        part = getattr(part, "__func__", part)
    return part if isinstance(part, FunctionType) else None


def _code(module: CodeType, qualname: str) -> CodeType:
    """The code object of a function, found by its qualified name in its module's."""
    waiting = [module]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == qualname:
            return code
        waiting += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    raise InvariantError(f"{qualname} is not in the instrumented module")


@cache
def _instrumented(name: str) -> tuple[CodeType, tuple[EngineCheck, ...]]:
    """A module's code in which a hook decides whether each check raises, and the checks."""
    module = import_module(f"channelsim.channel.{name}")
    tree = ast.parse(getsource(module))
    known: list[EngineCheck] = []
    for qualname, function in _functions(tree, ""):
        hooks = _Hooks(function)
        hooks.visit(function)
        known += [
            EngineCheck(name, qualname, number, rules, says)
            for number, (rules, says) in enumerate(hooks.checks, 1)
        ]
    ast.fix_missing_locations(tree)
    return compile(tree, f"{name} (instrumented)", "exec", dont_inherit=True), tuple(known)


def _functions(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and the methods of its classes, but no nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{prefix}{child.name}.")


class _Hooks(ast.NodeTransformer):
    """Puts the hook in front of every check of one function."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.checks: list[tuple[tuple[str, ...], str]] = []
        # A check that raises by a variable names one of the rules in its function.
        self._known = tuple(dict.fromkeys(_ID.findall(ast.unparse(function))))

    def visit_Raise(self, node: ast.Raise) -> ast.stmt | list[ast.stmt]:
        """Raise the violation only if the hook says so."""
        source = ast.unparse(node.exc) if node.exc is not None else ""
        if node.exc is None or not _RAISES.search(source):
            return node
        says = [ast.unparse(detail) for detail in getattr(node.exc, "args", ())[1:2]]
        rules = tuple(_ID.findall(source)) or self._known
        self.checks.append((rules, says[0] if says else source))
        violation = ast.Name("_violation_", ast.Load())
        assigns = ast.Assign([ast.Name("_violation_", ast.Store())], node.exc)
        raises = ast.Call(
            ast.Name(_HOOK, ast.Load()), [ast.Constant(len(self.checks)), violation], []
        )
        return [assigns, ast.If(raises, [ast.Raise(violation, node.cause)], [])]
