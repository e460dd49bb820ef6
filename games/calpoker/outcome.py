"""How a hand stands or ended, read off its steps: for the story and for its summary."""

from __future__ import annotations

import msgspec

from games.calpoker.deal import Cards
from games.calpoker.hands import rank_of, value_of_selection
from games.calpoker.names import decided_by
from games.calpoker.player import CalPokerPlayer
from games.calpoker.sight import Sight, best_selections
from games.calpoker.states import StateA, StateB, StateC, StateD
from games.contract import Hand, Position, Seat
from games.counting import HandValue
from games.ending import Outcome, compared, cut_short
from games.masks import pickers


class Shown(msgspec.Struct, frozen=True):
    """A player's hand after the swap: its eight cards, the best five of them, their value."""

    cards: Cards
    mask: int
    five: Cards
    value: HandValue


def street(position: Position) -> str:
    """Which part of the hand a move at this position belongs to."""
    match position.state:
        case StateA() | StateB():
            return "deal"
        case StateC() | StateD():
            return "discard"
        case _:
            return "showdown"


def sight_of(player: object) -> Sight:
    """What a player of this game sees."""
    assert isinstance(player, CalPokerPlayer)
    return player.sight


def showdown(hand: Hand) -> tuple[Shown, Shown] | None:
    """Both hands by seat, once Alice has revealed; None before, and after a fold."""
    for step in hand.steps:
        if step.action.verb == "reveal":
            final = sight_of(step.players[step.seat]).final
            if final is None:
                return None
            alice, bob = best_selections(final)
            return shown(final[0], alice), shown(final[1], bob)
    return None


def shown(cards: Cards, mask: int) -> Shown:
    """Eight cards with these five; equal ranks together, high ones first, as in the value."""
    five: Cards = pickers(8, 5)[mask](cards)
    ranks = [rank_of(card) for card in five]
    value = value_of_selection(cards, mask)

    def weight(card: int) -> tuple[int, int]:
        rank = rank_of(card)
        # In A-2-3-4-5 the ace is the lowest.
        is_low = rank == 14 and value in ((3, 1, 2, 5), (5, 5))
        return ranks.count(rank), 1 if is_low else rank

    return Shown(cards, mask, tuple(sorted(five, key=weight, reverse=True)), value)


def outcome(hand: Hand) -> Outcome:
    """How the hand ended."""
    hands = showdown(hand)
    if hands is not None:
        alice, bob = hands[0].value, hands[1].value
        return compared(alice, bob, decided_by(max(alice, bob), min(alice, bob)))
    alice_left = bool(hand.steps) and hand.steps[-1].seat is Seat.ALICE
    return cut_short(hand, "before the discards" if alice_left else "before the swap")
