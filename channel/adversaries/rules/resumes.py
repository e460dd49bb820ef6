"""Violations of the rules of last numbers, on a connection that the adversary makes."""

from __future__ import annotations

from channelsim.channel.adversaries.rules.breaker import RuleBreaker, Variants, breaks, changed
from channelsim.channel.peer.machine import Phase
from channelsim.channel.protocol.half_signed import sign_halves
from channelsim.channel.protocol.messages import Message, Resume


class _Reconnecting(RuleBreaker):
    """Makes new connections until it can break its rule."""

    def reconnects(self) -> bool:
        """True in play: earlier the other side may not expect any numbers."""
        return self.due and self.phase is Phase.PLAYING and not self.done


@breaks("CH-RESUME-1", _Reconnecting)
def _numbers_that_cannot_be(one: RuleBreaker, message: Message) -> Variants:
    if not isinstance(message, Resume):
        return []
    received, sent = message.received, message.sent
    return changed(
        message,
        {"sent": received},
        {"sent": received + 3},
        {"received": sent, "sent": received},
        {"received": received + 1, "sent": received + 2},
    )


@breaks("CH-RESUME-2", _Reconnecting)
def _without_proof(one: RuleBreaker, message: Message) -> Variants:
    if not isinstance(message, Resume):
        return []
    received, own = message.received, sign_halves(one.channel, one.keys, one.state)
    return changed(
        message,
        {"received": received + 2, "sent": received + 3},
        {"received": received + 100, "sent": received + 101},
        {"conditions": bytes(32)},
        {"channel_half": own[0], "unroll_half": own[1]},
        {"channel_half": message.unroll_half},
        {"unroll_half": message.channel_half},
    )
