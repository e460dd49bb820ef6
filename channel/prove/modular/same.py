"""Compare a changed function with its original: the same result for all arguments that reach it.

Calls are unknown functions, the same in both programs: each returns the same for the same
arguments, or raises, or does not end. By induction over the length of a run, two programs whose
functions are the same in this sense are equal, within the cost limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from channelsim.channel.prove.modular import types
from channelsim.channel.prove.modular.contexts import Analysis, called, paths
from channelsim.channel.prove.modular.evaluation import Evaluation, Functions
from channelsim.channel.prove.modular.state import Impossible, Raised, State
from channelsim.channel.prove.modular.terms import Term, Terms
from channelsim.channel.prove.modular.types import Type, union
from channelsim.clsp.values import Value

MOST_KINDS = 24
"""The most kinds of arguments with which a function is compared."""


@dataclass(frozen=True)
class Side:
    """One of two programs: its functions, the body that is compared and the tree it is run with;
    None for the program itself."""

    functions: Functions
    body: Value
    tree: Value | None


def same(
    left: Side,
    right: Side,
    arguments: Type,
    analysis: Analysis,
    in_place: Callable[[str, bool], bool],
) -> bool:
    """True if both return the same for all of these arguments, and raise for the same ones.

    `in_place`: the functions that are followed into, by their ways, and whether for a test. Raises
    `Unsupported`.
    """
    terms = Terms()
    for state, given in paths(terms, None, arguments, analysis.deadline, two_sided=True):
        ends = []
        for side in (left, right):
            environment = given
            if side.tree is not None:
                environment = terms.make("pair", terms.constant(side.tree), given)
            try:
                ends.append(_end(side, state, environment, analysis, in_place))
            except Impossible:
                break
        else:
            if not _alike(state, *ends) and not _impossible(state) and not _alike(state, *ends):
                return False
    return True


def _end(
    side: Side,
    state: State,
    environment: Term,
    analysis: Analysis,
    in_place: Callable[[str, bool], bool],
) -> Term | None:
    """The value of a side; None if it raises."""

    def call(evaluation: Evaluation, way: str, arguments: Term) -> Term | None:
        if in_place(way, evaluation.in_test):
            return None
        result = analysis.result_of(way, state.type_of(arguments))
        return called(state, way, arguments, result)

    try:
        return Evaluation(state, side.functions, call).run(side.body, environment)
    except Raised:
        return None


def _impossible(state: State) -> bool:
    """True if the facts of a path contradict each other; follows from them what it can."""
    try:
        state.follow_all()
    except Impossible:
        return True
    return False


def _alike(state: State, left: Term | None, right: Term | None) -> bool:
    if left is None or right is None:
        return left is right
    return _equal(state.terms, state.canonical(left), state.canonical(right))


def _equal(terms: Terms, left: Term, right: Term) -> bool:
    if left is right:
        return True
    if left.kind == "code" and right.kind == "code":
        return bool(left.parts[0] == right.parts[0])
    parts = [_parts(terms, term) for term in (left, right)]
    if () in parts:
        return False
    return all(_equal(terms, one, other) for one, other in zip(*parts, strict=True))


def _parts(terms: Terms, term: Term) -> tuple[Term, ...]:
    if term.kind == "pair":
        return term.parts
    if term.kind == "code":
        return tuple(terms.constant(part) for part in term.parts[0])
    return ()


def kinds(seen: Iterable[Type]) -> list[Type]:
    """Sets of arguments that contain all of these: few, and none inside of another one."""
    chosen: list[Type] = []
    for held in seen:
        if not any(_contains(other, held) for other in chosen):
            chosen = [other for other in chosen if not _contains(held, other)] + [held]
    if len(chosen) > MOST_KINDS:
        whole = types.NONE
        for held in chosen:
            whole = union(whole, held)
        return [whole]
    return chosen


def _contains(outer: Type, inner: Type) -> bool:
    return union(outer, inner) is outer
