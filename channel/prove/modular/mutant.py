"""Prove that a program with one place changed is equal to its original, function by function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from time import thread_time

from channelsim.channel.lab.mutants.expressions import Expression, Module
from channelsim.channel.prove.modular.contexts import (
    Analysis,
    callers,
    calls_of,
    recursive_functions,
)
from channelsim.channel.prove.modular.evaluation import Functions
from channelsim.channel.prove.modular.inputs import arguments_of
from channelsim.channel.prove.modular.same import Side, kinds, same
from channelsim.channel.prove.modular.state import Unsupported
from channelsim.channel.prove.modular.unread import is_unread
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.operators import QUOTE
from channelsim.clsp.programs import Program, symbols
from channelsim.clsp.values import Value
from channelsim.games.forms import Form

ANALYSIS = 60.0
"""Seconds of work for what reaches the functions of a program."""

OUTER = 2
"""The expressions around the changed one that are looked at, too."""


@dataclass(frozen=True)
class Original:
    """A program whose mutants are compared with it, on states of a form; None for any states."""

    program: Program
    form: Form | None

    @cached_property
    def root(self) -> Value:
        """The program's value; the same one each time."""
        return self.program.value

    @cached_property
    def module(self) -> Module:
        """Its functions and expressions."""
        return Module(self.root, symbols(self.program))

    @cached_property
    def expressions(self) -> Mapping[str, Expression]:
        """The expressions by their ways."""
        return {expression.at: expression for expression in self.module.expressions()}

    @cached_property
    def recursive(self) -> frozenset[str]:
        """The functions that may call themselves."""
        return recursive_functions(self.calls)

    @cached_property
    def calls(self) -> Mapping[str, set[str]]:
        """The functions that each function calls."""
        return calls_of(self.module)

    @cached_property
    def trees(self) -> tuple[str, ...]:
        """The ways to the trees of functions."""
        trees = self.module.code.trees
        return tuple(way for way, part in _ways(self.root) if any(part is tree for tree in trees))

    @cached_property
    def functions(self) -> Functions:
        """The functions of the program itself."""
        return _functions(self, self.root, "")

    @cached_property
    def _analysis(self) -> Analysis:
        return Analysis(
            *(self.root, self.functions, self.calls, self.recursive),
            *(arguments_of(self.form), 0.0),
        )

    def analysis(self, deadline: float) -> Analysis:
        """The values that reach its functions, and those that they return. Raises `Unsupported`."""
        if self.analysis_fails:
            raise Unsupported(self.analysis_fails)
        self._analysis.deadline = deadline
        return self._analysis

    @cached_property
    def analysis_fails(self) -> str:
        """Why nothing is known of what reaches its functions; "" where it is known."""
        with deep():
            try:
                if not self.module.has_functions or len(self.trees) != 1:
                    return "a program without functions, or with several trees of them"
                if not all(isinstance(each.body, tuple) for each in self.module.bodies.values()):
                    return "a function that is an atom"
                self._analysis.deadline = thread_time() + ANALYSIS
                self._analysis.run()
            except Unsupported as unsupported:
                return str(unsupported)
        return ""


def is_equal(original: Original, mutant: Program, deadline: float) -> str:
    """The reason why a mutant is equal to its original; "" where it may not be.

    Raises `Unsupported`, with the reason why nothing can be said.
    """
    with deep():
        return _is_equal(original, mutant, deadline)


def _is_equal(original: Original, mutant: Program, deadline: float) -> str:
    analysis = original.analysis(deadline)
    root, way = shared(original.root, mutant.value)
    if way is None:
        return "the same program"
    changed = next(
        (
            original.expressions[way[:end]]
            for end in _down(way)
            if way[:end] in original.expressions
        ),
        None,
    )
    if changed is None:
        raise Unsupported("no expression is changed")
    start = changed.start
    if any(way.startswith(tree) for tree in original.trees) and not start:
        raise Unsupported("what is changed beside the functions is read by any of them")
    comparison = _Comparison(original, analysis, root, start)
    late: Unsupported | None = None
    attempts = (
        *(comparison.by_calls, comparison.in_place),
        *(comparison.by_callers, comparison.by_callers_in_place),
    )
    for attempt in attempts:
        try:
            if reason := attempt():
                return reason
        except Unsupported as unsupported:
            late = unsupported
            if thread_time() > deadline:
                raise
    for cell, new in _operands(original, root, changed):
        try:
            if is_unread(analysis, cell, new):
                return "no run looks at the changed value"
        except Unsupported:
            if thread_time() > deadline:
                raise
    if late is not None:
        raise late
    return ""


@dataclass(frozen=True)
class _Comparison:
    original: Original
    analysis: Analysis
    root: Value
    start: str

    @cached_property
    def _functions(self) -> Functions:
        return _functions(self.original, self.root, self.start)

    def by_calls(self) -> str:
        """Compare the changed function, whose calls are all unknown."""
        if self._all_same(self.start, lambda way, in_test: False):
            return f"`{self._name}` is the same, whatever it calls"
        return ""

    def in_place(self) -> str:
        """Compare the changed function, with those that it calls."""
        if self._all_same(self.start, self._runs_in_place):
            return f"`{self._name}` is the same with what it calls"
        return ""

    def by_callers(self) -> str:
        """Compare all functions that call the changed one, which runs in place."""
        return self._by_callers(self._is_near)

    def by_callers_in_place(self) -> str:
        """The same, with all that they call."""
        return self._by_callers(self._runs_in_place)

    def _by_callers(self, in_place: Callable[[str, bool], bool]) -> str:
        if self.start in self.original.recursive or not self.start:
            return ""
        users, _ = callers(self.original.calls, self.start, self.original.recursive)
        if all(self._all_same(user, in_place) for user in sorted(users)):
            return f"all that calls `{self._name}` is the same"
        return ""

    def _is_near(self, way: str, in_test: bool) -> bool:
        """True for what is run for a test, and for what calls the changed function."""
        _, inside = callers(self.original.calls, self.start, self.original.recursive)
        return way in inside or (in_test and way not in self.original.recursive)

    @property
    def _name(self) -> str:
        module = self.original.module
        return module.code.owner(module.bodies[self.start])

    def _runs_in_place(self, way: str, in_test: bool) -> bool:
        return way not in self.original.recursive

    def _all_same(self, start: str, in_place: Callable[[str, bool], bool]) -> bool:
        """Compare one function on all arguments that reach it."""
        analysis = self.analysis
        if not start:
            left = Side(self.original.functions, self.original.root, None)
            right = Side(self._functions, self.root, None)
            held = [analysis.arguments]
        else:
            (tree,) = self.original.trees
            sides = ((self.original.functions, self.original.root), (self._functions, self.root))
            left, right = (
                Side(functions, part(root, start), part(root, tree)) for functions, root in sides
            )
            held = kinds(analysis.seen.get(start, ()))
        return all(same(left, right, each, analysis, in_place) for each in held)


def _functions(original: Original, root: Value, changed: str) -> Functions:
    """The functions of a program that has those of the original, but for the changed one."""
    ways = {}
    for way, function in original.module.bodies.items():
        body = part(root, way)
        if way and isinstance(body, tuple) and (way == changed or body is function.body):
            ways[id(body)] = way
    (tree,) = original.trees
    return Functions(ways, (part(root, tree),))


def shared(old: Value, new: Value) -> tuple[Value, str | None]:
    """The new value made of parts of the old one where they are equal, and the way to the only
    part that differs; None if none does."""
    if old == new:
        return old, None
    if not isinstance(old, tuple) or not isinstance(new, tuple):
        return new, ""
    left, left_way = shared(old[0], new[0])
    right, right_way = shared(old[1], new[1])
    if left_way is not None and right_way is not None:
        return (left, right), ""
    if left_way is not None:
        return (left, right), f"f{left_way}"
    return (left, right), f"r{right_way}"


def part(value: Value, way: str) -> Value:
    """The part of a value at a way, or the atom at which the way ends."""
    for step in way:
        if not isinstance(value, tuple):
            break
        value = value[step == "r"]
    return value


def _operands(
    original: Original, root: Value, changed: Expression
) -> Iterator[tuple[Value, Value]]:
    """The cell of the changed operand with the new one, then those of expressions around it."""
    expression: Expression | None = changed
    for _ in range(OUTER + 1):
        if expression is None:
            return
        around = _around(original, expression)
        if around is not None and _is_operand(around, expression):
            yield part(original.root, expression.at[:-1]), part(root, expression.at)
        expression = around


def _around(original: Original, inner: Expression) -> Expression | None:
    """The nearest expression around this one, in the same function."""
    for end in reversed(range(len(inner.at))):
        outer = original.expressions.get(inner.at[:end])
        if outer is not None:
            return outer if outer.start == inner.start else None
    return None


def _is_operand(around: Expression, inner: Expression) -> bool:
    """True if an expression is an operand of the one around it, and no code that this quotes."""
    way = inner.at.removeprefix(around.at)
    value = around.value
    quotes = not isinstance(value, tuple) or value[0] == QUOTE
    return not quotes and len(way) > 1 and way == "r" * (len(way) - 1) + "f"


def _down(way: str) -> range:
    return range(len(way), -1, -1)


def _ways(root: Value) -> Iterator[tuple[str, Value]]:
    waiting = [("", root)]
    while waiting:
        way, value = waiting.pop()
        if isinstance(value, tuple):
            yield way, value
            waiting += ((way + "f", value[0]), (way + "r", value[1]))
