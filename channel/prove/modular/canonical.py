"""One term for what is equal, as far as a path knows."""

from __future__ import annotations

from channelsim.channel.prove.modular.looks import truth
from channelsim.channel.prove.modular.operators import (
    bits_in_both,
    equal,
    greater,
    greater_bytes,
    length,
)
from channelsim.channel.prove.modular.state import TRUTHS, State
from channelsim.channel.prove.modular.sums import Summands, added, sum_of, summands_of, times
from channelsim.channel.prove.modular.terms import Term


def rebuilt(state: State, term: Term) -> Term:
    """A term whose parts are replaced by those that stand for them."""
    parts = term.parts
    match term.kind:
        case "f" | "r":
            inner = state.canonical(parts[0])
            if inner.kind == "pair":
                whole: Term = inner.parts["fr".index(term.kind)]
                return whole
            return state.terms.make(term.kind, inner)
        case "sum":
            return sum_of(state, _canonical_summands(state, parts))
        case "odd":
            constant, terms = _canonical_summands(state, parts)
            return bits_in_both(state, sum_of(state, (constant, terms)), truth(state, True))
        case "product":
            return times(state, *(state.canonical(each) for each in parts))
        case "=":
            return equal(state, *(state.canonical(each) for each in parts))
        case ">":
            return greater(state, *(state.canonical(each) for each in parts))
        case ">s":
            return greater_bytes(state, *(state.canonical(each) for each in parts))
        case "strlen":
            return length(state, state.canonical(parts[0]))
        case "ok" | "returns" | "nonempty" | "is pair":  # what is known of it is no part of it
            inner = parts[0]
            if inner.kind in TRUTHS:
                return state.terms.make(term.kind, rebuilt(state, inner))
            return state.terms.make(term.kind, _with_canonical_parts(state, inner))
    whole = _with_canonical_parts(state, term)
    if term in state.declared:
        state.declared.setdefault(whole, state.declared[term])
    return whole


def _with_canonical_parts(state: State, term: Term) -> Term:
    return state.terms.make(
        term.kind,
        *(state.canonical(each) if isinstance(each, Term) else each for each in term.parts),
    )


def _canonical_summands(
    state: State, summands: tuple[int, tuple[tuple[Term, int], ...]]
) -> Summands:
    constant, terms = summands
    parts = [(factor, summands_of(state, state.canonical(term))) for term, factor in terms]
    return added([(1, (constant, ())), *parts])
