"""A hand of California Poker as JSON data, for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from channelsim.games.calpoker.deal import Cards, given
from channelsim.games.calpoker.discard_odds import ANSWERS, discard_odds
from channelsim.games.calpoker.hand_names import describe
from channelsim.games.calpoker.known_cards import KnownCards
from channelsim.games.calpoker.player import DISCARD
from channelsim.games.calpoker.result import cards_of, hand_result, showdown, street
from channelsim.games.cards import card_name
from channelsim.games.contract import Hand, Seat
from channelsim.games.results import best_hand_data, summary_of


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
    seats = tuple(Seat) if viewer is None else (viewer,)
    players = [hand.steps[-1].players[seat] for seat in seats] if hand.steps else []
    known = [cards_of(player) for player in players] or [KnownCards()]
    return summary_of(
        hand,
        hand_result(hand),
        {name: _cards(known, seat) for name, seat in zip(hand.names, Seat, strict=True)},
        _actions(hand, known),
        [best_hand_data(one, describe, "cards", _names) for one in showdown(hand) or (None, None)],
    )


def _cards(known: Sequence[KnownCards], seat: Seat) -> dict[str, Any]:
    hands = next((cards.hands for cards in known if cards.hands is not None), None)
    final = next((cards.final for cards in known if cards.final is not None), None)
    mask = _mask(known, seat)
    dealt = None if hands is None else hands[seat]
    return {
        "dealt": _names(dealt),
        "given": _names(None if dealt is None or mask is None else given(dealt, mask)),
        "final": _names(None if final is None else final[seat]),
    }


def _mask(known: Sequence[KnownCards], seat: Seat) -> int | None:
    """The discards of a seat, if one of the players knows them."""
    return next((found for cards in known if (found := cards.masks[seat]) is not None), None)


def _names(cards: Cards | None) -> list[str] | None:
    return None if cards is None else [card_name(card) for card in cards]


def _actions(hand: Hand, known: Sequence[KnownCards]) -> Iterator[dict[str, Any]]:
    for step in hand.steps:
        gave, chance, amount = None, None, step.action.amount
        hands = cards_of(step.players[step.seat]).hands
        if step.action.verb == DISCARD.verb:
            amount = _mask(known, step.seat) or 0
        if amount and step.action.verb == DISCARD.verb and hands is not None:
            own, others = hands[step.seat], hands[step.seat.other]
            mask = amount
            gave = _names(given(own, mask))
            odds = discard_odds(own, others)[mask]
            chance = {"wins": odds.wins, "ties": odds.ties, "of": ANSWERS, "error": 0}
        yield {
            "player": hand.names[step.seat],
            "verb": step.action.verb,
            "street": street(step.before),
            "amount": amount,
            "given": gave,
            "chance": chance,
            "pot": hand.terms.amount,
        }
