"""The checks of the engine, each of which can be left out.

A check is a statement that raises `Violation`. While it is skipped, the engine accepts what it
would have refused. All other code of the engine stays as it is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import import_module
from inspect import getsource
from types import CodeType, FunctionType, ModuleType

from channelsim.channel.errors import InvariantError, Violation

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


@contextmanager
def unchecked(rule: str, reached: Callable[[], None]) -> Iterator[None]:
    """Check nothing by this rule of the channel in this context.

    `reached` is called where a check would raise.
    """

    def refuses(error: BaseException) -> bool:
        if not isinstance(error, Violation) or error.rule != rule:
            return True
        reached()
        return False

    with ExitStack() as stack:
        for name in MODULES:
            code, checking = _instrumented(name)
            module = import_module(f"channelsim.channel.{name}")
            for qualname in checking:
                function = function_of(module, qualname)
                if function is None:
                    raise InvariantError(f"{name} has no function {qualname}")
                stack.callback(setattr, function, "__code__", function.__code__)
                function.__code__ = code_of(code, qualname)
            vars(module)[_HOOK] = refuses
            stack.callback(vars(module).pop, _HOOK)
        yield


def function_of(module: ModuleType, qualname: str) -> FunctionType | None:
    """A function of a module or of a class, plain or decorated; None if there is none."""
    part: object = module
    for name in qualname.split("."):
        part = vars(part).get(name) if part is not None else None
        part = getattr(part, "__func__", part)
    return part if isinstance(part, FunctionType) else None


def code_of(module: CodeType, qualname: str) -> CodeType:
    """The code object of a function, found by its qualified name in its module's."""
    waiting = [module]
    while waiting:
        code = waiting.pop()
        if code.co_qualname == qualname:
            return code
        waiting += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    raise InvariantError(f"{qualname} is not in the instrumented module")


@cache
def _instrumented(name: str) -> tuple[CodeType, tuple[str, ...]]:
    """A module's code in which a hook decides whether each check raises; its checking functions."""
    module = import_module(f"channelsim.channel.{name}")
    tree = ast.parse(getsource(module))
    checking: list[str] = []
    for qualname, function in functions_in(tree):
        hooks = _Hooks()
        hooks.visit(function)
        if hooks.count:
            checking.append(qualname)
    ast.fix_missing_locations(tree)
    return compile(tree, f"{name} (instrumented)", "exec", dont_inherit=True), tuple(checking)


def functions_in(
    node: ast.AST, prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions of a module and the methods of its classes, but no nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + child.name, child
        elif isinstance(child, ast.ClassDef):
            yield from functions_in(child, f"{prefix}{child.name}.")


class _Hooks(ast.NodeTransformer):
    """Puts the hook in front of every check of one function."""

    count = 0

    def visit_Raise(self, node: ast.Raise) -> ast.stmt | list[ast.stmt]:
        """Raise the violation only if the hook says so."""
        source = ast.unparse(node.exc) if node.exc is not None else ""
        if node.exc is None or not _RAISES.search(source):
            return node
        self.count += 1
        violation = ast.Name("_violation_", ast.Load())
        assigns = ast.Assign([ast.Name("_violation_", ast.Store())], node.exc)
        raises = ast.Call(ast.Name(_HOOK, ast.Load()), [violation], [])
        return [assigns, ast.If(raises, [ast.Raise(violation, node.cause)], [])]
