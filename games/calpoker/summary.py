"""A hand of California Poker as JSON data, for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from games.calpoker.chances import ANSWERS, chances
from games.calpoker.deal import Cards, given
from games.calpoker.names import card_name, describe
from games.calpoker.outcome import Shown, outcome, showdown, sight_of, street
from games.calpoker.player import DISCARD
from games.calpoker.sight import Sight
from games.contract import Hand, Seat


def summarize(hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
    """The whole hand: everything that either player knows, or what this viewer does.

    - `cards`: by player `{dealt, given, final}`, null where it did not come to that; a card is
      two letters, rank and suit (`Th`);
    - `actions`: every step, `{player, verb, street, amount, given, chance, pot}`; discards have
      their mask as `amount`, the cards given away, and their exact chance against an opponent
      that picks any four alike, `{wins, ties, of, error}`;
    - `best_hands`: by player `{name, list, cards, mask}`, null without a showdown;
    - `result`: `{kind, winner, by}`;
    - `payouts`: by player, null until the hand is settled.

    Amounts of money are in mojos.
    """
    best = showdown(hand) or (None, None)
    end = outcome(hand)
    seats = tuple(Seat) if viewer is None else (viewer,)
    players = [hand.steps[-1].players[seat] for seat in seats] if hand.steps else []
    sights = [sight_of(player) for player in players] or [Sight()]
    return {
        "cards": {name: _cards(sights, seat) for name, seat in zip(hand.names, Seat, strict=True)},
        "actions": list(_actions(hand, sights)),
        "best_hands": {name: _best(one) for name, one in zip(hand.names, best, strict=True)},
        "result": {
            "kind": end.kind,
            "winner": None if end.winner is None else hand.names[end.winner],
            "by": end.by,
        },
        "payouts": hand.payouts and dict(zip(hand.names, hand.payouts, strict=True)),
    }


def _cards(sights: Sequence[Sight], seat: Seat) -> dict[str, Any]:
    hands = next((sight.hands for sight in sights if sight.hands is not None), None)
    final = next((sight.final for sight in sights if sight.final is not None), None)
    mask = _mask(sights, seat)
    dealt = None if hands is None else hands[seat]
    return {
        "dealt": _names(dealt),
        "given": _names(None if dealt is None or mask is None else given(dealt, mask)),
        "final": _names(None if final is None else final[seat]),
    }


def _mask(sights: Sequence[Sight], seat: Seat) -> int | None:
    """What this seat gave away, if any of these know."""
    return next((found for sight in sights if (found := sight.masks[seat]) is not None), None)


def _names(cards: Cards | None) -> list[str] | None:
    return None if cards is None else [card_name(card) for card in cards]


def _actions(hand: Hand, sights: Sequence[Sight]) -> Iterator[dict[str, Any]]:
    for step in hand.steps:
        gave, chance, amount = None, None, step.action.amount
        hands = sight_of(step.players[step.seat]).hands
        if step.action.verb == DISCARD.verb:
            amount = _mask(sights, step.seat) or 0
        if amount and step.action.verb == DISCARD.verb and hands is not None:
            own, others = hands[step.seat], hands[step.seat.other]
            mask = amount
            gave = _names(given(own, mask))
            found = chances(own, others)[mask]
            chance = {"wins": found.wins, "ties": found.ties, "of": ANSWERS, "error": 0}
        yield {
            "player": hand.names[step.seat],
            "verb": step.action.verb,
            "street": street(step.before),
            "amount": amount,
            "given": gave,
            "chance": chance,
            "pot": hand.terms.amount,
        }


def _best(best: Shown | None) -> dict[str, Any] | None:
    if best is None:
        return None
    return {
        "name": describe(best.value),
        "list": list(best.value),
        "cards": _names(best.five),
        "mask": best.mask,
    }
