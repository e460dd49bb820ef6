"""Drivers: an author's Python file that plays honest hands, for `channelsim record`.

A driver has one generator function, `hand`. It yields the first coin, then its moves:

    from channelsim.channel.kit.driver import Move, Start

    def hand(chance):
        offer = chance.between(1, 999)
        yield Start("offer", amount=1000, max_move_size=2)
        yield Move(offer)
        yield Move(1, share=1000 - offer)

It names no states: the programs say what each move leads to. A driver that needs the next state
gets it from its own yield (`state = yield Move(offer)`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from channelsim.channel.errors import UsageError
from channelsim.channel.system import user_code
from channelsim.clsp.values import Value, int_to_atom, to_list
from channelsim.games.chance import Chance
from channelsim.games.contract import Hashes
from channelsim.games.names import quoted
from channelsim.games.vectors import Expect

HAND = "hand"
"""The name of a driver's function."""


@dataclass(frozen=True, slots=True)
class Start:
    """The first coin of a hand: its validator and state, and what it holds, in mojos.

    `max_move_size` is the limit of the first move, in bytes. `state` is plain data (`to_value`).
    """

    validator: str
    amount: int
    max_move_size: int
    state: object = 0


@dataclass(frozen=True, slots=True)
class Move:
    """A move: its bytes, or a number in the fewest bytes, and the share that it declares.

    `share` is what the opponent gets if it never answers, in mojos. `evidence`, plain data, is the
    best evidence that the opponent can have against the move. With `expect` "slash" or "raise" the
    program must end in that way; such a move is recorded, and the hand goes on where it was.
    `signature`, of 96 bytes, goes with evidence that slashes under extra conditions.
    """

    move: bytes | int
    share: int = 0
    evidence: object = 0
    expect: Expect = "valid"
    signature: bytes = b""


Hand: TypeAlias = Generator[Start | Move, Value | None, None]
"""A hand. After a legal move it is sent the next state; None if that move ended the hand."""


class NotPlain(ValueError):
    """Data of a driver that is no CLVM value; the message says what it is."""


def load(path: Path) -> Callable[[Chance], Hand]:
    """The function `hand` of a driver. Raises `UsageError`, naming file and line."""
    hand: Callable[[Chance], Hand] | None = getattr(user_code.load(path), HAND, None)
    if not callable(hand):
        raise UsageError(f"{path}: defines no function `{HAND}(chance)` that yields a hand")
    return hand


def to_value(data: Any, hashes: Hashes) -> Value:
    """Convert plain data to a CLVM value. Raises `NotPlain`.

    Plain data is a number (in the fewest bytes), bytes, a list of plain data, `{"program": name}`
    for the hash of a program, or a CLVM value itself, in which a tuple of two is a pair.

    >>> to_value([1, b"ab", [0]], {})
    (b'\\x01', (b'ab', ((b'', b''), b'')))
    """
    try:
        return _converted(data, hashes)
    except RecursionError:
        raise NotPlain("lists nested too deep") from None


def _converted(data: Any, hashes: Hashes) -> Value:
    match data:
        case bool():
            pass
        case int():
            return int_to_atom(data)
        case bytes():
            return data
        case list():
            return to_list([_converted(item, hashes) for item in data])
        case (first, rest) if isinstance(data, tuple):
            return _converted(first, hashes), _converted(rest, hashes)
        case {"program": str(name)} if len(data) == 1:
            if name not in hashes:
                raise NotPlain(f"no program is called {quoted(name)}")
            return hashes[name]
    raise NotPlain(f"a {type(data).__name__} is not a number, bytes, or a list of these")
