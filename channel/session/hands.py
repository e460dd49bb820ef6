"""Assemble each hand from the news of both peers, one of which may say what is not so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from channelsim.channel.peer.chain_news import GameEnded
from channelsim.channel.peer.interface import Acted, GameSettled, GameStarted, Moved, News, SawCards
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.session_events import HandEnded, HandStarted, Listener, StepMade
from channelsim.channel.session.setup import NAMES
from channelsim.games.contract import Hand, Player, Position, Seat, Step


@dataclass(slots=True)
class _Followed:
    """A hand under way, in which `alice` moves first; `players` are by seat.

    `claims` are what a seat says it did, until the other has taken it. Nothing more is known of a
    hand that is `lost`: the message was not what its sender's own peer had made.
    """

    number: int
    hand: Hand
    alice: Side
    players: list[Player]
    position: Position
    claims: dict[Seat, Acted] = field(default_factory=dict)
    lost: bool = False

    def seat(self, side: Side) -> Seat:
        """The role of this side."""
        return Seat.ALICE if side is self.alice else Seat.BOB


class HandTracker:
    """Notifies of the starts, steps and ends of hands, each as far as both peers agree.

    `balances` are those of both peers, now. `finished` are the hands that ended, with the names of
    their games; `lost` counts those of which a step is missing. `moves` counts moves that programs
    judged, `moves_by_rules` those of games without programs, and `disagreements` says where rules
    and programs judged one differently.
    """

    def __init__(self, notify: Listener, balances: Callable[[], tuple[int, int]]) -> None:
        self.finished: list[tuple[str, Hand]] = []
        self.lost = self.moves = self.moves_by_rules = 0
        self.disagreements: list[str] = []
        self._notify = notify
        self._balances = balances
        self._live: dict[int, _Followed] = {}
        self._started = 0

    def number(self, game_id: int) -> int:
        """The number of the live hand that is played as this game, counted from 0."""
        return self._live[game_id].number

    def follow(self, side: Side, news: News) -> None:
        """Take in the news of one peer."""
        match news:
            case GameStarted(game, player):
                followed = self._live.get(game.id)
                if followed is not None:
                    followed.players[game.seat(side)] = player
                    return
                names = (NAMES[game.alice], NAMES[game.alice.other])
                hand = Hand(game.terms, names, ())
                number, self._started = self._started, self._started + 1
                self._live[game.id] = _Followed(
                    number, hand, game.alice, [player, player], game.position
                )
                # The initiator's games have even ids.
                proposer = NAMES[game.id % 2]
                self._notify(HandStarted(number, game.terms.game, game.id, proposer, hand))
            case Acted(game_id) if game_id in self._live:
                self._acted(self._live[game_id], side, news)
            case Moved(game_id, after, player) if game_id in self._live:
                self.moves += news.runs > 0
                self.moves_by_rules += news.runs == 0
                self.disagreements += news.disagreements
                self._moved(self._live[game_id], side, after, player)
            case SawCards(game_id, player) if game_id in self._live:
                followed = self._live[game_id]
                followed.players[followed.seat(side)] = player
            case GameSettled(game_id, _, ours, theirs) | GameEnded(game_id, ours, theirs):
                followed = self._live.pop(game_id, None)
                if followed is not None:
                    is_alice = side is followed.alice
                    payouts = (ours, theirs) if is_alice else (theirs, ours)
                    followed.hand = replace(followed.hand, payouts=payouts)
                    self._end(followed)
            case _:
                pass

    def finish(self) -> None:
        """End the hands that nobody was paid for."""
        for followed in self._live.values():
            self._end(followed)
        self._live.clear()

    def _acted(self, followed: _Followed, side: Side, acted: Acted) -> None:
        seat = followed.seat(side)
        if acted.after != acted.before:
            followed.claims[seat] = acted
        elif acted.before == followed.position:
            self._add(followed, seat, acted, tuple(followed.players))

    def _moved(self, followed: _Followed, side: Side, after: Position, player: Player) -> None:
        if any(step.after == after for step in followed.hand.steps):
            return  # made once more on chain, from an older state
        seat = followed.seat(side)
        acted = followed.claims.pop(seat.other, None)
        before = tuple(followed.players)
        followed.players[seat] = player
        if acted is None or acted.after != after or acted.before != followed.position:
            followed.lost = True
            return
        followed.players[seat.other] = acted.player
        self._add(followed, seat.other, acted, before)

    def _add(
        self, followed: _Followed, seat: Seat, acted: Acted, before: tuple[Player, ...]
    ) -> None:
        if followed.lost:
            return
        hand = followed.hand
        players = (followed.players[0], followed.players[1])
        step = Step(seat, acted.action, acted.before, acted.after, (before[0], before[1]), players)
        followed.hand = replace(hand, steps=(*hand.steps, step))
        followed.position = acted.after
        self._notify(StepMade(hand.terms.game, followed.hand))

    def _end(self, followed: _Followed) -> None:
        hand, game = followed.hand, followed.hand.terms.game
        self.finished.append((game, hand))
        self.lost += followed.lost
        self._notify(HandEnded(followed.number, game, hand, self._balances()))
