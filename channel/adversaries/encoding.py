"""Adversaries whose messages are not encoded as they should be."""

from __future__ import annotations

from struct import pack

import msgspec
from msgspec.structs import replace

from channelsim.channel.adversaries.base import MessageChanger, adversary, changes_message
from channelsim.channel.adversaries.moves import MoveChanger, legal_bet
from channelsim.channel.protocol.messages import (
    MAX_MESSAGE,
    Advisory,
    Batch,
    Cancel,
    Message,
    Move,
    encode,
)
from channelsim.channel.protocol.state import LiveGame
from channelsim.clsp.integers import int_to_atom


@changes_message("garbler", "sends bytes that are not a message")
def _garbler(one: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    changed = bytearray(blob)
    changed[one.plan.chance.below(len(changed))] ^= 1 + one.plan.chance.below(255)
    return [bytes(changed)]


@changes_message("oversized", "sends messages, texts and numbers that are larger than allowed")
def _oversized(one: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not isinstance(message, Batch):
        return None
    match one.plan.chance.below(5):
        case 0:
            return [blob + bytes(MAX_MESSAGE)]
        case 1:
            many = tuple(Cancel(number, "") for number in range(1001))
            return [encode(replace(message, actions=many))]
        case 2:
            wordy = (Cancel(0, "x" * 100_000), *message.actions)
            return [encode(replace(message, actions=wordy))]
        case 3:
            return [encode(Advisory(0, bytes(100_000))), blob]
        case _:
            return [encode(replace(message, number=1 << 63))]


@adversary("non-minimal", "encodes amounts, shares, sizes and numbers in more bytes than needed")
class _NonMinimal(MoveChanger):
    def change(self, message: Message, blob: bytes) -> list[bytes] | None:
        """A bet with a longer amount, where possible, or the message with wider integers."""
        if not isinstance(message, Batch):
            return None
        if self.plan.chance.below(2) and (changed := super().change(message, blob)) is not None:
            return changed
        return [wide(msgspec.msgpack.decode(blob))]

    def change_move(self, move: Move, game: LiveGame) -> Move | None:
        bet = legal_bet(self, game)
        if bet is None:
            return None
        amount = self.plan.chance.pick((0, bet.least, bet.most))
        return replace(bet.wire, move=bet.head + bytes(1) + int_to_atom(amount))


def wide(value: object) -> bytes:
    """Encode MessagePack with every integer in eight bytes, and every length in four.

    >>> from channelsim.channel.protocol.messages import Advisory, decode, encode
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
