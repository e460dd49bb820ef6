"""It asks for a shutdown, or completes one, and plays on."""

from __future__ import annotations

from channel.adversaries.base import Adversary, register
from channel.protocol.messages import Message, Request, Shutdown, ShutdownDone, encode


@register
class PlaysOn(Adversary):
    """Its half is out, and it behaves as if it were not."""

    name = "plays-on"
    about = "sends batches after it has asked for a shutdown"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """After a shutdown message, an empty batch."""
        if self.done or not isinstance(message, Shutdown | ShutdownDone):
            return [blob]
        self.done = True
        return [blob, encode(Request()), self.batch(self.peer.play.state, ())]
