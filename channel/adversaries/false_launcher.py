"""A launcher that is none."""

from __future__ import annotations

import msgspec

from channel.adversaries.base import Adversary, register
from channel.chain.coins import Bundle, launcher_puzzle
from channel.protocol.messages import Funded, Funding, Launch, Message, encode


@register
class FalseLauncher(Adversary):
    """The launcher comes from a coin that does not exist, or is spent to another channel, or is
    no launcher."""

    name = "false-launcher"
    about = "launches from a coin that is not its own, or to another channel, or with no launcher"
    default_step = 0

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
            return [encode(msgspec.structs.replace(message, part=self._other(message.part)))]
        if isinstance(message, Funded):
            self.done = True
            return [encode(Funded(self._other(message.bundle)))]
        return [blob]

    def _other(self, bundle: Bundle) -> Bundle:
        """The bundle with another spend of the launcher, or another puzzle for it."""
        launcher = next(one for one in bundle.spends if one.puzzle == launcher_puzzle().serialized)
        if self.plan.chance.below(2):
            wrong = msgspec.structs.replace(launcher, solution=launcher.solution[:-1] + b"\x01")
        else:
            wrong = msgspec.structs.replace(launcher, puzzle=b"\x01")
        spends = tuple(wrong if one is launcher else one for one in bundle.spends)
        return msgspec.structs.replace(bundle, spends=spends)
