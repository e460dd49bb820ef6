"""Both players of a session of agreed hands, as two processes of `peer` have them.

They prepare their decks, propose in turn, and propose a hand again whose deck was lost. They know
nothing but their peers' states: a peer may be killed at any time, and its player with it.
"""

from __future__ import annotations

from contextlib import suppress

from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import Driver
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.simulation.run import Party
from channelsim.channel.simulation.scenario import Scenario
from channelsim.games.chance import Chance
from channelsim.games.deck.work import LAST_STEP

SLOWNESS = 12
"""A step of a deck is finished before one in so many messages and decisions, on average."""


def setup_of(scenario: Scenario) -> Setup:
    """The session that both players of a scenario agreed on."""
    return Setup(
        games=scenario.games,
        seed=scenario.seed,
        hands=scenario.hands,
        unit=scenario.unit,
        stack=scenario.stack,
        balance=scenario.balance,
        policies=scenario.policies,
        confirmations=scenario.confirmations,
        unroll_timeout=scenario.unroll_timeout,
        game_timeout=scenario.game_timeout,
        spacing=scenario.spacing,
        mixed=scenario.mixed,
    )


class AgreedPlayers:
    """Both players. `chance` decides whether a player acts before a message arrives."""

    def __init__(
        self, scenario: Scenario, driver: Driver, parties: tuple[Party, Party], chance: Chance
    ) -> None:
        self._setup = setup_of(scenario)
        self._driver = driver
        self._parties = parties
        self._chance = chance
        self._idle_since: list[int | None] = [None, None]

    def next_step(self) -> bool:
        """Let a player act, a step of a deck be finished, or a message arrive; False for none.

        Steps of decks take their time, and play goes on meanwhile.
        """
        if self._chance.below(2) and self._act():
            return True
        if self._is_held_up() or self._chance.below(SLOWNESS) == 0:
            return self._driver.finish_step() or self._driver.deliver() or self._act()
        return self._driver.deliver() or self._act() or self._driver.finish_step()

    def _is_held_up(self) -> bool:
        """True if the next message waits for a last step of a deck, as a runner lets it wait."""
        if not self._driver.messages:
            return False
        state = self._parties[self._driver.messages[0][0]].peer.state
        decks = state.play.decks.decks.values() if state.play is not None else ()
        return any(deck.computing is not None and deck.computing[0] == LAST_STEP for deck in decks)

    def _act(self) -> bool:
        """Let a player answer, or do something of its own accord; False if neither has to."""
        for side in Side:
            player = self._player(side)
            command = player.next_command()
            self._idle_since[side] = player.idle_since
            if command is not None:
                with suppress(UsageError):
                    self._driver.handle(side, command)
                    return True
        asked = self._driver.next_question()
        if asked is None:
            return False
        index, question = asked
        answer = self._player(Side(index)).answer(question)
        if answer is not None:
            # The game or the channel may have moved on in the meantime.
            with suppress(UsageError):
                self._driver.handle(index, answer)
        return True

    def _player(self, side: Side) -> SidePlayer:
        """The player of this side, as after a restart: but for the time that it has waited."""
        peer = self._parties[side].peer
        decide = by_policy(self._setup.policies[side], peer.config.secret)
        return SidePlayer(self._setup, peer, decide, idle_since=self._idle_since[side])
