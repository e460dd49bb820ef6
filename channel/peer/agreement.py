"""Terms that both players agree on before their peers exchange a message."""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.protocol.proposals import ANSWER_MARGIN


@dataclass(frozen=True, slots=True)
class Times:
    """The times that each side waits for the other, in blocks.

    `response` and `move` are agreed on; `margin` is what the waiting side adds of its own accord
    for delivery and reconnection.
    """

    response: int = 10
    move: int = 40
    margin: int = 3


@dataclass(frozen=True, slots=True)
class Agreement:
    """Contributions, timeouts and waiting times of a channel.

    `contributions` in mojos, the initiator's first; `unroll_timeout` in blocks; `confirmations`
    is our own setting.
    """

    contributions: tuple[int, int]
    unroll_timeout: int
    confirmations: int
    times: Times = Times()

    def least_unroll_timeout(self) -> int:
        """The shortest unroll timeout that a careful player accepts, in blocks."""
        return self.confirmations + 2 + ANSWER_MARGIN
