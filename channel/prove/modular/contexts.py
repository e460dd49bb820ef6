"""The values that reach each function of a program, and those that it returns.

A function is analysed for each set of arguments with which it is called; in a test, it is run in
place, unless it calls itself. Sets that grow with each call lose their bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from time import thread_time
from typing import Any

from channelsim.channel.lab.mutants.expressions import Module
from channelsim.channel.prove.modular import canonical, results, types
from channelsim.channel.prove.modular.evaluation import Evaluation, Functions, parts
from channelsim.channel.prove.modular.state import Impossible, Raised, State, Unsupported
from channelsim.channel.prove.modular.terms import Term, Terms
from channelsim.channel.prove.modular.types import NONE, Type, union, widened
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.values import Value

MOST_CONTEXTS, FEW_CONTEXTS = 60, 6
"""The most sets of arguments of a function, and of one that does not call itself."""

MOST_ROUNDS, MOST_PATHS = 40, 5_000
"""The most rounds of analysis, and paths of one function."""

LATE = "the time is over"


class NotYet(Exception):
    """A function is called of which no result is known yet."""


@dataclass(eq=False)
class Context:
    """A function with a set of arguments, and what it returns as far as is known.

    `used` are the results of others that its own follows from.
    """

    way: str
    arguments: Type
    parent: Context | None
    result: Type = NONE
    used: dict[Context, Type] = field(default_factory=dict)

    def ancestors(self) -> Iterator[Context]:
        """The contexts by which it was first called, itself included."""
        context: Context | None = self
        while context is not None:
            yield context
            context = context.parent

    @property
    def is_stale(self) -> bool:
        """True if its result follows from results that have changed."""
        return any(other.result is not result for other, result in self.used.items())


def calls_of(module: Module) -> dict[str, set[str]]:
    """The ways of the functions that each function calls."""
    calls: dict[str, set[str]] = {start: set() for start in module.bodies}
    for expression in module.expressions():
        called = module.called(expression.value, expression.role)
        if called is not None:
            calls[expression.start].add(called)
    return calls


def callers(
    calls: Mapping[str, set[str]], start: str, recursive: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """The functions that call one, itself or through others: the program and those that may call
    themselves, and all others, with the one that is called."""
    inside, users = {start}, set[str]()
    while True:
        calling = {way for way, called in calls.items() if called & inside}
        users |= {way for way in calling if not way or way in recursive}
        wider = inside | (calling - users)
        if wider == inside:
            return frozenset(users), frozenset(inside)
        inside = wider


def recursive_functions(calls: Mapping[str, set[str]]) -> frozenset[str]:
    """The ways of the functions that may call themselves."""
    reached = {start: set(called) for start, called in calls.items()}
    while True:
        wider = {
            start: called.union(*(reached[inner] for inner in called))
            for start, called in reached.items()
        }
        if wider == reached:
            return frozenset(start for start, called in reached.items() if start in called)
        reached = wider


@dataclass
class Analysis:
    """The contexts of all functions of a program on these arguments.

    `seen` are all arguments of each function. `cells` have values that may differ (`unread`).
    """

    root: Value
    functions: Functions
    calls: Mapping[str, set[str]]
    recursive: frozenset[str]
    arguments: Type
    deadline: float
    cells: frozenset[int] = frozenset()
    replaced: Any = None
    seen: dict[str, set[Type]] = field(default_factory=dict)
    result: Type = NONE
    _contexts: dict[str, list[Context]] = field(default_factory=dict)
    _bodies: dict[str, Value] = field(default_factory=dict)
    _current: Context = field(init=False)
    _changed: bool = False

    def run(self) -> None:
        """Follow the program until nothing is new. Raises `Unsupported`."""
        self._bodies = {
            self.functions.ways[id(part)]: part
            for tree in self.functions.trees
            for part in parts(tree)
            if id(part) in self.functions.ways
        }
        with deep():
            self._run()

    def _run(self) -> None:
        main = Context("", self.arguments, None)
        self._follow(main)
        for _ in range(MOST_ROUNDS):
            self._changed = False
            for context in [main, *(one for many in self._contexts.values() for one in many)]:
                if context.is_stale:
                    self._follow(context)
            if not self._changed:
                self.result = main.result
                return
        raise Unsupported("the values of a function have no bounds")

    def _follow(self, context: Context) -> None:
        """Find what a function returns with the results that are known now."""
        before = getattr(self, "_current", context)
        self._current = context
        context.used = {}
        if context.way:
            body, tree = self._bodies[context.way], self.functions.trees[0]
            result = self._returned(body, tree, context.arguments)
        else:
            result = self._returned(self.root, None, context.arguments)
        if union(context.result, result) is not context.result:
            context.result = widened(context.result, result)
            self._changed = True
        self._current = before

    def _returned(self, body: Value, tree: Value | None, arguments: Type) -> Type:
        """Follow all paths of code, with known results of its calls; the union of its values."""
        result, terms = NONE, Terms()
        for state, environment in paths(terms, tree, arguments, self.deadline):
            state.bodies = self.functions.bodies
            evaluation = Evaluation(
                *(state, self.functions, self._call, self.cells, self.replaced),
                strict=True,
                way=self._current.way,
            )
            try:
                value = evaluation.run(body, environment)
            except (Raised, NotYet, Impossible):
                continue
            if self.functions.leak(value):
                raise Unsupported("functions are returned")
            result = union(result, state.type_of(value))
        return result

    def _call(self, evaluation: Evaluation, way: str, arguments: Term) -> Term | None:
        state = evaluation.state
        held = state.type_of(arguments)
        if way not in self.calls.get(evaluation.way, ()):
            raise Unsupported("a function is called in an unknown way")
        self.seen.setdefault(way, set()).add(held)
        if way not in self.recursive and evaluation.in_test:
            return None
        context = self._context(way, held)
        self._current.used[context] = context.result
        if context.result is NONE:
            raise NotYet
        return called(state, way, arguments, context.result)

    def result_of(self, way: str, held: Type) -> Type:
        """The result of a function for these arguments, by a context that has them all."""
        for context in self._contexts.get(way, ()):
            if union(context.arguments, held) is context.arguments:
                return context.result
        return types.ANY

    def _context(self, way: str, held: Type) -> Context:
        contexts = self._contexts.setdefault(way, [])
        for context in contexts:
            if context.arguments is held:
                return context
        signature = _signature(held)
        for above in self._current.ancestors():
            if above.way == way and _signature(above.arguments) == signature:
                wide = widened(above.arguments, held)
                return self._found(contexts, way, wide, above.parent)
        if len(contexts) >= (MOST_CONTEXTS if way in self.recursive else FEW_CONTEXTS):
            for context in contexts:
                held = union(held, context.arguments)
            held = widened(contexts[-1].arguments, held)
        return self._found(contexts, way, held, self._current)

    def _found(
        self, contexts: list[Context], way: str, held: Type, parent: Context | None
    ) -> Context:
        for context in contexts:
            if context.arguments is held:
                return context
        if len(contexts) > 10 * MOST_CONTEXTS:
            raise Unsupported("a function with too many kinds of arguments")
        context = Context(way, held, parent)
        contexts.append(context)
        self._changed = True
        self._follow(context)
        return context


def _signature(held: Type, depth: int = 0) -> tuple[Any, ...]:
    """The arguments of which only one value is possible, and not an empty one; also inside of
    lists of arguments."""
    items: list[Any] = []
    while held.first is not None and held.rest is not None and not held.any and not held.again:
        inner = held.first
        items.append((inner.only or None) if depth or not inner.has_pairs else _signature(inner, 1))
        held = held.rest
    while items and not items[-1]:
        items.pop()
    return tuple(items)


def called(state: State, way: str, arguments: Term, result: Type) -> Term:
    """The unknown result of a call, if it returns."""
    plain = state.canonical(arguments)
    for call in state.calls:
        if call.parts[0] == way and state.canonical(call.parts[1]) is plain:
            break
    else:
        call = state.terms.make("call", way, plain)
        state.declared[call] = result
        state.calls.append(call)
    if not state.branch(state.terms.make("returns", call), None):
        raise Raised
    only = state.only(call)
    return call if only is None else state.terms.constant(only)


def paths(
    terms: Terms, tree: Value | None, arguments: Type, deadline: float, two_sided: bool = False
) -> Iterator[tuple[State, Term]]:
    """A state for each path, with the environment: the tree of functions and the arguments, or
    these alone."""
    waiting: list[tuple[bool, ...]] = [()]
    count = 0
    while waiting:
        count += 1
        if count > MOST_PATHS:
            raise Unsupported("too many paths")
        if thread_time() > deadline:
            raise Unsupported(LATE)
        state = State(terms, waiting.pop(), two_sided)
        state.operations, state.rebuilt = results.type_of, canonical.rebuilt
        given = terms.make("input", 0)
        state.declared[given] = arguments
        environment = given
        if tree is not None:
            environment = terms.make("pair", terms.constant(tree), given)
        yield state, environment
        waiting += state.alternatives
