"""The result of a hand, and the best hands at its showdown."""

from __future__ import annotations

from channelsim.games import results
from channelsim.games.calpoker.deal import Cards
from channelsim.games.calpoker.hand_names import decided_by
from channelsim.games.calpoker.hands import value_of_selection
from channelsim.games.calpoker.known_cards import KnownCards, best_selections
from channelsim.games.calpoker.player import CalPokerPlayer
from channelsim.games.calpoker.states import StateA, StateB, StateC, StateD
from channelsim.games.contract import Hand, Player, Position, Seat
from channelsim.games.counting import rank_of
from channelsim.games.masks import pickers
from channelsim.games.results import BestHand
from channelsim.games.story import HandResult


def street(position: Position) -> str:
    """The street of a move at this position, as the JSON document of a hand names it."""
    match position.state:
        case StateA() | StateB():
            return "deal"
        case StateC() | StateD():
            return "discard"
        case _:
            return "showdown"


def cards_of(player: Player | None) -> KnownCards:
    """The cards that a player knows; none that a player of another game does."""
    return player.cards if isinstance(player, CalPokerPlayer) else KnownCards()


def showdown(hand: Hand) -> tuple[BestHand, BestHand] | None:
    """Both best hands by seat, once Alice has revealed; None before, and after a fold."""
    for step in hand.steps:
        if step.action.verb == "reveal":
            final = cards_of(step.players[step.seat]).final
            if final is None:
                return None
            alice, bob = best_selections(final)
            return best_hand(final[0], alice), best_hand(final[1], bob)
    return None


def best_hand(cards: Cards, mask: int) -> BestHand:
    """The five of eight cards that a mask selects: equal ranks together, high ones first."""
    five: Cards = pickers(8, 5)[mask](cards)
    ranks = [rank_of(card) for card in five]
    value = value_of_selection(cards, mask)

    def weight(card: int) -> tuple[int, int]:
        rank = rank_of(card)
        # In A-2-3-4-5 the ace is the lowest.
        is_low = rank == 14 and value in ((3, 1, 2, 5), (5, 5))
        return ranks.count(rank), 1 if is_low else rank

    return BestHand(mask, tuple(sorted(five, key=weight, reverse=True)), value)


def hand_result(hand: Hand) -> HandResult:
    """The result of a hand, also of an unfinished one."""
    alice_left = bool(hand.steps) and hand.steps[-1].seat is Seat.ALICE
    where = "before the discards" if alice_left else "before the swap"
    return results.hand_result(hand, showdown(hand), decided_by, where)
