"""Assemble each hand of a session from the news of both its peers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Acted, GameSettled, GameStarted, Moved, News, SawCards
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.session_events import (
    HandEnded,
    HandStarted,
    Listener,
    StepMade,
)
from channelsim.channel.session.setup import NAMES
from channelsim.games.contract import Hand, Player, Seat, Step


@dataclass(slots=True)
class _LiveHand:
    """A hand under way.

    `sides` and `players` are by seat; `acted` is the mover's news of a step that the waiter has not
    judged yet.
    """

    number: int
    game: str
    hand: Hand
    sides: tuple[Side, Side]
    players: list[Player]
    acted: Acted | None = None


class HandTracker:
    """Follows hands by the news of both peers, and notifies of their starts, steps and ends.

    `finished` are the settled hands with the names of their games; `moves` counts moves
    that programs judged, `moves_by_rules` those of games without programs, and
    `disagreements` says where rules and programs judged one differently.
    """

    def __init__(self, notify: Listener, balances: Callable[[], tuple[int, int]]) -> None:
        self.finished: list[tuple[str, Hand]] = []
        self.moves = self.moves_by_rules = 0
        self.disagreements: list[str] = []
        self._notify = notify
        self._balances = balances
        self._live: dict[int, _LiveHand] = {}
        self._started = 0

    def number(self, game_id: int) -> int:
        """The number of the live hand that is played as this game, counted from 0."""
        return self._live[game_id].number

    def follow(self, side: Side, news: News) -> None:
        """Take in the news of one peer."""
        match news:
            case GameStarted():
                self._on_started(side, news)
            case Acted():
                self._on_acted(side, news)
            case Moved():
                self._on_moved(side, news)
            case SawCards(game_id, player) if game_id in self._live:
                live = self._live[game_id]
                live.players[live.sides.index(side)] = player
            case GameSettled(by_us=False):
                # The side that did not settle hears of it last: now both peers agree.
                self._on_settled(news)
            case _:
                pass

    def _on_started(self, side: Side, news: GameStarted) -> None:
        game = news.game
        live = self._live.get(game.id)
        if live is None:
            sides = (game.alice, game.alice.other)
            hand = Hand(game.terms, (NAMES[sides[0]], NAMES[sides[1]]), ())
            # The other seat's player follows with its own news, before any step is judged.
            players = [news.player, news.player]
            self._live[game.id] = _LiveHand(self._started, game.terms.game, hand, sides, players)
            self._started += 1
            return
        live.players[game.seat(side)] = news.player
        proposer = NAMES[live.number % 2]
        self._notify(HandStarted(live.number, live.game, game.id, proposer, live.hand))

    def _on_acted(self, side: Side, news: Acted) -> None:
        live = self._live[news.game_id]
        if live.acted is not None:
            return
        live.acted = news
        if news.after == news.before:
            self._add_step(live, Seat(live.sides.index(side)), _pair(live.players))

    def _on_moved(self, side: Side, news: Moved) -> None:
        live = self._live[news.game_id]
        self.moves += news.runs > 0
        self.moves_by_rules += news.runs == 0
        self.disagreements += news.disagreements
        if live.acted is None:
            raise InvariantError(f"a move in game {news.game_id} that no player made")
        seat = Seat(live.sides.index(side))
        before = _pair(live.players)
        live.players[seat] = news.player
        live.players[seat.other] = live.acted.player
        self._add_step(live, seat.other, before)

    def _add_step(self, live: _LiveHand, seat: Seat, before: tuple[Player, Player]) -> None:
        acted = live.acted
        if acted is None:
            raise InvariantError("a step without an action")
        live.acted = None
        step = Step(seat, acted.action, acted.before, acted.after, before, _pair(live.players))
        live.hand = replace(live.hand, steps=(*live.hand.steps, step))
        self._notify(StepMade(live.game, live.hand))

    def _on_settled(self, news: GameSettled) -> None:
        live = self._live.pop(news.game_id)
        settler = live.hand.steps[-1].seat
        payouts = (news.theirs, news.ours) if settler is Seat.ALICE else (news.ours, news.theirs)
        hand = replace(live.hand, payouts=payouts)
        self.finished.append((live.game, hand))
        self._notify(HandEnded(live.number, live.game, hand, self._balances()))


def _pair(players: list[Player]) -> tuple[Player, Player]:
    return players[0], players[1]
