"""A shutdown that pays it more."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import Adversary, Plan, register
from channel.crypto import bls
from channel.peer.interface import Close, Effect
from channel.peer.machine import Peer
from channel.protocol.messages import Message, Shutdown, encode


@register
class WrongShutdown(Adversary):
    """It asks to close at balances of its own choice."""

    name = "wrong-shutdown"
    about = "asks for a shutdown that pays it more"

    def __init__(self, peer: Peer, plan: Plan) -> None:
        super().__init__(peer, plan)
        self._asked = False

    def act(self) -> list[Effect]:
        """Ask for the shutdown, if nobody else does."""
        if self._asked:
            return []
        effects = self.command(Close())
        self._asked = effects is not None
        return effects or []

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """A half over other balances."""
        if not isinstance(message, Shutdown) or self.done:
            return [blob]
        self.done = True
        channel, state = self._channel(), self.peer.play.state
        side, total = self.peer.config.side, channel.coin.amount
        balances = (total, 0) if side == 0 else (0, total)
        wrong = msgspec.structs.replace(state, balances=balances, games=())
        signed = channel.shutdown_message(wrong)
        half = bls.sign_half(self.keys.channel, signed, channel.channel_key)
        return [encode(Shutdown(half))]
