"""A shutdown that nobody asked for, or that it may not ask for."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.crypto import bls
from channel.protocol.messages import Batch, Message, Shutdown, ShutdownDone, encode
from channel.protocol.state import ChannelState


@register
class UnaskedShutdown(Adversary):
    """A half, and a completed spend, at a time at which neither belongs."""

    name = "unasked-shutdown"
    about = "sends a shutdown in the middle of play"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """In place of a batch, a shutdown's half or its completion."""
        if self.done or not isinstance(message, Batch) or self.peer._play is None:
            return [blob]
        self.done = True
        channel, state = self._channel(), self.peer.play.state
        conditions = ChannelState(state.number, channel.contributions)
        signed = channel.shutdown_message(conditions)
        half = bls.sign_half(self.keys.channel, signed, channel.channel_key)
        said = Shutdown(half) if self.plan.chance.below(2) else ShutdownDone(bls.add(half, half))
        return [encode(said)]
