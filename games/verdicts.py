"""Validators: the rules of one kind of move, and what they say of a move.

All money is in mojos. Source: spec/validator.md, "Results" and "The law of validators".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

import msgspec

from channelsim.clsp.values import Value
from channelsim.games.forms import Form, Hashes, reader


class State(Protocol):
    """A validator's state: hashable, with a CLVM form."""

    def __hash__(self) -> int: ...

    def value(self) -> Value:
        """The CLVM value that a game coin commits to."""
        ...


class Next(msgspec.Struct, frozen=True, gc=False):
    """The record after a legal move: next validator, its state, size limit of the next MOVE."""

    validator: str
    state: State
    max_move_size: int


class Valid(msgspec.Struct, frozen=True, gc=False):
    """The move is legal; `next` is None when it ends the game.

    With extra `conditions` (CLVM values such as `(49 key message)`) it is legal unless a slash
    meets them all; it then breaks `rule` (see `channelsim.games.evidence`).
    """

    next: Next | None
    conditions: tuple[Value, ...] = ()
    rule: str = ""


class Slash(msgspec.Struct, frozen=True, gc=False):
    """The move breaks the rule with this id: the program returns `()`."""

    rule: str


class Raise(msgspec.Struct, frozen=True, gc=False):
    """The evidence does not fit this rule's shape: the program raises, the slash fails."""

    rule: str


Verdict: TypeAlias = Valid | Slash | Raise


class Judge(Protocol):
    """The rules of one validator, in Python.

    `share` is MOVER_SHARE, the share of the *opponent* of the player that makes the move: the
    opponent is the mover of the new coin, and the challenger. `amount` is what the coin holds,
    `hashes` are the program hashes of this game's validators. A judge never raises for a state of
    its own type: `move` and `evidence` come from the counterparty and may be anything.
    """

    def __call__(
        self, state: Any, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes, /
    ) -> Verdict:
        """Judge `move`, made in `state`."""
        ...


@dataclass(frozen=True, slots=True)
class Validator:
    """One kind of move: its rules, and the form of its state, such as `Guessing.form`.

    `read_state` follows from the form, and raises `games.errors.BadState` for a CLVM value of
    another one. The same rules as a program are `Game.programs[name]`. `unread` are the bytes of a
    move, from and to, that may say nothing: moves that differ there only lead to the same record.
    """

    name: str
    judge: Judge
    form: Form
    unread: tuple[int, int] = (0, 0)
    read_state: Callable[[Value, Hashes], State] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        name, read = self.name, reader(self.form)
        object.__setattr__(self, "read_state", lambda value, hashes: read(value, name, hashes))


def by_name(*validators: Validator) -> Mapping[str, Validator]:
    """A game's validators by name, in this order: the order of play."""
    return MappingProxyType({validator.name: validator for validator in validators})
