"""The result of a hand, the best hands at its showdown, and all of it as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from channelsim.games import results
from channelsim.games.calpoker.deal import Cards, given
from channelsim.games.calpoker.hands import decided_by, describe, value_of_selection
from channelsim.games.calpoker.player import DISCARD, CalPokerPlayer, KnownCards, best_selections
from channelsim.games.calpoker.policies import ANSWERS, discard_odds
from channelsim.games.calpoker.states import StateA, StateB, StateC, StateD
from channelsim.games.cards import card_name
from channelsim.games.contract import Hand, Player, Position, Seat, Step
from channelsim.games.counting import pickers, rank_of
from channelsim.games.results import BestHand, best_hand_data
from channelsim.games.story import HandResult, summary_of, tellers


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


# --- as JSON data -------------------------------------------------------------------------------


def summarize(hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
    """The whole hand: everything that either player knows, or that the viewer does.

    - `cards`: by player `{dealt, given, final}`, null where that is unknown; a card is
      two letters, rank and suit (`Th`);
    - `actions`: every step, `{player, verb, street, amount, given, chance, pot}`; discards have
      their mask as `amount`, the cards given away, and their exact chance against an opponent
      that picks any four alike, `{wins, ties, of, error}`;
    - `best_hands`: by player `{name, list, cards, mask}`, null without a showdown;
    - `result`: `{kind, winner, by}`;
    - `payouts`: by player, null until the hand is settled.

    Amounts of money are in mojos.
    """
    known = [cards_of(player) for _, player, _ in tellers(hand, viewer)]
    return summary_of(
        hand,
        hand_result(hand),
        {name: _cards(known, seat) for name, seat in zip(hand.names, Seat, strict=True)},
        (_action(hand, step, _mask(known, step.seat)) for step in hand.steps),
        [best_hand_data(best, describe, "cards", _names) for best in showdown(hand) or (None,) * 2],
    )


def _cards(known: Sequence[KnownCards], seat: Seat) -> dict[str, Any]:
    dealt = next((cards.hands[seat] for cards in known if cards.hands), None)
    final = next((cards.final[seat] for cards in known if cards.final), None)
    mask = _mask(known, seat)
    gave = None if dealt is None or mask is None else given(dealt, mask)
    return {"dealt": _names(dealt), "given": _names(gave), "final": _names(final)}


def _mask(known: Sequence[KnownCards], seat: Seat) -> int | None:
    """The discards of a seat; None if no player knows them."""
    return next((cards.masks[seat] for cards in known if cards.masks[seat] is not None), None)


def _names(cards: Cards | None) -> list[str] | None:
    return None if cards is None else [card_name(card) for card in cards]


def _action(hand: Hand, step: Step, mask: int | None) -> dict[str, Any]:
    gave, chance, amount = None, None, step.action.amount
    if step.action.verb == DISCARD.verb:
        amount = mask or 0
        hands = cards_of(step.players[step.seat]).hands
        if mask and hands is not None:
            own, others = hands[step.seat], hands[step.seat.other]
            gave = _names(given(own, mask))
            odds = discard_odds(own, others)[mask]
            chance = {"wins": odds.wins, "ties": odds.ties, "of": ANSWERS, "error": 0}
    return {
        "player": hand.names[step.seat],
        "verb": step.action.verb,
        "street": street(step.before),
        "amount": amount,
        "given": gave,
        "chance": chance,
        "pot": hand.terms.amount,
    }
