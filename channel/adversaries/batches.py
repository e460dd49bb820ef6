"""Adversaries that send wrong batches, wrong encodings, or messages that do not belong there."""

from __future__ import annotations

import dataclasses
from struct import pack

import msgspec
from msgspec.structs import replace

from channelsim.channel.adversaries.base import (
    Adversary,
    BatchChanger,
    MessageChanger,
    Plan,
    adversary,
    changes_batch,
    changes_message,
)
from channelsim.channel.adversaries.moves import MoveChanger, legal_bet
from channelsim.channel.chain.coins import Coin
from channelsim.channel.crypto import bls
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import (
    MAX_MESSAGE,
    Advisory,
    Batch,
    Cancel,
    Message,
    Move,
    Request,
    Settle,
    Shutdown,
    ShutdownDone,
    encode,
)
from channelsim.channel.protocol.state import ChannelState, LiveGame
from channelsim.clsp.values import int_to_atom

NOWHERE = 1 << 40
"""The id of a game that does not exist."""

REQUESTS = 20
"""Requests that a flood adds to each message."""

FLOODED = 10
"""Messages that a flood is added to: a run has to end."""


@changes_batch("bad-action", "adds one impossible action to a batch of valid ones")
def _bad_action(changer: BatchChanger, batch: Batch, before: ChannelState) -> list[bytes]:
    if changer.plan.chance.below(2):
        return [changer.batch(before, (Settle(NOWHERE), *batch.actions))]
    settles = [action for action in batch.actions if isinstance(action, Settle)]
    others = [action for action in batch.actions if not isinstance(action, Settle)]
    return [changer.batch(before, (*settles, Cancel(NOWHERE, ""), *others))]


@changes_batch("staller", "returns the potato without the move that is due")
def _staller(changer: BatchChanger, batch: Batch, before: ChannelState) -> list[bytes] | None:
    acts = any(isinstance(action, Move | Settle) for action in batch.actions)
    return [changer.batch(before, ())] if acts else None


@changes_message("two-batches", "sends a second batch without holding the potato")
def _two_batches(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    return [blob, changer.batch(changer.state, ())] if isinstance(message, Batch) else None


@changes_batch("reused-signatures", "signs a batch with the halves of the state before it")
def _reused_signatures(changer: BatchChanger, batch: Batch, before: ChannelState) -> list[bytes]:
    halves = sign_halves(changer.channel, changer.keys, before)
    which = changer.plan.chance.below(3)
    channel_half = batch.channel_half if which == 0 else halves[0]
    unroll_half = batch.unroll_half if which == 1 else halves[1]
    changed = replace(batch, channel_half=channel_half, unroll_half=unroll_half)
    return [encode(changed)]


@changes_message("other-channel", "sends batches and shutdowns that are signed for another channel")
def _other_channel(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not changer.is_open or not isinstance(message, Batch | Shutdown | ShutdownDone):
        return None
    state, coin = changer.state, changer.channel.coin
    # The same keys and the same state, and another coin.
    other = dataclasses.replace(
        changer.channel, coin=Coin(bytes(32), coin.puzzle_hash, coin.amount)
    )
    if isinstance(message, Batch):
        if not changer.plan.chance.below(2):
            # The state of this number in a channel with more money: only the balances differ.
            other = dataclasses.replace(
                other, coin=Coin(bytes(32), coin.puzzle_hash, coin.amount + 2)
            )
            first, second = state.balances
            state = replace(state, balances=(first + 1, second + 1))
        channel_half, unroll_half = sign_halves(other, changer.keys, state)
        changed = replace(message, channel_half=channel_half, unroll_half=unroll_half)
        return [encode(changed)]
    if state.games:
        return None  # another one shuts the channel down in the middle of play
    signed = other.shutdown_message(state)
    half = bls.sign_half(changer.keys.channel, signed, other.channel_key)
    if isinstance(message, Shutdown):
        return [encode(Shutdown(half))]
    return [encode(ShutdownDone(bls.add(message.signature, half)))]


@adversary("replayer", "sends an earlier message instead of the one that is due")
class _Replayer(MessageChanger):
    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._old: list[bytes] = []

    def change(self, message: Message, blob: bytes) -> list[bytes] | None:
        self._old.append(blob)
        return [self.plan.chance.pick(self._old[:-1])] if len(self._old) > 1 else None


@adversary("flooder", "sends a flood of requests around every message")
class _Flooder(Adversary):
    def send(self, message: Message, blob: bytes) -> list[bytes]:
        if not self.is_open or self.sent_count - self.plan.step > FLOODED:
            return [blob]
        self.done = True
        before = self.plan.chance.below(REQUESTS)
        request = encode(Request())
        return [*[request] * before, blob, *[request] * (REQUESTS - before)]


@adversary("false-advisory", "sends early reveals that are wrong, late, or of no game")
class _FalseAdvisory(Adversary):
    def send(self, message: Message, blob: bytes) -> list[bytes]:
        chance = self.plan.chance
        if isinstance(message, Advisory):
            self.done = True
            data = chance.bytes(len(message.data))
            if chance.chance(50):
                # Where it opens a card of a deck, this is the card that it claims.
                data = message.data[:-1] + bytes((message.data[-1] ^ 1,))
            return [encode(Advisory(message.game_id, data))]
        if isinstance(message, Batch):
            wrong = [encode(Advisory(game_id, chance.bytes(32))) for game_id in (0, 1, NOWHERE)]
            self.done = chance.chance(50)  # an early reveal of its own may come after this batch
            return [wrong[0], blob, *wrong[1:]]
        return [blob]


# --- encodings -----------------------------------------------------------------------------------


@changes_message("garbler", "sends bytes that are not a message")
def _garbler(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    changed = bytearray(blob)
    changed[changer.plan.chance.below(len(changed))] ^= 1 + changer.plan.chance.below(255)
    return [bytes(changed)]


@changes_message("oversized", "sends messages, texts and numbers that are larger than allowed")
def _oversized(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not isinstance(message, Batch):
        return None
    match changer.plan.chance.below(5):
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
