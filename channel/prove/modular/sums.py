"""Sums and products of terms: a sum has each term once, with its factor."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from channelsim.channel.prove.modular.looks import held_atoms
from channelsim.channel.prove.modular.state import State
from channelsim.channel.prove.modular.terms import Term
from channelsim.clsp.values import int_to_atom

Summands: TypeAlias = tuple[int, tuple[tuple[Term, int], ...]]
"""A constant, and terms with their factors."""


def summands_of(state: State, term: Term) -> Summands:
    """A number as a sum."""
    known = state.number(term)
    if known is not None:
        return known, ()
    if term.kind == "sum":
        constant, terms = term.parts
        return constant, terms
    return 0, ((term, 1),)


def difference(state: State, left: Term, right: Term) -> Summands:
    """The first number less the second one."""
    return added([(1, summands_of(state, left)), (-1, summands_of(state, right))])


def added(parts: Iterable[tuple[int, Summands]]) -> Summands:
    """A sum of sums, each times a factor."""
    whole, factors = 0, dict[Term, int]()
    for times, (constant, terms) in parts:
        whole += times * constant
        for term, factor in terms:
            factors[term] = factors.get(term, 0) + times * factor
    left = [(term, factor) for term, factor in factors.items() if factor]
    return whole, tuple(sorted(left, key=lambda pair: pair[0].number))


def sum_of(state: State, summands: Summands) -> Term:
    """The term of a sum."""
    constant, terms = summands
    if not terms:
        return state.terms.constant(int_to_atom(constant))
    if (
        constant == 0
        and len(terms) == 1
        and terms[0][1] == 1
        and held_atoms(state, terms[0][0]).minimal
    ):
        return terms[0][0]
    return state.terms.make("sum", constant, terms)


def plus(state: State, *given: Term) -> Term:
    """The sum of numbers."""
    return sum_of(state, added((1, summands_of(state, term)) for term in given))


def minus(state: State, *given: Term) -> Term:
    """The first number less the others."""
    return sum_of(
        state, added((-1 if at else 1, summands_of(state, term)) for at, term in enumerate(given))
    )


def times(state: State, *given: Term) -> Term:
    """The product of numbers, in any order."""
    factor, terms = 1, list[Term]()
    for term in given:
        known = state.number(term)
        if known is not None:
            factor *= known
        elif term.kind == "product":
            terms += term.parts
        else:
            terms.append(term)
    if not terms or not factor:
        return state.terms.constant(int_to_atom(factor if not terms else 0))
    if len(terms) == 1:
        return sum_of(state, added([(factor, summands_of(state, terms[0]))]))
    product = state.terms.make("product", *sorted(terms, key=lambda term: term.number))
    return sum_of(state, added([(factor, (0, ((product, 1),)))]))
