"""Integers in more bytes than they need, wherever an integer stands."""

from __future__ import annotations

from struct import pack

import msgspec

from channel.adversaries.amounts import Bettor
from channel.adversaries.base import register
from channel.protocol.messages import Batch, Message, Move
from channel.protocol.state import LiveGame
from clsp.integers import int_to_atom


@register
class NonMinimal(Bettor):
    """An amount in a move with a leading byte too many; or every number of the message, which
    its format lets through."""

    name = "non-minimal"
    about = "writes amounts, shares, sizes and numbers in more bytes than they need"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """A bet with a longer amount, if it can be, or the message with longer integers."""
        if self.done or not isinstance(message, Batch):
            return [blob]
        if self.plan.chance.below(2) and (said := super().say(message, blob)) != [blob]:
            return said
        self.done = True
        return [wide(msgspec.msgpack.decode(blob))]

    def change(self, move: Move, game: LiveGame) -> Move | None:
        """A bet, or a check, whose amount has a byte too many."""
        bet = self.bet(game)
        if bet is None:
            return None
        amount = self.plan.chance.pick((0, bet.least, bet.most))
        tail = bytes(1) + int_to_atom(amount)
        return msgspec.structs.replace(bet.wire, move=bet.head + tail)


def wide(value: object) -> bytes:
    """MessagePack with every integer in eight bytes, and every length in four.

    >>> from channel.protocol.messages import Advisory, decode, encode
    >>> blob = encode(Advisory(3, b"data"))
    >>> longer = wide(msgspec.msgpack.decode(blob))
    >>> len(longer) > len(blob), decode(longer) == decode(blob)
    (True, True)
    """
    match value:
        case bool():
            return b"\xc3" if value else b"\xc2"
        case int():
            return b"\xcf" + pack(">Q", value) if value >= 0 else b"\xd3" + pack(">q", value)
        case bytes():
            return b"\xc6" + pack(">I", len(value)) + value
        case str():
            return b"\xdb" + pack(">I", len(value.encode())) + value.encode()
        case list():
            return b"\xdd" + pack(">I", len(value)) + b"".join(map(wide, value))
        case dict():
            pairs = b"".join(wide(key) + wide(item) for key, item in value.items())
            return b"\xdf" + pack(">I", len(value)) + pairs
        case _:
            raise TypeError(f"no message has a {type(value).__name__}")
