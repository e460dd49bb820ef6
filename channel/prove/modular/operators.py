"""Operators on terms: what is known is computed, and the same value gets the same term.

An operator that may raise asks its path, and raises on one side of the fork.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from channelsim.channel.prove.modular import types
from channelsim.channel.prove.modular.state import TRUTHS, Raised, State, Unsupported
from channelsim.channel.prove.modular.terms import Term
from channelsim.channel.prove.modular.types import ANY, Atoms, Type, of_atoms
from channelsim.clsp.operators import CODES, NAMES, OperatorError, TooLong, operator
from channelsim.clsp.values import NIL, int_to_atom

Summands: TypeAlias = tuple[int, tuple[tuple[Term, int], ...]]
"""A constant, and terms with their factors."""

ONE = b"\x01"
FARTHEST, WIDEST = 65535, 3
"""The farthest shift; the most bytes of a shift, or of a place in bytes, that never raise."""


# --- tests ---------------------------------------------------------------------------------------


def is_pair(state: State, term: Term) -> bool:
    """Decide whether a value is a pair."""
    if term.kind in ("pair", "code"):
        no_function(state, term)
        return True
    held = state.type_of(term)
    _look(held)
    known = None
    if not held.any:
        known = True if held.atoms is None else (None if held.has_pairs else False)
    return state.branch(state.terms.make("is pair", term), known)


def is_true(state: State, term: Term) -> bool:
    """Decide whether a value is not empty."""
    if term.kind in ("pair", "code"):
        no_function(state, term)
        return True
    held = state.type_of(term)
    _look(held)
    known = None
    if held.atoms is None or NIL not in held.atoms:
        known = True
    elif not held.any and not held.has_pairs and held.atoms.only == NIL:
        known = False
    if known is None and term in state.truths and term.kind in TRUTHS:
        known = state.truths[term]
    return state.branch(state.terms.make("nonempty", term), known)


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


def _held(state: State, term: Term) -> Atoms:
    """The atoms that a term may be."""
    held = state.type_of(term)
    _look(held)
    return types.ANY_ATOM if held.atoms is None else held.atoms


# --- comparisons ---------------------------------------------------------------------------------


def equal(state: State, left: Term, right: Term) -> Term:
    """1 where two atoms have the same bytes."""
    if left is right:
        return truth(state, True)
    mine, theirs = _held(state, left), _held(state, right)
    if types.both(mine, theirs) is None:
        return truth(state, False)
    if mine.only is not None and mine.only == theirs.only:
        return truth(state, True)
    if mine.minimal and theirs.minimal:
        constant, terms = _difference(state, left, right)
        if not terms:
            return truth(state, constant == 0)
    return state.terms.make("=", *sorted((left, right), key=lambda term: term.number))


def greater(state: State, left: Term, right: Term) -> Term:
    """1 where a number is greater than another one."""
    mine, theirs = _held(state, left), _held(state, right)
    if mine.least is not None and theirs.most is not None and mine.least > theirs.most:
        return truth(state, True)
    if mine.most is not None and theirs.least is not None and mine.most <= theirs.least:
        return truth(state, False)
    constant, terms = _difference(state, left, right)
    if not terms:
        return truth(state, constant > 0)
    return state.terms.make(">", left, right)


def greater_bytes(state: State, left: Term, right: Term) -> Term:
    """1 where bytes come after others, as those of numbers where the same is true of these."""
    mine, theirs = _held(state, left), _held(state, right)
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


# --- sums and products ---------------------------------------------------------------------------


def _summands(state: State, term: Term) -> Summands:
    known = state.number(term)
    if known is not None:
        return known, ()
    if term.kind == "sum":
        constant, terms = term.parts
        return constant, terms
    return 0, ((term, 1),)


def _difference(state: State, left: Term, right: Term) -> Summands:
    return added([(1, _summands(state, left)), (-1, _summands(state, right))])


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
    if constant == 0 and len(terms) == 1 and terms[0][1] == 1 and _held(state, terms[0][0]).minimal:
        return terms[0][0]
    return state.terms.make("sum", constant, terms)


def plus(state: State, *given: Term) -> Term:
    """The sum of numbers."""
    return sum_of(state, added((1, _summands(state, term)) for term in given))


def minus(state: State, *given: Term) -> Term:
    """The first number less the others."""
    return sum_of(
        state, added((-1 if at else 1, _summands(state, term)) for at, term in enumerate(given))
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
        return sum_of(state, added([(factor, _summands(state, terms[0]))]))
    product = state.terms.make("product", *sorted(terms, key=lambda term: term.number))
    return sum_of(state, added([(factor, (0, ((product, 1),)))]))


# --- bits ----------------------------------------------------------------------------------------


def shifted(name: str) -> Callable[..., Term]:
    """`ash` or `lsh`: the same for a number that is not negative."""

    def shift(state: State, value: Term, by: Term) -> Term:
        held, known = _held(state, value), state.number(by)
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
                constant, terms = _summands(state, other)
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
    mine, theirs = _held(state, left), _held(state, right)
    if mine.least is None or theirs.least is None or mine.least < 0 or theirs.least < 1:
        _require(state, quotient)  # of numbers below 0, not every version of CLVM has a quotient
    return quotient, state.terms.make("remainder", left, right)


# --- bytes ---------------------------------------------------------------------------------------


def length(state: State, text: Term) -> Term:
    """The length of an atom."""
    held = _held(state, text)
    if held.shortest == held.longest:
        return state.terms.constant(int_to_atom(held.shortest))
    return state.terms.make("strlen", text)


def substring(state: State, text: Term, start: Term, end: Term | None = None) -> Term:
    """A part of an atom."""
    held = _held(state, text)
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


# --- what the results may be ---------------------------------------------------------------------


def type_of(state: State, term: Term) -> Type:
    """The values of the term of an operator."""
    match term.kind:
        case "=" | ">" | ">s":
            return of_atoms(types.known(frozenset((NIL, ONE))))
        case "sum":
            return of_atoms(_sum_bounds(state, *term.parts))
        case "product":
            signs = [_held(state, each) for each in term.parts]
            positive = all(held.least is not None and held.least >= 0 for held in signs)
            return of_atoms(types.number(0 if positive else None, None))
        case "strlen":
            held = _held(state, term.parts[0])
            return of_atoms(types.number(held.shortest, held.longest))
        case "substr":
            return of_atoms(_part_bounds(state, *term.parts))
        case "sha256":
            return of_atoms(types.atoms(32, 32))
        case "concat":
            return of_atoms(_joined_bounds([_held(state, each) for each in term.parts]))
        case "odd":
            return of_atoms(types.number(0, 1))
        case "logand":
            return of_atoms(_mask_bounds([_held(state, each) for each in term.parts]))
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
        held = _held(state, term)
        low, high = (held.least, held.most) if factor > 0 else (held.most, held.least)
        least = None if least is None or low is None else least + factor * low
        most = None if most is None or high is None else most + factor * high
    return types.number(least, most)


def _part_bounds(
    state: State, text: Term, start: int | Term, end: int | Term | None
) -> Atoms | None:
    if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
        return types.atoms(end - start, end - start)
    return types.atoms(0, _held(state, text).longest)


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
    held, known = _held(state, value), state.number(by)
    if held.least == held.most == 0:
        return types.number(0, 0)
    if held.least is None or held.least < 0:
        return types.number(0, None)
    if known is None or abs(known) > FARTHEST:
        return types.number(0, None)

    def moved(bound: int) -> int:
        return bound << known if known >= 0 else bound >> -known

    return types.number(moved(held.least), None if held.most is None else moved(held.most))


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
    parts = [(factor, _summands(state, state.canonical(term))) for term, factor in terms]
    return added([(1, (constant, ())), *parts])


assert set(BINARY) | set(ANY_NUMBER) <= set(CODES)
