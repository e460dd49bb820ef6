"""The arguments of a validator as a set of values: its state is any value of its form."""

from __future__ import annotations

from channelsim.channel.prove.inputs import KEY, MOST_SIZE
from channelsim.channel.prove.modular import types
from channelsim.channel.prove.modular.types import (
    ANY,
    NIL_TYPE,
    Type,
    list_of,
    of_atom,
    of_atoms,
    of_pair,
    union,
)
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Optional,
    Pair,
    Record,
)

HASH = 32


def arguments_of(form: Form | None) -> Type:
    """The arguments of a validator, with a state of this form; None for any state."""
    amount, key = _number(0, MAX_AMOUNT), _bytes(KEY)
    optional_hash = union(NIL_TYPE, _bytes(HASH))
    coin = (
        *(key, key, amount, amount, _bytes(HASH), amount),
        of_atoms(types.ANY_ATOM),
        _number(0, MOST_SIZE),
        *(optional_hash, amount, union(of_atom(b"x"), _bytes(HASH))),
    )
    state = ANY if form is None else type_of(form)
    return _listed((_bytes(HASH), _listed(coin), state, ANY, ANY, optional_hash))


def type_of(form: Form) -> Type:
    """The values of a form, and perhaps more: lists of any length."""
    match form:
        case Atom(size):
            return _bytes(size)
        case Integer(least, most):
            return _number(least, most)
        case ByteIn(values):
            return of_atoms(types.known(frozenset(bytes((value,)) for value in values)))
        case HashOf():
            return _bytes(HASH)
        case Pair(first, second):
            return of_pair(type_of(first), type_of(second))
        case Optional(inner):
            return union(NIL_TYPE, type_of(inner))
        case ListOf():
            return list_of(type_of(form.form))
        case Record(_, fields):
            if len(fields) == 1:
                return type_of(fields[0][1])
            return _listed(tuple(type_of(inner) for _, inner in fields))
    return ANY


def _number(least: int, most: int) -> Type:
    return of_atoms(types.number(least, most))


def _bytes(size: int) -> Type:
    return of_atoms(types.atoms(size, size))


def _listed(items: tuple[Type, ...]) -> Type:
    whole = NIL_TYPE
    for item in reversed(items):
        whole = of_pair(item, whole)
    return whole
