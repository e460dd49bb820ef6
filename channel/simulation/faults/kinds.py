"""Kinds of faults: in a peer's events, in its effects, or in one function of the engine.

A fault is in place only while its peer handles an event; the other side's peer is not touched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import getsource
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias

from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.machine import Peer


class EngineFault:
    """A fault in one peer for one run; `reached`: it has made a difference."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.reached = False

    def mark(self) -> None:
        """Note that the fault made a difference."""
        self.reached = True

    def around(self) -> AbstractContextManager[None]:
        """The context in which the peer handles an event."""
        return nullcontext()

    def event(self, event: Event | None) -> Event | None:
        """The event that the peer handles instead of this one; None stands for its start."""
        return event

    def drops(self, event: Event | None) -> bool:
        """True if the peer does not handle an event at all."""
        return False

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The effects to carry out instead of these."""
        return effects


Plant: TypeAlias = Callable[[Peer], EngineFault]
"""Makes the fault of one peer."""

EventChange: TypeAlias = Callable[[Peer, Event | None], Event | None]
EffectsChange: TypeAlias = Callable[[Peer, Event | None, list[Effect]], list[Effect]]
"""Takes the event, and the peer's effects of it."""

# --- events and effects --------------------------------------------------------------------------


class ChangesEvents(EngineFault):
    """Gives the peer other events."""

    def __init__(self, peer: Peer, change: EventChange) -> None:
        super().__init__(peer)
        self._change = change

    def event(self, event: Event | None) -> Event | None:
        """The changed event."""
        changed = self._change(self.peer, event)
        if changed is not event:
            self.mark()
        return changed


class HidesEvents(EngineFault):
    """Hides some events from the peer."""

    def __init__(self, peer: Peer, hidden: Callable[[Peer, Event | None], bool]) -> None:
        super().__init__(peer)
        self._hidden = hidden

    def drops(self, event: Event | None) -> bool:
        """True if it hides this event."""
        hidden = self._hidden(self.peer, event)
        self.reached = self.reached or hidden
        return hidden


class ChangesEffects(EngineFault):
    """Carries out other effects."""

    def __init__(self, peer: Peer, change: EffectsChange) -> None:
        super().__init__(peer)
        self._change = change
        self._cause: Event | None = None

    def event(self, event: Event | None) -> Event | None:
        """Note the event that the effects follow from."""
        self._cause = event
        return event

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The changed effects."""
        changed = self._change(self.peer, self._cause, effects)
        if changed != effects:
            self.mark()
        return changed


def events(change: EventChange) -> Plant:
    """Give the peer other events."""
    return lambda peer: ChangesEvents(peer, change)


def deaf_to(hidden: Callable[[Peer, Event | None], bool]) -> Plant:
    """Hide these events from the peer."""
    return lambda peer: HidesEvents(peer, hidden)


def effects(change: EffectsChange) -> Plant:
    """Carry out other effects."""
    return lambda peer: ChangesEffects(peer, change)


# --- the engine ----------------------------------------------------------------------------------


class SkipsCheck(EngineFault):
    """Skips a check of the engine."""

    def __init__(self, peer: Peer, check: EngineCheck) -> None:
        super().__init__(peer)
        self._check = check

    def around(self) -> AbstractContextManager[None]:
        """Skip the check."""
        return skipped(self._check, self.mark)


class Replaced(EngineFault):
    """Replaces one function or constant of the engine by what `other` makes of it.

    A function makes a difference where it returns something else than the original.
    """

    def __init__(self, peer: Peer, where: str, other: Callable[[Any], Any]) -> None:
        super().__init__(peer)
        self._where = where
        self._other = other

    @contextmanager
    def around(self) -> Iterator[None]:
        """Replace the function."""
        module, _, path = self._where.partition(":")
        *owners, name = path.split(".")
        owner: Any = import_module(f"channelsim.channel.{module}")
        for part in owners:
            owner = getattr(owner, part, None)
        original = vars(owner).get(name) if owner is not None else None
        if original is None:
            raise InvariantError(f"the engine has no {self._where}: the fault cannot be planted")
        replacement = self._other(original)

        def function(*args: Any, **more: Any) -> Any:
            value = replacement(*args, **more)
            if value != original(*args, **more):
                self.mark()
            return value

        if not callable(original):
            self.mark()
        setattr(owner, name, function if callable(original) else replacement)
        try:
            yield
        finally:
            setattr(owner, name, original)


def engine(where: str, other: Callable[[Any], Any]) -> Plant:
    """Replace a function or constant of the engine: `peer.fees:Fees.after`, for example."""
    return lambda peer: Replaced(peer, where, other)


def always(value: Any) -> Callable[[Any], Any]:
    """Return a value, whatever the original returns."""
    return lambda original: lambda *args, **more: value


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


def _function(module: ModuleType, qualname: str) -> FunctionType | None:
    """A function of a module or of a class, plain or behind a decorator."""
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
