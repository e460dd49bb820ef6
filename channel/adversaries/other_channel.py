"""What would be right in another channel of the same two players."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from channel.adversaries.base import Adversary, register
from channel.chain.coins import Coin
from channel.crypto import bls
from channel.errors import InvariantError
from channel.protocol.half_signed import sign_halves
from channel.protocol.messages import Batch, Message, Shutdown, ShutdownDone, encode
from channel.protocol.state import Channel


@register
class OtherChannel(Adversary):
    """The same keys, the same numbers, another coin: or other balances in it."""

    name = "other-channel"
    about = "sends batches and shutdown halves that are signed for another channel"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """The same message with the other channel's signatures."""
        if self.done or self.peer._play is None:
            return [blob]
        state, other = self.peer.play.state, self._other()
        changed: Message
        match message:
            case Batch():
                if self.plan.chance.below(2):
                    halves = sign_halves(other, self.keys, state)
                else:
                    # State n of a channel with more money, in which only the balances differ.
                    richer = replace(other, coin=_richer(other.coin))
                    balances = (state.balances[0] + 1, state.balances[1] + 1)
                    same = msgspec.structs.replace(state, balances=balances)
                    halves = sign_halves(richer, self.keys, same)
                changed = msgspec.structs.replace(
                    message, channel_half=halves[0], unroll_half=halves[1]
                )
            case Shutdown() | ShutdownDone():
                signed = other.shutdown_message(state)
                half = bls.sign_half(self.keys.channel, signed, other.channel_key)
                if isinstance(message, Shutdown):
                    changed = Shutdown(half)
                else:
                    changed = ShutdownDone(bls.add(message.signature, half))
            case _:
                return [blob]
        self.done = True
        return [encode(changed)]

    def _other(self) -> Channel:
        """A channel that differs in nothing but its coin."""
        channel = self.channel
        if channel is None:
            raise InvariantError("a book without a channel")
        coin = channel.coin
        return replace(channel, coin=Coin(bytes(32), coin.puzzle_hash, coin.amount))


def _richer(coin: Coin) -> Coin:
    return Coin(coin.parent, coin.puzzle_hash, coin.amount + 2)
