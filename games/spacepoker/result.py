"""The result of a hand, its money after each step, and the best hands at its showdown."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.games import results
from channelsim.games.betting import Money, live_position, money_of
from channelsim.games.contract import Hand, Player, Position, Seat, Step, Terms
from channelsim.games.results import BestHand
from channelsim.games.spacepoker.hand_names import decided_by
from channelsim.games.spacepoker.hands import value_of_selection
from channelsim.games.spacepoker.known_cards import NO_CARDS, Holding, KnownCards
from channelsim.games.spacepoker.player import SpacePokerPlayer
from channelsim.games.spacepoker.states import BeginRound, CommitA, CommitB, End, MidRound
from channelsim.games.spacepoker.terms import initial
from channelsim.games.story import HandResult

STREETS = {4: "pre-flop", 3: "flop", 2: "turn", 1: "river"}
"""The names of the streets, by number."""

PARTS = ("deal", *STREETS.values(), "showdown")
"""The parts of a hand that `street` names, in the order of play."""


def street(position: Position) -> str:
    """The street of a move at this position, or `deal` or `showdown`."""
    match position.state:
        case CommitA() | CommitB():
            return "deal"
        case BeginRound(street=n) | MidRound(street=n):
            return STREETS[n]
        case _:
            return "showdown"


def cards_of(player: Player | None) -> KnownCards:
    """The cards that a player knows; none that a player of another game does."""
    return player.cards if isinstance(player, SpacePokerPlayer) else NO_CARDS


def money(terms: Terms, position: Position) -> Money:
    """The money at a position of a game that is not over.

    Before Bob's commitment the pot is empty. In the betting the mover has half_pot in it, and the
    waiter the last raise beyond that.
    """
    mover = waiter = 0
    match position.state:
        case BeginRound(half_pot=half_pot) | End(half_pot=half_pot):
            mover = waiter = half_pot
        case MidRound(half_pot=half_pot, last_raise=last_raise):
            mover, waiter = half_pot, half_pot + last_raise
    return money_of(terms, position.mover, (mover, waiter))


def money_after(terms: Terms, steps: Sequence[Step]) -> Money:
    """Pot and stacks after these steps."""
    return money(terms, live_position(steps) or initial(terms).position)


def showdown(hand: Hand) -> tuple[BestHand, BestHand] | None:
    """Both best hands by seat, once they were shown; None before, and after a fold.

    Both are public then: the last call and the reveal carried both preimages.
    """
    for step in hand.steps:
        if step.action.verb == "show":
            cards = cards_of(step.players[step.seat])
            if cards.own is None or cards.other is None:
                return None
            own, other = best_hand(cards.own, cards.board), best_hand(cards.other, cards.board)
            return (own, other) if step.seat is Seat.ALICE else (other, own)
    return None


def best_hand(holding: Holding, board: tuple[int, ...]) -> BestHand:
    """A player's best five of its own cards and all five community cards."""
    cards = holding.hole + board
    mask = holding.best(board)
    five = tuple(rank for i, rank in enumerate(cards) if mask >> i & 1)
    by_groups = sorted(five, key=lambda rank: (five.count(rank), rank), reverse=True)
    return BestHand(mask, tuple(by_groups), value_of_selection(cards, mask, holding.boost))


def hand_result(hand: Hand) -> HandResult:
    """The result of a hand, also of an unfinished one."""
    where = street(hand.steps[-1].before) if hand.steps else ""
    return results.hand_result(hand, showdown(hand), decided_by, where)
