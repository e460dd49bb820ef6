"""Adversaries of the clean shutdown."""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.adversaries.base import (
    Adversary,
    MessageChanger,
    adversary,
    changes_message,
)
from channelsim.channel.chain.coins import Bundle
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import Close, Effect, Push
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.messages import (
    Batch,
    Message,
    Request,
    Shutdown,
    ShutdownDone,
    encode,
)
from channelsim.channel.protocol.state import ChannelState


@adversary("wrong-shutdown", "asks for a shutdown that pays it everything")
class _WrongShutdown(MessageChanger):
    _asked = False

    def act(self) -> list[Effect]:
        if self._asked:
            return []
        effects = self.command(Close())
        self._asked = effects is not None
        return effects or []

    def change(self, message: Message, blob: bytes) -> list[bytes] | None:
        if not isinstance(message, Shutdown):
            return None
        wrong = replace(self.state, balances=self.everything(), games=())
        return [encode(Shutdown(_half(self, wrong)))]


@adversary("undoes-shutdown", "takes a final shutdown back by a deep reorganisation, and is silent")
class _UndoesShutdown(Adversary):
    """The shutdown is final for the other side, which has to publish it again."""

    at_once = False

    def push(self, push: Push) -> list[Effect]:
        return [] if push.name == "shutdown" and self.done else [push]

    def last(self) -> list[Effect]:
        coin = self.channel_coin()
        if self.done or not self.due or coin is None or coin.spent is None:
            return []
        final = self.peer.config.agreement.confirmations + 1
        deep = self.plan.chain.peak() - coin.spent + 1 == final
        self.done = self.phase is Phase.CLOSED and deep and self.plan.rewind(final, self.instead())
        return []

    def instead(self) -> Bundle | None:
        """The spend of the channel coin that takes the shutdown's place, if one does."""
        return None


@adversary(
    "replaces-shutdown",
    "takes a final shutdown back by a deep reorganisation, and publishes a state",
)
class _ReplacesShutdown(_UndoesShutdown):
    """The other side never sees the channel coin unspent again."""

    def instead(self) -> Bundle | None:
        signed = self.completable()
        return self.publishes(self.plan.chance.pick(signed)) if signed else None


@changes_message("unasked-shutdown", "sends a shutdown, or its completion, in the middle of play")
def _unasked_shutdown(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not isinstance(message, Batch):
        return None
    half = _half(changer, ChannelState(changer.state.number, changer.channel.contributions))
    asks = changer.plan.chance.below(2)
    return [encode(Shutdown(half) if asks else ShutdownDone(bls.add(half, half)))]


@changes_message("plays-on", "sends a batch after it has asked for a shutdown")
def _plays_on(changer: MessageChanger, message: Message, blob: bytes) -> list[bytes] | None:
    if not isinstance(message, Shutdown | ShutdownDone):
        return None
    return [blob, encode(Request()), changer.batch(changer.state, ())]


def _half(cheat: Adversary, state: ChannelState) -> bytes:
    """Its half of the signature of the shutdown that pays the balances of this state."""
    channel = cheat.channel
    return bls.sign_half(cheat.keys.channel, channel.shutdown_message(state), channel.channel_key)
