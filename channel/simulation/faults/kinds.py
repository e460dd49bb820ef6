"""Kinds of faults: in a peer's events, in its effects, or in one place of the engine.

A fault is in place only while its peer handles an event; the other side's peer is not touched. A
check of the engine is a statement that raises `Violation`. While it is skipped, the engine accepts
what it would have refused. All other code of the engine stays as it is.
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
from typing import Any, TypeAlias

from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer

React: TypeAlias = Callable[[Event | None], list[Effect]]
"""The reaction of a peer to an event; None stands for its start."""

Around: TypeAlias = Callable[["EngineFault", Event | None, React], list[Effect]]
"""Lets a peer react to an event with a fault in place, and marks the fault if that differs."""


def _without(fault: EngineFault, event: Event | None, react: React) -> list[Effect]:
    return react(event)


@dataclass
class EngineFault:
    """A fault in one peer for one run; `reached`: it has made a difference.

    One that `is_inside` changes what the engine does, and not its events and effects.
    """

    peer: Peer
    around: Around = _without
    reached: bool = False
    is_inside: bool = False

    def mark(self) -> None:
        """Note that the fault made a difference."""
        self.reached = True

    def react(self, event: Event | None, react: React) -> list[Effect]:
        """Let the peer react to an event with the fault."""
        return self.around(self, event, react)


Plant: TypeAlias = Callable[[Peer], EngineFault]
"""Makes the fault of one peer."""

EventChange: TypeAlias = Callable[[Peer, Event | None], Event | None]
EffectsChange: TypeAlias = Callable[[Peer, Event | None, list[Effect]], list[Effect]]
"""Takes the event, and the peer's effects of it."""


def events(change: EventChange) -> Plant:
    """Give the peer other events."""

    def around(fault: EngineFault, event: Event | None, react: React) -> list[Effect]:
        """React to the changed event."""
        changed = change(fault.peer, event)
        if changed is not event:
            fault.mark()
        return react(changed)

    return lambda peer: EngineFault(peer, around)


def deaf_to(hidden: Callable[[Peer, Event | None], bool]) -> Plant:
    """Hide these events from the peer."""

    def around(fault: EngineFault, event: Event | None, react: React) -> list[Effect]:
        """React to events that are not hidden."""
        if not hidden(fault.peer, event):
            return react(event)
        fault.mark()
        return []

    return lambda peer: EngineFault(peer, around)


def effects(change: EffectsChange) -> Plant:
    """Carry out other effects."""

    def around(fault: EngineFault, event: Event | None, react: React) -> list[Effect]:
        """Change the effects of an event."""
        effects = react(event)
        changed = change(fault.peer, event, effects)
        if changed != effects:
            fault.mark()
        return changed

    return lambda peer: EngineFault(peer, around)


def skips(check: EngineCheck) -> Plant:
    """Skip a check of the engine."""

    def around(fault: EngineFault, event: Event | None, react: React) -> list[Effect]:
        """React without the check."""
        with skipped(check, fault.mark):
            return react(event)

    return lambda peer: EngineFault(peer, around, is_inside=True)


def engine(where: str, other: Callable[[Any], Any]) -> Plant:
    """Replace a function or constant of the engine: `peer.fees:Fees.after`, for example."""

    def around(fault: EngineFault, event: Event | None, react: React) -> list[Effect]:
        """React with the replacement."""
        with replaced(where, other, fault.mark):
            return react(event)

    return lambda peer: EngineFault(peer, around, is_inside=True)


# --- functions of the engine ---------------------------------------------------------------------


@contextmanager
def replaced(
    where: str, other: Callable[[Any], Any], reached: Callable[[], None]
) -> Iterator[None]:
    """Replace a function or constant of the engine by what `other` makes of it, in this context.

    `reached` is called where a function returns something else than the original. Raises
    `InvariantError` if the engine has no such place.
    """
    module, _, path = where.partition(":")
    *owners, name = path.split(".")
    owner: Any = import_module(f"channelsim.channel.{module}")
    for part in owners:
        owner = getattr(owner, part, None)
    original = vars(owner).get(name) if owner is not None else None
    if original is None:
        raise InvariantError(f"the engine has no {where}: the fault cannot be planted")
    replacement = other(original)

    def function(*args: Any, **more: Any) -> Any:
        """The replacement, compared with the original."""
        value = replacement(*args, **more)
        if value != original(*args, **more):
            reached()
        return value

    if not callable(original):
        reached()
    setattr(owner, name, function if callable(original) else replacement)
    try:
        yield
    finally:
        setattr(owner, name, original)


def always(value: Any) -> Callable[[Any], Any]:
    """Return a value, whatever the original returns."""
    return lambda original: lambda *args, **more: value


# --- checks of the engine ------------------------------------------------------------------------

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
