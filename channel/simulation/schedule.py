"""The games of a scenario that are still to be proposed, in their order."""

from __future__ import annotations

from channelsim.channel.peer.interface import (
    Acted,
    Cancelled,
    GameStarted,
    Moved,
    News,
)
from channelsim.channel.protocol.proposals import Wish
from channelsim.channel.protocol.state import ChannelState
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games import registry
from channelsim.games.chance import Chance

MOST_MOVES = 4
"""The most moves of a game before the next one is proposed beside it, when staggered."""


class Schedule:
    """The games still to be proposed, in the order of the scenario.

    All games of a hand in one proposal, and the next hand when they are over; or, staggered, each
    game on its own, and the next one after a few moves of the one before it. It follows the
    honest side's news.
    """

    def __init__(self, scenario: Scenario, chance: Chance) -> None:
        self._scenario = scenario
        self._chance = chance
        groups = [(name,) for name in scenario.games] if scenario.staggered else [scenario.games]
        self._remaining = groups * scenario.hands
        self._proposed = 0
        self._answered = True
        self._game = -1
        self._moves = 0
        self._moves_before_next = 0

    @property
    def is_new(self) -> bool:
        """True if nothing has been proposed yet."""
        return self._proposed == 0

    @property
    def is_over(self) -> bool:
        """True if everything has been proposed."""
        return not self._remaining

    def follow(self, news: News) -> None:
        """Follow the game that was proposed last."""
        match news:
            case GameStarted(game):
                self._answered, self._game, self._moves = True, game.id, 0
            case Cancelled():
                self._answered = True
            case Acted(game_id) | Moved(game_id) if game_id == self._game:
                self._moves += 1
            case _:
                pass

    def is_due_beside_others(self) -> bool:
        """True if the next game is to be proposed now, while others are being played."""
        begun = not self.is_over and not self.is_new and self._answered
        return self._scenario.staggered and begun and self._moves >= self._moves_before_next

    def is_due_after(self, state: ChannelState) -> bool:
        """True if the next games are to be proposed in this state, and nothing else is going on."""
        return not self.is_over and not state.games and not state.groups

    def take(self) -> tuple[Wish, ...]:
        """Take the next games off the schedule, as one proposal."""
        scenario, names = self._scenario, self._remaining.pop(0)
        first = self._chance.below(2)
        self._proposed += 1
        self._answered = False
        if scenario.staggered:
            self._moves_before_next = self._chance.between(1, MOST_MOVES)
        return tuple(
            Wish(
                name,
                registry.get(name).default_parameters(scenario.unit, scenario.stack),
                scenario.game_timeout,
                (number + first) % 2 == 0,
            )
            for number, name in enumerate(names)
        )
