"""Run code on terms, along one path; functions are called as unknown ones, or run in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from channelsim.channel.prove.modular import operators
from channelsim.channel.prove.modular.looks import is_pair, is_true, part, truth
from channelsim.channel.prove.modular.state import Raised, State, Unsupported
from channelsim.channel.prove.modular.terms import Term
from channelsim.clsp.operators import APPLY, CONS, FIRST, IF, NAMES, QUOTE, REST
from channelsim.clsp.values import NIL, Value

DEEPEST_CALL = 60
MOST_STEPS = 200_000
"""The most calls inside each other, and steps on one path."""

Call = Callable[["Evaluation", str, Term], Term | None]
"""The value of a call of a function by its arguments; None to run it in place."""


@dataclass(frozen=True)
class Functions:
    """The functions of a program: the way of each, by the identity of its code, and the trees."""

    ways: Mapping[int, str]
    trees: tuple[Value, ...]

    @cached_property
    def bodies(self) -> frozenset[int]:
        """The functions by the identity of their code."""
        return frozenset(self.ways)

    @cached_property
    def owners(self) -> Mapping[int, str | None]:
        """The function that each part of the trees belongs to; None for no function."""
        owners: dict[int, str | None] = {}
        waiting: list[tuple[Value, str | None]] = [(tree, None) for tree in self.trees]
        while waiting:
            part, way = waiting.pop()
            if isinstance(part, tuple):
                way = self.ways.get(id(part), way)
                owners[id(part)] = way
                waiting += [(inner, way) for inner in part]
        return owners

    def leak(self, term: Term) -> bool:
        """True if some part of a value has code of functions in it."""
        if term.kind == "pair":
            return any(self.leak(part) for part in term.parts)
        return term.kind == "code" and any(id(part) in self.bodies for part in parts(term.parts[0]))

    def is_tree(self, term: Term) -> bool:
        """True if this is the tree of all functions."""
        return term.kind == "code" and any(term.parts[0] is tree for tree in self.trees)


@dataclass
class Evaluation:
    """A run of a program's code along a path.

    `cells` are cells of operands whose first item has another value: `replaced` makes it.
    `strict`: only calls run functions, of which nothing else is looked at; `way` is the function
    that runs, and `in_test` is true while a call is made for a test.
    """

    state: State
    functions: Functions
    call: Call
    cells: frozenset[int] = frozenset()
    replaced: Callable[[Evaluation, Any, Term], Term] | None = None
    strict: bool = False
    way: str = ""
    in_test: bool = False
    depth: int = field(default=0)
    steps: int = field(default=0)

    def run(self, node: Value, environment: Term) -> Term:
        """The value of code. Raises `Raised`, `Unsupported` and `Impossible`."""
        while True:
            self.steps += 1
            if self.steps > MOST_STEPS:
                raise Unsupported("a path that is too long")
            if isinstance(node, bytes):
                return self._at(node, environment)
            code, operands = node
            if not isinstance(code, bytes):
                raise Unsupported("code that is not an operator")
            if code == QUOTE:
                return self.state.terms.constant(operands)
            if code == IF:
                return self._choice(operands, environment)
            if code != APPLY:
                return self._operator(code, operands, environment)
            cells = _cells(operands)
            if len(cells) != 2:
                raise Raised
            chosen = self._item(cells[0], environment)
            before, self.in_test = self.in_test, False
            try:
                inner = self._item(cells[1], environment)
            finally:
                self.in_test = before
            if chosen.kind not in ("code", "atom"):
                raise Unsupported("code that depends on an input")
            body = chosen.parts[0]
            way = self._called(body, inner)
            if way is None:
                if self.strict and self.functions.owners.get(id(body), self.way) != self.way:
                    raise Unsupported("a function runs without being called")
                node, environment = body, inner
                continue
            arguments = part(self.state, inner, 1)
            if self.strict and self.functions.leak(arguments):
                raise Unsupported("functions are passed on")
            value = self.call(self, way, arguments)
            if value is not None:
                return value
            return self.inside(way, body, inner)

    def inside(self, way: str, body: Value, environment: Term) -> Term:
        """Run a function in place."""
        before, self.way = self.way, way
        if self.depth >= DEEPEST_CALL:
            raise Unsupported("calls that are nested too deep")
        self.depth += 1
        try:
            return self.run(body, environment)
        finally:
            self.depth -= 1
            self.way = before

    def _called(self, body: Value, environment: Term) -> str | None:
        """The way of the function that is called with the tree of all functions."""
        way = self.functions.ways.get(id(body))
        if way is None or environment.kind != "pair":
            return None
        return way if self.functions.is_tree(environment.parts[0]) else None

    def _item(self, cell: Any, environment: Term) -> Term:
        if id(cell) in self.cells:
            assert self.replaced is not None
            return self.replaced(self, cell, environment)
        return self.run(cell[0], environment)

    def _choice(self, operands: Value, environment: Term) -> Term:
        cells = _cells(operands)
        given = [self._test(cells[0], environment)] if cells else []
        given += [self._item(cell, environment) for cell in cells[1:]]
        if len(given) != 3:
            raise Raised
        return given[1] if is_true(self.state, given[0]) else given[2]

    def _test(self, cell: Any, environment: Term) -> Term:
        """The value of a test: what it calls runs in place, so that its truth says more."""
        before, self.in_test = self.in_test, True
        try:
            return self._item(cell, environment)
        finally:
            self.in_test = before

    def _operator(self, code: bytes, operands: Value, environment: Term) -> Term:
        state = self.state
        given = [self._item(cell, environment) for cell in _cells(operands)]
        name = NAMES.get(code, "")
        if code == CONS:
            if len(given) != 2:
                raise Raised
            return state.terms.make("pair", *given)
        if code in (FIRST, REST) or name in ("l", "not"):
            if len(given) != 1:
                raise Raised
            if code in (FIRST, REST):
                return part(state, given[0], int(code == REST))
            if name == "l":
                return truth(state, is_pair(state, given[0]))
            return truth(state, not is_true(state, given[0]))
        if name == "any":
            return truth(state, any(is_true(state, term) for term in given))
        if name == "all":
            return truth(state, all(is_true(state, term) for term in given))
        return operators.applied(state, code, given)

    def _at(self, node: bytes, environment: Term) -> Term:
        steps = int.from_bytes(node, "big")
        value = environment
        if not steps:
            return self.state.terms.constant(NIL)
        while steps > 1:
            value = part(self.state, value, steps & 1)
            steps >>= 1
        only = self.state.only(value)
        return value if only is None else self.state.terms.constant(only)


def parts(value: Value) -> Iterator[Value]:
    """The pairs of a value, itself first."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, tuple):
            yield part
            waiting += part


def _cells(operands: Value) -> list[Any]:
    """The cells of the operands. Raises `Unsupported` for no proper list."""
    cells = []
    while isinstance(operands, tuple):
        cells.append(operands)
        operands = operands[1]
    if operands != NIL:
        raise Unsupported("operands that are no proper list")
    return cells
