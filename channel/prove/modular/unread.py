"""Show that nothing looks at a changed value: it is passed on, and is no part of any result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from channelsim.channel.prove.modular.contexts import Analysis
from channelsim.channel.prove.modular.evaluation import Evaluation
from channelsim.channel.prove.modular.state import Raised, Unsupported
from channelsim.channel.prove.modular.terms import Term
from channelsim.channel.prove.modular.types import DIFFERS, NONE, may_differ
from channelsim.clsp.values import Value


def is_unread(analysis: Analysis, cell: Any, new: Value) -> bool:
    """True if no run depends on whether the operand in this cell is itself or `new`.

    Raises `Unsupported` where a value that may differ is looked at, or where one of both
    expressions may raise.
    """
    changed = replace(
        analysis,
        cells=frozenset((id(cell),)),
        replaced=lambda evaluation, cell, environment: _either(evaluation, cell, new, environment),
        seen={},
        result=NONE,
        _contexts={},
    )
    changed.run()
    return not may_differ(changed.result)


def _either(evaluation: Evaluation, cell: Any, new: Value, environment: Term) -> Term:
    """The value of the operand, whose parts that are not those of `new` may differ."""
    state = evaluation.state
    before = state.decisions
    try:
        mine, other = (evaluation.run(code, environment) for code in (cell[0], new))
    except Raised:
        raise Unsupported("the changed expression may raise") from None
    if state.decisions != before:
        raise Unsupported("the changed expression may raise, or has several values")
    return _merged(evaluation, mine, other)


def _merged(evaluation: Evaluation, mine: Term, other: Term) -> Term:
    state = evaluation.state
    if state.canonical(mine) is state.canonical(other):
        return mine
    if mine.kind == other.kind == "pair":
        parts = zip(mine.parts, other.parts, strict=True)
        return state.terms.make("pair", *(_merged(evaluation, *pair) for pair in parts))
    term = state.terms.make("input", "differs")
    state.declared[term] = DIFFERS
    return term
