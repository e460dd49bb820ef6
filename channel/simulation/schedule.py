"""The plan of the games: what is proposed next, and when."""

from __future__ import annotations

from channel.peer.interface import Acted, Cancelled, GameStarted, Moved, News
from channel.protocol.proposals import Wish
from channel.protocol.state import ChannelState
from channel.simulation.scenario import Scenario
from games import registry
from games.chance import Chance

MOST_MOVES = 4
"""Moves that a game may have had, at the most, when the next one is proposed beside it."""


class Hands:
    """What is still to be proposed, in the order of the scenario.

    All games in one proposal, and the next hand when they are over; or, staggered, each game by
    itself, and the next one when the one before it has had a few moves. It hears the news of the
    honest side, to know that.
    """

    def __init__(self, scenario: Scenario, chance: Chance) -> None:
        self._scenario = scenario
        self._chance = chance
        each = [(name,) for name in scenario.games] if scenario.staggered else [scenario.games]
        self._left = each * scenario.hands
        self._made = 0
        self._answered = True
        self._game = -1
        self._moves = 0
        self._pause = 0

    @property
    def first(self) -> bool:
        """Whether nothing has been proposed yet."""
        return self._made == 0

    @property
    def over(self) -> bool:
        """Whether there is nothing to propose any more."""
        return not self._left

    def hear(self, news: News) -> None:
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

    def beside(self) -> bool:
        """Whether the next game is to be proposed while others are being played."""
        started = not self.over and not self.first and self._answered
        return self._scenario.staggered and started and self._moves >= self._pause

    def after(self, state: ChannelState) -> bool:
        """Whether the next hand is to be proposed now that nobody has anything to say."""
        return not self.over and not state.games and not state.groups

    def next(self) -> tuple[Wish, ...]:
        """What is proposed now, and no more."""
        scenario, names = self._scenario, self._left.pop(0)
        first = self._chance.below(2)
        self._made += 1
        self._answered = False
        if scenario.staggered:
            self._pause = self._chance.between(1, MOST_MOVES)
        return tuple(
            Wish(
                name,
                registry.get(name).default_parameters(scenario.unit, scenario.stack),
                scenario.game_timeout,
                (number + first) % 2 == 0,
            )
            for number, name in enumerate(names)
        )
