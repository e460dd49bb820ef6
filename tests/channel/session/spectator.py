"""A player of a peer that decides nothing."""

from __future__ import annotations

from channelsim.channel.peer.interface import Command, Proposed, YourTurn


class Spectator:
    """A player that decides nothing: for a side that only takes what is its own from the chain."""

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        """Give no answer."""
        return None

    def next_command(self) -> Command | None:
        """Want nothing."""
        return None
