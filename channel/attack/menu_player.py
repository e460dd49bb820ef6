"""The player of a side that proposes several games at once, and accepts whatever is proposed.

Who proposes next, and who asks for the shutdown, follows from the seed of the session and from the
ids of games that both sides have used: so a player that is restarted goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.interface import (
    AcceptGames,
    Close,
    Command,
    Proposed,
    ProposeGames,
    YourTurn,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.proposals import Wish, needs_deck
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.session.agreed_hands import HandCounter
from channelsim.channel.session.questions import Deciding, take_turn
from channelsim.channel.session.setup import Setup
from channelsim.channel.simulation.terms import Proposals
from channelsim.games.chance import Chance

MOST_STATES = 8
"""The most states of a game before the next one is proposed beside it, when staggered."""

PATIENCE = 10
"""Blocks without a live game after which a side asks for the shutdown: no rule makes the other one
propose, or answer a proposal. It is multiplied by the spacing."""

MORE = 8
"""Games beyond those of the menu after which a side asks for the shutdown: the other one may
propose a game with each message."""


@dataclass(frozen=True, slots=True)
class Menu:
    """The proposals of a session in their order, which follows from the seed of its setup.

    `first` is the side that makes the first one. `deal` makes so many decks for both sides.
    """

    setup: Setup
    proposals: Proposals
    first: int
    deal: Callable[[int], None]

    @property
    def groups(self) -> list[tuple[str, ...]]:
        """The games of each proposal."""
        games = self.setup.games
        one_by_one = self.proposals is Proposals.STAGGERED
        groups: list[tuple[str, ...]] = [(name,) for name in games] if one_by_one else [games]
        return groups * self.setup.hands

    def made(self, state: ChannelState) -> int:
        """The number of proposals of which all ids are used up to a state."""
        return sum(ends <= _games(state) for ends in accumulate(map(len, self.groups)))

    def is_exceeded(self, state: ChannelState) -> bool:
        """True if many more games were proposed up to a state."""
        return _games(state) > sum(map(len, self.groups)) + MORE

    def proposer(self, number: int) -> int:
        """The side that makes the proposal of this number; after the last one, it closes."""
        return self._chance("proposer", number).below(2) if number else self.first

    def wishes(self, number: int) -> tuple[Wish, ...]:
        """The games of the proposal of this number, with the seats in turn."""
        setup, first = self.setup, self._chance("seats", number).below(2)
        return tuple(
            Wish(name, setup.parameters(name), setup.game_timeout, (place + first) % 2 == 0)
            for place, name in enumerate(self.groups[number])
        )

    def states_before(self, number: int) -> int:
        """The states with the newest game before the proposal of this number, when staggered."""
        return self._chance("states", number).between(1, MOST_STATES)

    def _chance(self, name: str, number: int) -> Chance:
        return Chance(derive(self.setup.seed.encode(), "menu", name, number))


@dataclass(slots=True)
class MenuPlayer:
    """One side's player of a menu. `decide` may take its time.

    Since the height `idle_since` there are the same `games`.
    """

    menu: Menu
    peer: Peer
    decide: Deciding
    games: tuple[int, ...] | None = None
    idle_since: int = 0
    counter: HandCounter = field(default_factory=HandCounter)

    def answer(self, question: Proposed | YourTurn) -> Command | None:
        """Accept a proposal, or decide in a game."""
        if isinstance(question, Proposed):
            return AcceptGames(question.group.id)
        return take_turn(self.peer, question.game_id, self.decide)

    def next_command(self) -> Command | None:
        """Propose the next games, or ask for the shutdown, when that is up to us."""
        peer, menu = self.peer, self.menu
        if peer.phase is not Phase.PLAYING or peer.play.closing:
            return None
        play, number = peer.play, menu.made(peer.play.state)
        is_over = number >= len(menu.groups)
        if self._waits_too_long(play) or menu.is_exceeded(play.state):
            return Close()
        if peer.state.resuming:
            return None
        if play.queue or play.state.groups or menu.proposer(number) != peer.config.side:
            return None
        if not play.state.games:
            return Close() if is_over else self._propose(number)
        if is_over or menu.proposals is not Proposals.STAGGERED:
            return None
        since = self.counter.begun(play.history).number
        is_due = play.state.number - since >= menu.states_before(number)
        return self._propose(number) if is_due else None

    def _waits_too_long(self, play: PlayState) -> bool:
        """True if nothing is played for a while."""
        peak = self.peer.state.block.peak
        games = tuple(game.id for game in play.state.games)
        if games != self.games:
            self.games, self.idle_since = games, peak
        return not games and peak - self.idle_since > self.menu.setup.spacing * PATIENCE

    def _propose(self, number: int) -> Command:
        """Propose games, with a deck for each that needs one, and one to spare."""
        wishes = self.menu.wishes(number)
        needed = sum(map(needs_deck, wishes))
        if needed:
            self.menu.deal(needed + 1 - len(self.peer.play.decks.ready))
        return ProposeGames(wishes)


def _games(state: ChannelState) -> int:
    """The number of games of which ids are used."""
    first, second = state.next_ids
    return (first + second) // 2
