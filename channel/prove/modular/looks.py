"""Looks at values: whether they are pairs or empty, their parts, and the atoms that they may be.

Where nothing is known of a value, its path forks.
"""

from __future__ import annotations

from collections.abc import Callable

from channelsim.channel.prove.modular import types
from channelsim.channel.prove.modular.state import Raised, State, Unsupported
from channelsim.channel.prove.modular.terms import Term
from channelsim.channel.prove.modular.types import Atoms, Type
from channelsim.clsp.values import NIL

ONE = b"\x01"


def is_pair(state: State, term: Term) -> bool:
    """Decide whether a value is a pair."""
    return _decided(state, term, "is pair", _pair_in)


def is_true(state: State, term: Term) -> bool:
    """Decide whether a value is not empty."""
    return _decided(state, term, "nonempty", _truth_in)


def _decided(
    state: State, term: Term, question: str, known_of: Callable[[Type], bool | None]
) -> bool:
    """Decide a question to which the answer is yes for each pair."""
    if term.kind in ("pair", "code"):
        no_function(state, term)
        return True
    held = state.type_of(term)
    _look(held)
    return state.branch(state.terms.make(question, term), known_of(held))


def _pair_in(held: Type) -> bool | None:
    """True if all values are pairs, False if none is."""
    if held.any:
        return None
    if held.atoms is None:
        return True
    return None if held.has_pairs else False


def _truth_in(held: Type) -> bool | None:
    """True if no value is empty, False if all are."""
    if held.atoms is None or NIL not in held.atoms:
        return True
    return False if held.only == NIL and not held.any else None


def no_function(state: State, term: Term) -> None:
    """Refuse to look at the code of a function."""
    if term.kind == "code" and id(term.parts[0]) in state.bodies:
        raise Unsupported("the code of a function is looked at")


def _look(held: Type) -> None:
    if held.differs:
        raise Unsupported("a value that may differ is looked at")


def atom_of(state: State, term: Term) -> Term:
    """A value as an atom; a pair raises."""
    if is_pair(state, term):
        raise Raised
    return state.canonical(term)


def part(state: State, term: Term, side: int) -> Term:
    """The first of a pair, or the rest; an atom raises."""
    if term.kind == "pair":
        inner: Term = term.parts[side]
        return inner
    if term.kind == "code":
        no_function(state, term)
        return state.terms.constant(term.parts[0][side])
    if not is_pair(state, term):
        raise Raised
    found = state.terms.make("fr"[side], term)
    only = state.only(found)
    return found if only is None else state.terms.constant(only)


def truth(state: State, known: bool) -> Term:
    """The atom of a truth value."""
    return state.terms.constant(ONE if known else NIL)


def held_atoms(state: State, term: Term) -> Atoms:
    """The atoms that a term may be."""
    held = state.type_of(term)
    _look(held)
    return types.ANY_ATOM if held.atoms is None else held.atoms
