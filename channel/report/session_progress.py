"""The progress of a session, for the report of an interruption."""

from __future__ import annotations

from channelsim.channel.session.session_events import (
    Answered,
    ChannelFunded,
    HandEnded,
    SessionEvent,
)
from channelsim.channel.session.setup import Setup
from channelsim.games.contract import Hand


class SessionProgress:
    """A listener that collects the finished hands, with their games, and the balances.

    `declined`: a player did not accept a hand.
    """

    def __init__(self, setup: Setup) -> None:
        self.hands: list[tuple[str, Hand]] = []
        self.balances = (setup.balance, setup.balance)
        self.declined = False

    def __call__(self, event: SessionEvent) -> None:
        """Record a finished hand, or the balances at the start."""
        match event:
            case ChannelFunded(_, _, balances):
                self.balances = balances
            case HandEnded(_, game, hand, balances):
                self.hands.append((game, hand))
                self.balances = balances
            case Answered(_, _, accepts):
                self.declined = self.declined or not accepts
            case _:
                pass
