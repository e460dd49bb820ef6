"""Operators on terms: what is known is computed, and the same value gets the same term.

An operator that may raise asks its path, and raises on one side of the fork.
"""

from __future__ import annotations

from collections.abc import Callable

from channelsim.channel.prove.modular import types
from channelsim.channel.prove.modular.looks import ONE, atom_of, held_atoms, truth
from channelsim.channel.prove.modular.state import Raised, State, Unsupported
from channelsim.channel.prove.modular.sums import (
    difference,
    minus,
    plus,
    summands_of,
    times,
)
from channelsim.channel.prove.modular.terms import Term
from channelsim.clsp.operators import CODES, NAMES, OperatorError, TooLong, operator
from channelsim.clsp.values import NIL, int_to_atom

FARTHEST, WIDEST = 65535, 3
"""The farthest shift; the most bytes of a shift, or of a place in bytes, that never raise."""


# --- comparisons ---------------------------------------------------------------------------------


def equal(state: State, left: Term, right: Term) -> Term:
    """1 where two atoms have the same bytes."""
    if left is right:
        return truth(state, True)
    mine, theirs = held_atoms(state, left), held_atoms(state, right)
    if types.both(mine, theirs) is None:
        return truth(state, False)
    if mine.only is not None and mine.only == theirs.only:
        return truth(state, True)
    if mine.minimal and theirs.minimal:
        constant, terms = difference(state, left, right)
        if not terms:
            return truth(state, constant == 0)
    return state.terms.make("=", *sorted((left, right), key=lambda term: term.number))


def greater(state: State, left: Term, right: Term) -> Term:
    """1 where a number is greater than another one."""
    mine, theirs = held_atoms(state, left), held_atoms(state, right)
    if mine.least is not None and theirs.most is not None and mine.least > theirs.most:
        return truth(state, True)
    if mine.most is not None and theirs.least is not None and mine.most <= theirs.least:
        return truth(state, False)
    constant, terms = difference(state, left, right)
    if not terms:
        return truth(state, constant > 0)
    return state.terms.make(">", left, right)


def greater_bytes(state: State, left: Term, right: Term) -> Term:
    """1 where bytes come after others, as those of numbers where the same is true of these."""
    mine, theirs = held_atoms(state, left), held_atoms(state, right)
    if mine.only is not None and theirs.only is not None:
        return truth(state, mine.only > theirs.only)
    if left is right:
        return truth(state, False)
    if theirs.only == NIL and NIL not in mine:
        return truth(state, True)
    if mine.only == NIL:
        return truth(state, False)
    if mine.least is None or mine.least < 0:
        return state.terms.make(">s", left, right)
    if theirs.only == NIL and mine.minimal:
        return greater(state, left, right)
    if theirs.least is None or theirs.least < 0:
        return state.terms.make(">s", left, right)
    same_length = mine.longest is not None and (
        mine.shortest == mine.longest == theirs.shortest == theirs.longest
    )
    one_byte = (
        mine.longest is not None
        and theirs.longest is not None
        and max(mine.longest, theirs.longest) <= 1
        and (mine.minimal or (mine.least is not None and mine.least >= 1))
    )
    if same_length or one_byte:
        return greater(state, left, right)
    return state.terms.make(">s", left, right)


# --- bits ----------------------------------------------------------------------------------------


def shifted(name: str) -> Callable[..., Term]:
    """`ash` or `lsh`: the same for a number that is not negative."""

    def shift(state: State, value: Term, by: Term) -> Term:
        held, known = held_atoms(state, value), state.number(by)
        plain = held.least is not None and held.least >= 0
        term = state.terms.make("lsh" if plain else name, value, by)
        if known is None or abs(known) > FARTHEST or len(state.only(by) or NIL) > WIDEST:
            _require(state, term)
        return term

    return shift


def bits_in_both(state: State, *given: Term) -> Term:
    """`logand`; of 1 and a sum only the odd parts of the sum matter."""
    if len(given) == 2:
        for one, other in (given, given[::-1]):
            if state.only(one) == ONE:
                constant, terms = summands_of(state, other)
                odd = tuple((term, factor % 2) for term, factor in terms if factor % 2)
                if not odd:
                    return state.terms.constant(int_to_atom(constant % 2))
                return state.terms.make("odd", constant % 2, odd)
    return state.terms.make("logand", *sorted(given, key=lambda term: term.number))


def bits(name: str) -> Callable[..., Term]:
    """An operator on bits whose operands may be in any order."""
    return lambda state, *given: state.terms.make(
        name, *sorted(given, key=lambda term: term.number)
    )


def divided(state: State, left: Term, right: Term) -> tuple[Term, Term]:
    """The quotient and the remainder."""
    quotient = state.terms.make("quotient", left, right)
    mine, theirs = held_atoms(state, left), held_atoms(state, right)
    if mine.least is None or theirs.least is None or mine.least < 0 or theirs.least < 1:
        _require(state, quotient)  # of numbers below 0, not every version of CLVM has a quotient
    return quotient, state.terms.make("remainder", left, right)


# --- bytes ---------------------------------------------------------------------------------------


def length(state: State, text: Term) -> Term:
    """The length of an atom."""
    held = held_atoms(state, text)
    if held.shortest == held.longest:
        return state.terms.constant(int_to_atom(held.shortest))
    return state.terms.make("strlen", text)


def substring(state: State, text: Term, start: Term, end: Term | None = None) -> Term:
    """A part of an atom."""
    held = held_atoms(state, text)
    if any(len(state.only(each) or NIL) > WIDEST for each in (start, end) if each is not None):
        raise Unsupported("a place of `substr` that is not in the fewest bytes")
    first = state.number(start)
    last: int | None = None
    if end is not None:
        last = state.number(end)
    elif held.shortest == held.longest:
        last = held.shortest
    bound: int | Term | None = last if last is not None else end
    term = state.terms.make("substr", text, start if first is None else first, bound)
    far = held.shortest if last is None and end is None else last
    if first is None or far is None or not 0 <= first <= far <= held.shortest:
        _require(state, term)
    if first is not None and first == last:
        return state.terms.constant(NIL)
    if first == 0 and last == held.shortest == held.longest:
        return text
    return term


def hashed(state: State, *given: Term) -> Term:
    """`sha256`."""
    return state.terms.make("sha256", *given)


def joined(state: State, *given: Term) -> Term:
    """`concat`."""
    left = [term for term in given if state.only(term) != NIL]
    if not left:
        return state.terms.constant(NIL)
    return left[0] if len(left) == 1 else state.terms.make("concat", *left)


def _require(state: State, term: Term) -> None:
    """Raise where this term cannot be computed."""
    if not state.branch(state.terms.make("ok", term), None):
        raise Raised


# --- all operators -------------------------------------------------------------------------------

BINARY: dict[str, Callable[..., Term]] = {
    "=": equal,
    ">": greater,
    ">s": greater_bytes,
    "ash": shifted("ash"),
    "lsh": shifted("lsh"),
    "/": lambda state, left, right: divided(state, left, right)[0],
    "%": lambda state, left, right: divided(state, left, right)[1],
}
ANY_NUMBER: dict[str, Callable[..., Term]] = {
    "+": plus,
    "-": minus,
    "*": times,
    "logand": bits_in_both,
    "logior": bits("logior"),
    "logxor": bits("logxor"),
    "sha256": hashed,
    "concat": joined,
}


def applied(state: State, code: bytes, given: list[Term]) -> Term:
    """The value of an operator other than `q`, `a` and those on pairs and truth values.

    Raises `Raised` and `Unsupported`.
    """
    name = NAMES.get(code)
    if name is None:
        raise Unsupported(f"an unknown operator 0x{code.hex()}")
    if name == "x":
        raise Raised
    if name in BINARY or name == "divmod":
        if len(given) != 2:
            raise Raised
        left, right = (atom_of(state, term) for term in given)
        if name == "divmod":
            return state.terms.make("pair", *divided(state, left, right))
        return _computed(state, code, [left, right]) or BINARY[name](state, left, right)
    if name in ANY_NUMBER:
        plain = [atom_of(state, term) for term in given]
        if name == "-" and not plain:
            return state.terms.constant(NIL)
        return _computed(state, code, plain) or ANY_NUMBER[name](state, *plain)
    if name in ("strlen", "lognot"):
        if len(given) != 1:
            raise Raised
        text = atom_of(state, given[0])
        return _computed(state, code, [text]) or (
            length(state, text) if name == "strlen" else state.terms.make(name, text)
        )
    if name == "substr":
        if len(given) not in (2, 3):
            raise Raised
        plain = [atom_of(state, term) for term in given]
        return _computed(state, code, plain) or substring(state, *plain)
    if name in ("softfork", "q", "a"):
        raise Unsupported(f"the operator {name}")
    term = state.terms.make(
        "op", code, *(state.canonical(_unlooked(state, each)) for each in given)
    )
    _require(state, term)
    return term


def _unlooked(state: State, term: Term) -> Term:
    if term.kind == "code" and state.bodies:
        raise Unsupported("code is looked at")
    if types.may_differ(state.type_of(term)):
        raise Unsupported("a value that may differ is looked at")
    return term


def _computed(state: State, code: bytes, given: list[Term]) -> Term | None:
    """The value where all operands are known."""
    known = [state.only(term) for term in given]
    values = [value for value in known if value is not None]
    if len(values) != len(given):
        return None
    try:
        value = operator(code).call(*values)
    except OperatorError:
        raise Raised from None
    except TooLong:
        raise Unsupported("a result that is too long") from None
    return state.terms.constant(value)


assert set(BINARY) | set(ANY_NUMBER) <= set(CODES)
