"""Questions of a peer to its player: bounded, however slow it is; and who answers them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from channelsim.channel.peer.interface import Act, Command, Proposed, YourTurn
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.state import Group
from channelsim.games.contract import Action, Player

Deciding: TypeAlias = Callable[[str, int, Player], Action]
"""Decides in a game: its name and its id."""


class PlayerOfPeer(Protocol):
    """A peer's player. `answer` may block, and only reads the peer."""

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        """Answer a question of the peer; None if it needs no answer any more."""
        ...

    def next_command(self) -> Command | None:
        """The next command of the player's own accord, if it has one now."""
        ...


def take_turn(peer: Peer, game_id: int, decide: Deciding) -> Act | None:
    """Decide in a game; None if it has gone on or ended meanwhile."""
    player = peer.player(game_id)
    if player is None or not player.choices():
        return None
    games = (link.state.game(game_id) for link in peer.play.history)
    name = next(game.terms.game for game in games if game is not None)
    return Act(game_id, decide(name, game_id, player))


class Questions:
    """Questions to a player: one for each proposal and each game, however often they are asked.

    A question stays until it is answered. Proposals come before turns, but not two of them while
    a turn waits: the other side may make a new one with each return of the potato. `proposals` are
    by the ids of their groups, and `turns` by those of games.
    """

    def __init__(self) -> None:
        self.proposals: dict[int, Proposed] = {}
        self.turns: dict[int, YourTurn] = {}
        self._turn_is_next = False

    def __len__(self) -> int:
        return len(self.proposals) + len(self.turns)

    def ask(self, question: Proposed | YourTurn) -> None:
        """Add a question, unless it waits already."""
        match question:
            case Proposed(group):
                self.proposals.setdefault(group.id, question)
            case YourTurn(game_id):
                self.turns.setdefault(game_id, question)

    def next(self) -> Proposed | YourTurn | None:
        """The question to answer next, which stays."""
        proposal = next(iter(self.proposals.values()), None)
        turn = next(iter(self.turns.values()), None)
        return (turn or proposal) if self._turn_is_next else (proposal or turn)

    def answered(self, question: Proposed | YourTurn) -> None:
        """Drop a question, before its answer is given to the peer."""
        self._turn_is_next = isinstance(question, Proposed)
        match question:
            case Proposed(group):
                self.proposals.pop(group.id, None)
            case YourTurn(game_id):
                self.turns.pop(game_id, None)

    def withdrawn(self, group: Group) -> None:
        """Drop the question about a proposal that is no longer open."""
        self.proposals.pop(group.id, None)

    def clear(self) -> None:
        """Drop all questions: after a restart the peer asks them again."""
        self.proposals.clear()
        self.turns.clear()
