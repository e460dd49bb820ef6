"""A function that both sides of a claim compute by other means, as one unknown function.

What holds whatever the function is holds for the real one; its results are only known to have their
form. `lemma_checks` compares the sides' own functions with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import z3

from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import (
    Bytes,
    Condition,
    Number,
    Symbolic,
    Term,
    bits_of,
    conjunction,
    resize,
    width,
)
from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    from_list,
    int_to_atom,
    is_minimal,
    to_list,
)
from channelsim.games import registry
from channelsim.games.forms import Atom, ByteIn, Form, Integer, ListOf, Pair
from channelsim.games.lemma import Lemma


def lemmas_of(game: str | None) -> tuple[Lemma, ...]:
    """The lemmas of a game's rules; none for None."""
    return () if game is None else registry.get(game).lemmas


def applied(lemma: Lemma, path: Path, values: Sequence[Symbolic]) -> Symbolic | None:
    """The unknown result for these arguments; None for known ones, which need no lemma.

    None, too, for arguments that are not of their forms; the path forks where they may be.
    """
    terms: list[Term] = []
    for form, value in zip(lemma.arguments, values, strict=True):
        parts: list[Term] = []
        if not _take(path, form, value, parts):
            return None
        terms.append(_joined(parts))
    # From one side only, so that both sides' answers are those of one unknown function.
    turns = lemma.turn is not None and not path.branch(terms[lemma.turn.flag] == 1)
    if lemma.turn is not None and turns:
        terms = lemma.turn.turned(terms, lambda flag: 1 - flag)
    whole = z3.simplify(_joined(terms))
    if z3.is_bv_value(whole):
        return None
    conditions: list[Condition] = []
    leaves: list[str] = []

    def leaf(bits: int) -> Term:
        name = f"{lemma.name} {len(leaves)}"
        path.functions[name] = partial(leaf_of, lemma, len(leaves))
        if lemma.near is not None:
            path.near[name] = partial(near, lemma)
        leaves.append(name)
        return z3.Function(name, z3.BitVecSort(whole.size()), z3.BitVecSort(bits))(whole)

    result: Symbolic = _unknown(lemma.result, leaf, conditions)
    for condition in conditions:
        path.assume(condition)
    if turns:
        assert isinstance(result, Number)
        return Number(1 - result.term, 0, 1)
    return result


def _joined(terms: Sequence[Term]) -> Term:
    return z3.Concat(*terms) if len(terms) > 1 else terms[0]


def leaf_of(lemma: Lemma, number: int, whole: int) -> int:
    """The atom with this number of the real result, as its bits are read."""
    atoms = list(leaves(lemma.result, real_result(lemma, *split(lemma.arguments, whole))))
    form, atom = atoms[number]
    return atom_to_int(atom) if isinstance(form, Integer) else int.from_bytes(atom, "big")


def near(lemma: Lemma, whole: int, wanted: int) -> Iterator[int]:
    """Other arguments, so that the result, a single atom, has these bits, if the lemma can."""
    assert lemma.near is not None
    changed = lemma.near(tuple(split(lemma.arguments, whole)), wanted)
    if changed is None:
        return
    whole = 0
    for form, value in zip(lemma.arguments, changed, strict=True):
        for bits, part in _bits(form, value):
            whole = whole << bits | part & ((1 << bits) - 1)
    yield whole


def real_result(lemma: Lemma, *values: int | bytes) -> Value:
    """The real result, as a CLVM value."""
    return as_value(lemma.result, lemma.python(*values))


def as_value(form: Form, result: Any) -> Value:
    """A result of Python as a CLVM value of a form."""
    match form:
        case Pair(first, second):
            return as_value(first, result[0]), as_value(second, result[1])
        case ListOf():
            return to_list([as_value(form.form, item) for item in result])
        case _:
            return result if isinstance(result, bytes) else int_to_atom(result)


def leaves(form: Form, value: Any) -> Iterator[tuple[Form, bytes]]:
    """The atoms of a value with their forms. Raises `ValueError` if it is not of this form."""
    match form, value:
        case Pair(first, second), (left, right):
            yield from leaves(first, left)
            yield from leaves(second, right)
        case ListOf(), _:
            whole = value
            for _ in range(form.most):
                if not isinstance(value, tuple):
                    raise ValueError("a list that is too short")
                yield from leaves(form.form, value[0])
                value = value[1]
            if value != NIL:
                raise ValueError("a list that is too long")
            if form.ascending and not _ascends(whole):
                raise ValueError("a list that does not ascend")
        case Integer(least, most), bytes():
            if not (is_minimal(value) and least <= atom_to_int(value) <= most):
                raise ValueError(f"0x{value.hex()} is no number from {least} to {most}")
            yield form, value
        case Atom(size), bytes() if len(value) == size:
            yield form, value
        case _:
            raise ValueError("a value of another shape")


def _ascends(numbers: Any) -> bool:
    items: list[Any] = from_list(numbers)
    return all(atom_to_int(low) < atom_to_int(high) for low, high in pairwise(items))


def bits_of_form(form: Form) -> int:
    """The bits of an argument. Raises `TypeError` for a form that no lemma takes."""
    match form:
        case Integer(least, most):
            return width(least, most)
        case Atom(size) if size:
            return 8 * size
        case ByteIn():
            return 8
        case Pair(first, second):
            return bits_of_form(first) + bits_of_form(second)
        case ListOf(inner, most, least) if least == most:
            return most * bits_of_form(inner)
    raise TypeError(f"{form!r:.80}: no lemma takes it")


def _take(path: Path, form: Form, value: Symbolic, terms: list[Term]) -> bool:
    """Add the terms of an argument; false for one that is not of its form."""
    match form:
        case Integer(least, most):
            number = path.number(value)
            if not path.branch(_within(number, least, most)):
                return False
            terms.append(resize(number.term, width(least, most)))
            return True
        case Atom() | ByteIn():
            text = path.bytes(value)
            size = form.size if isinstance(form, Atom) else 1
            if (text.size if isinstance(text, Bytes) else len(text)) != size or not size:
                return False
            term = bits_of(text)
            if isinstance(form, ByteIn):
                among = z3.Or(*[term == known for known in sorted(form.values)])
                if not path.branch(among):
                    return False
            terms.append(term)
            return True
        case Pair(first, second):
            both = path.shape(value)
            if not isinstance(both, tuple):
                return False
            return _take(path, first, both[0], terms) and _take(path, second, both[1], terms)
        case ListOf(inner, most):
            rest = path.shape(value)
            for _ in range(most):
                if not isinstance(rest, tuple) or not _take(path, inner, rest[0], terms):
                    return False
                rest = path.shape(rest[1])
            return rest == NIL
    raise TypeError(f"{form!r:.80}: no lemma takes it")


def _within(number: Number, least: int, most: int) -> Condition:
    """True where a number is within bounds, which its term may have no room for."""
    if number.most < least or number.least > most:
        return False
    conditions = []
    if number.least < least:
        conditions.append(number.term >= least)
    if number.most > most:
        conditions.append(number.term <= most)
    return conjunction(*conditions)


def split(forms: Sequence[Form], whole: int) -> Iterator[Any]:
    """The arguments that make a number up, from the first one."""
    left = sum(map(bits_of_form, forms))
    for form in forms:
        bits = bits_of_form(form)
        left -= bits
        part = whole >> left & ((1 << bits) - 1)
        match form:
            case Integer():
                yield part - (1 << bits) if part >> (bits - 1) else part
            case Atom(size):
                yield part.to_bytes(size, "big")
            case Pair(first, second):
                yield tuple(split((first, second), part))
            case ListOf(inner, most):
                yield tuple(split([inner] * most, part))
            case _:
                yield part


def _bits(form: Form, value: Any) -> Iterator[tuple[int, int]]:
    """The atoms of an argument, each as its number of bits and their value."""
    match form:
        case Pair(first, second):
            yield from _bits(first, value[0])
            yield from _bits(second, value[1])
        case ListOf(inner):
            for item in value:
                yield from _bits(inner, item)
        case Atom(size):
            yield 8 * size, int.from_bytes(value, "big")
        case _:
            yield bits_of_form(form), value


def _unknown(form: Form, leaf: Callable[[int], Term], conditions: list[Condition]) -> Any:
    """A value of a form of fixed shape; adds what it fulfils."""
    match form:
        case Integer(0, most) if not most & (most + 1):
            return Number(z3.ZeroExt(1, leaf(width(0, most) - 1)), 0, most)
        case Integer(least, most):
            term = leaf(width(least, most))
            conditions += [term >= least, term <= most]
            return Number(term, least, most)
        case Atom(size) if size:
            return Bytes(leaf(8 * size), size)
        case Pair(first, second):
            return _unknown(first, leaf, conditions), _unknown(second, leaf, conditions)
        case ListOf(inner, most, least) if least == most:
            items = [_unknown(inner, leaf, conditions) for _ in range(most)]
            if form.ascending:
                conditions += [low.term < high.term for low, high in pairwise(items)]
            return to_list(items)
    raise TypeError(f"{form!r:.80} has no fixed shape")
