"""Questions that a player has not answered yet: bounded, however slow it is."""

from __future__ import annotations

from channelsim.channel.peer.interface import Proposed, YourTurn
from channelsim.channel.protocol.state import Group


class Questions:
    """Questions to a player: one for each proposal and each game, however often they are asked.

    A question stays until it is answered. Proposals come before turns, but not two of them while
    a turn waits: the other side may make a new one with each return of the potato.
    """

    def __init__(self) -> None:
        self._proposals: dict[int, Proposed] = {}
        self._turns: dict[int, YourTurn] = {}
        self._turn_is_next = False

    def __len__(self) -> int:
        return len(self._proposals) + len(self._turns)

    def ask(self, question: Proposed | YourTurn) -> None:
        """Add a question, unless it waits already."""
        match question:
            case Proposed(group):
                self._proposals.setdefault(group.id, question)
            case YourTurn(game_id):
                self._turns.setdefault(game_id, question)

    def next(self) -> Proposed | YourTurn | None:
        """The question to answer next, which stays."""
        proposal = next(iter(self._proposals.values()), None)
        turn = next(iter(self._turns.values()), None)
        return (turn or proposal) if self._turn_is_next else (proposal or turn)

    def answered(self, question: Proposed | YourTurn) -> None:
        """Drop a question, before its answer is given to the peer."""
        self._turn_is_next = isinstance(question, Proposed)
        match question:
            case Proposed(group):
                self._proposals.pop(group.id, None)
            case YourTurn(game_id):
                self._turns.pop(game_id, None)

    def withdrawn(self, group: Group) -> None:
        """Drop the question about a proposal that is no longer open."""
        self._proposals.pop(group.id, None)

    def clear(self) -> None:
        """Drop all questions: after a restart the peer asks them again."""
        self._proposals.clear()
        self._turns.clear()
