"""Both players of two driven peers: they answer questions, and act of their own accord."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    Act,
    Command,
    ProposeGames,
    YourTurn,
)
from channelsim.channel.protocol.proposals import needs_deck
from channelsim.channel.session.dealers import Dealer
from channelsim.channel.session.driver import Driver
from channelsim.channel.session.questions import PlayerOfPeer
from channelsim.channel.session.session_events import Decided
from channelsim.channel.store.interface import StoreError


class Players:
    """The players of a driver's peers, by side. A `dealer` provides the decks that they name."""

    def __init__(
        self, driver: Driver, players: Sequence[PlayerOfPeer], dealer: Dealer | None = None
    ) -> None:
        self._driver = driver
        self.players = players
        self._dealer = dealer

    def ask(self) -> bool:
        """Ask a player the next question; False if there is none."""
        asked = self._driver.next_question()
        if asked is None:
            return False
        side, question = asked
        answer = partial(self.players[side].answer, question)
        if self._dealer is not None and isinstance(question, YourTurn):
            command = self._dealer.meanwhile(answer)
        else:
            command = answer()
        if isinstance(command, Act):
            name = self._driver.peers[side].name
            self._driver.notify(Decided(name, command.game_id, command.action))
        if command is not None:
            self.command(side, command)
        return True

    def act(self) -> bool:
        """Let a player act of its own accord, the initiator first; False if neither does."""
        for side, player in enumerate(self.players):
            command = player.next_command()
            if command is not None and self.command(side, command):
                return True
        return False

    def command(self, side: int, command: Command) -> bool:
        """Give a peer a command; False if it is not possible: the channel may have moved on."""
        wishes = command.wishes if isinstance(command, ProposeGames) else ()
        if self._dealer is not None and any(map(needs_deck, wishes)):
            self._dealer.provide()
        try:
            self._driver.handle(side, command)
        except StoreError:
            raise
        except UsageError:
            return False
        return True
