"""A launcher that is none."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import Adversary, register
from channel.messages import Funding, Launch, Message, encode


@register
class FalseLauncher(Adversary):
    """The launcher comes from a coin that does not exist, or is spent to another channel."""

    name = "false-launcher"
    about = "launches from a coin that is not its own, or to another channel"

    def say(self, message: Message, blob: bytes) -> list[bytes]:
        """Another parent, or another spend of the launcher."""
        if self.done:
            return [blob]
        if isinstance(message, Launch) and self.plan.chance.below(2):
            self.done = True
            parent = msgspec.structs.replace(message.parent, parent=self.plan.chance.bytes(32))
            return [encode(msgspec.structs.replace(message, parent=parent))]
        if isinstance(message, Funding):
            self.done = True
            wallet, launcher = message.part.spends
            changed = msgspec.structs.replace(launcher, solution=launcher.solution[:-1] + b"\x01")
            part = msgspec.structs.replace(message.part, spends=(wallet, changed))
            return [encode(msgspec.structs.replace(message, part=part))]
        return [blob]
