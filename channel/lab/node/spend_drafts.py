"""Spends of game coins in the making, and all that can be wrong with one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.values import atom_of
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.referee import FIRST, GameCoin

ADDRESSES = (b"\x0a" * 32, b"\x0b" * 32)
"""The payout addresses of the mover and the waiter."""

LIE = b"\xee" * 32
"""A commitment to nothing that any move leads to."""


@dataclass
class SpendDraft:
    """A spend in the making: its solution is the list of `items` that ends in `tail`."""

    coin: GameCoin
    items: list[Value]
    age: int
    signs: bool = True
    tail: Value = NIL

    def solution(self) -> Value:
        """The solution of the spend."""
        return to_list(self.items, self.tail)

    def change(self, **fields: Any) -> None:
        """Give the coin other fields."""
        self.coin = msgspec.structs.replace(self.coin, **fields)


Fault = Callable[[SpendDraft, FastChance], None]
"""Makes a draft wrong in one way, or another one right: the model says which."""


def _item(at: int, *values: Value) -> Fault:
    """Another item in this place."""

    def change(draft: SpendDraft, chance: FastChance) -> None:
        draft.items[at] = chance.pick(values)

    return change


def _paired(at: int) -> Fault:
    """A pair where an atom belongs, or a pair of what belongs there and something."""

    def change(draft: SpendDraft, chance: FastChance) -> None:
        draft.items[at] = (draft.items[at], NIL)

    return change


def _too_long(draft: SpendDraft, chance: FastChance) -> None:
    draft.items[0] = bytes(draft.coin.max_move_size + chance.between(1, 3))


def _too_much(draft: SpendDraft, chance: FastChance) -> None:
    draft.items[2] = int_to_atom(draft.coin.amount + chance.between(1, 300))


def _more_bytes(draft: SpendDraft, chance: FastChance) -> None:
    at = chance.pick((2, 3))
    draft.items[at] = b"\x00" + atom_of(draft.items[at])


def _over(draft: SpendDraft, chance: FastChance) -> None:
    draft.change(infohash_b=b"")


def _late(draft: SpendDraft, chance: FastChance) -> None:
    draft.age = draft.coin.timeout + chance.between(0, 2)


def _early(draft: SpendDraft, chance: FastChance) -> None:
    draft.age = chance.between(0, draft.coin.timeout - 1)


def _unsigned(draft: SpendDraft, chance: FastChance) -> None:
    draft.signs = False


def _one_more(draft: SpendDraft, chance: FastChance) -> None:
    draft.items.append(chance.pick((NIL, b"\x01", (NIL, NIL))))


def _one_less(draft: SpendDraft, chance: FastChance) -> None:
    draft.items.pop()


def _no_list(draft: SpendDraft, chance: FastChance) -> None:
    draft.tail = b"\x01"


def _other_address(draft: SpendDraft, chance: FastChance) -> None:
    """An address for no payout, or a payout without one."""
    at = chance.pick((0, 1))
    draft.items[at] = NIL if draft.items[at] else ADDRESSES[at]


def _first_coin(draft: SpendDraft, chance: FastChance) -> None:
    draft.change(infohash_a=FIRST)


_SHAPE: tuple[Fault, ...] = (_one_more, _one_less, _no_list, _unsigned)

WRONG_MOVES: tuple[Fault, ...] = (
    *_SHAPE,
    *(_too_long, _too_much, _more_bytes, _over, _late),
    *(_paired(0), _paired(1), _paired(2), _paired(3)),
    _item(1, b"\x00", LIE[:31], LIE + b"\xee"),
    _item(2, b"\xff", b"\x80"),
    _item(3, b"\xff", b"\x80\x00"),
    _item(3, b"\x01\x00\x00", b"\x00\x80\x00"),
)
WRONG_TIMEOUTS: tuple[Fault, ...] = (
    *_SHAPE,
    *(_early, _early, _other_address, _other_address),
    *(_paired(0), _paired(1)),
)
WRONG_SLASHES: tuple[Fault, ...] = (
    *_SHAPE,
    *(_paired(0), _item(1, (b"\x01", NIL), (b"\x08", NIL)), _first_coin),
    *(_paired(3), _item(3, NIL)),
)
