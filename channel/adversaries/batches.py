"""Adversaries that send a wrong batch, or a message that does not belong where it comes."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from channelsim.channel.adversaries.base import (
    Adversary,
    MessageChanger,
    Plan,
    adversary,
    changes_message,
)
from channelsim.channel.chain.coins import Coin
from channelsim.channel.crypto import bls
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import (
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

NOWHERE = 1 << 40
"""The id of a game that does not exist."""

REQUESTS = 20
"""Requests that a flood adds to each message."""

FLOODED = 10
"""Messages that a flood is added to: a run has to end."""


@changes_message("bad-action", "adds one impossible action to a batch of valid ones")
def _bad_action(one: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    found = one.batch_and_before(message)
    if found is None:
        return None
    batch, before = found
    if one.plan.chance.below(2):
        return [one.batch(before, (Settle(NOWHERE), *batch.actions))]
    settles = [action for action in batch.actions if isinstance(action, Settle)]
    others = [action for action in batch.actions if not isinstance(action, Settle)]
    return [one.batch(before, (*settles, Cancel(NOWHERE, ""), *others))]


@changes_message("staller", "returns the potato without the move that is due")
def _staller(one: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    found = one.batch_and_before(message)
    if found is None or not any(isinstance(act, Move | Settle) for act in found[0].actions):
        return None
    return [one.batch(found[1], ())]


@changes_message("two-batches", "sends a second batch without holding the potato")
def _two_batches(one: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    return [blob, one.batch(one.state, ())] if isinstance(message, Batch) else None


@changes_message("reused-signatures", "signs a batch with the halves of the state before it")
def _reused_signatures(one: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    found = one.batch_and_before(message)
    if found is None:
        return None
    batch, before = found
    halves = sign_halves(one.channel, one.keys, before)
    which = one.plan.chance.below(3)
    channel_half = batch.channel_half if which == 0 else halves[0]
    unroll_half = batch.unroll_half if which == 1 else halves[1]
    changed = msgspec.structs.replace(batch, channel_half=channel_half, unroll_half=unroll_half)
    return [encode(changed)]


@changes_message("other-channel", "sends batches and shutdowns that are signed for another channel")
def _other_channel(one: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not one.is_open or not isinstance(message, Batch | Shutdown | ShutdownDone):
        return None
    state, coin = one.state, one.channel.coin
    # The same keys and the same state, and another coin.
    other = replace(one.channel, coin=Coin(bytes(32), coin.puzzle_hash, coin.amount))
    if isinstance(message, Batch):
        if one.plan.chance.below(2):
            halves = sign_halves(other, one.keys, state)
        else:
            # The state of this number in a channel with more money: only the balances differ.
            richer = replace(other, coin=Coin(bytes(32), coin.puzzle_hash, coin.amount + 2))
            balances = (state.balances[0] + 1, state.balances[1] + 1)
            halves = sign_halves(
                richer, one.keys, msgspec.structs.replace(state, balances=balances)
            )
        return [
            encode(msgspec.structs.replace(message, channel_half=halves[0], unroll_half=halves[1]))
        ]
    signed = other.shutdown_message(state)
    half = bls.sign_half(one.keys.channel, signed, other.channel_key)
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
            return [encode(Advisory(message.game_id, chance.bytes(len(message.data))))]
        if isinstance(message, Batch):
            self.done = True
            wrong = [encode(Advisory(game_id, chance.bytes(32))) for game_id in (0, 1, NOWHERE)]
            return [wrong[0], blob, *wrong[1:]]
        return [blob]
