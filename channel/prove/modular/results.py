"""The values that the term of an operator may have."""

from __future__ import annotations

from channelsim.channel.prove.modular import types
from channelsim.channel.prove.modular.looks import ONE, held_atoms
from channelsim.channel.prove.modular.operators import FARTHEST
from channelsim.channel.prove.modular.state import State
from channelsim.channel.prove.modular.terms import Term
from channelsim.channel.prove.modular.types import ANY, Atoms, Type, of_atoms
from channelsim.clsp.values import NIL


def type_of(state: State, term: Term) -> Type:
    """The values of the term of an operator."""
    match term.kind:
        case "=" | ">" | ">s":
            return of_atoms(types.known(frozenset((NIL, ONE))))
        case "sum":
            return of_atoms(_sum_bounds(state, *term.parts))
        case "product":
            signs = [held_atoms(state, each) for each in term.parts]
            positive = all(held.least is not None and held.least >= 0 for held in signs)
            return of_atoms(types.number(0 if positive else None, None))
        case "strlen":
            held = held_atoms(state, term.parts[0])
            return of_atoms(types.number(held.shortest, held.longest))
        case "substr":
            return of_atoms(_part_bounds(state, *term.parts))
        case "sha256":
            return of_atoms(types.atoms(32, 32))
        case "concat":
            return of_atoms(_joined_bounds([held_atoms(state, each) for each in term.parts]))
        case "odd":
            return of_atoms(types.number(0, 1))
        case "logand":
            return of_atoms(_mask_bounds([held_atoms(state, each) for each in term.parts]))
        case "remainder":
            by = state.number(term.parts[1])
            bounds = (0, by - 1) if by is not None and by > 0 else (None, None)
            return of_atoms(types.number(*bounds))
        case "lsh":
            return of_atoms(_shifted_bounds(state, *term.parts))
        case "ash" | "lognot" | "logior" | "logxor" | "quotient":
            return of_atoms(types.number(None, None))
    return ANY


def _sum_bounds(state: State, constant: int, terms: tuple[tuple[Term, int], ...]) -> Atoms | None:
    least: int | None = constant
    most: int | None = constant
    for term, factor in terms:
        held = held_atoms(state, term)
        low, high = (held.least, held.most) if factor > 0 else (held.most, held.least)
        least = None if least is None or low is None else least + factor * low
        most = None if most is None or high is None else most + factor * high
    return types.number(least, most)


def _part_bounds(
    state: State, text: Term, start: int | Term, end: int | Term | None
) -> Atoms | None:
    if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
        return types.atoms(end - start, end - start)
    return types.atoms(0, held_atoms(state, text).longest)


def _joined_bounds(parts: list[Atoms]) -> Atoms | None:
    longest: int | None = 0
    for held in parts:
        longest = None if longest is None or held.longest is None else longest + held.longest
    return types.atoms(sum(held.shortest for held in parts), longest)


def _mask_bounds(parts: list[Atoms]) -> Atoms | None:
    bounds = [held.most for held in parts if held.least is not None and held.least >= 0]
    most = min((bound for bound in bounds if bound is not None), default=None)
    return types.number(0 if bounds else None, most)


def _shifted_bounds(state: State, value: Term, by: Term) -> Atoms | None:
    held, known = held_atoms(state, value), state.number(by)
    if held.least == held.most == 0:
        return types.number(0, 0)
    if held.least is None or held.least < 0:
        return types.number(0, None)
    if known is None or abs(known) > FARTHEST:
        return types.number(0, None)

    def moved(bound: int) -> int:
        return bound << known if known >= 0 else bound >> -known

    return types.number(moved(held.least), None if held.most is None else moved(held.most))
