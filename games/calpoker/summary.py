"""A hand of California Poker as JSON data, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from channelsim.games.calpoker.deal import Cards, given
from channelsim.games.calpoker.discard_odds import ANSWERS, discard_odds
from channelsim.games.calpoker.hand_names import describe
from channelsim.games.calpoker.known_cards import KnownCards
from channelsim.games.calpoker.player import DISCARD
from channelsim.games.calpoker.result import cards_of, hand_result, showdown, street
from channelsim.games.cards import card_name
from channelsim.games.contract import Hand, Seat, Step
from channelsim.games.results import best_hand_data
from channelsim.games.story import summary_of, tellers


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
