"""A hand of Space Poker as JSON data, for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from games.contract import Hand, Seat
from games.spacepoker.names import boost_sign, describe
from games.spacepoker.outcome import Shown, money_after, outcome, showdown, sight_of, street
from games.spacepoker.sight import Holding
from games.spacepoker.states import MidRound


def summarize(hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
    """The whole hand: everything that either player knows, or what this viewer does.

    - `cards`: by player `{hole, boost}` (null where its owner never learnt it), and `board`
      as far as it was dealt;
    - `actions`: every step, `{player, verb, street, amount, units, pot, stacks}`, pot and
      stacks after it; the amount of a call is what it matched;
    - `best_hands`: by player `{name, list, ranks, mask}`, null without a showdown;
    - `result`: `{kind, winner, by}`;
    - `payouts`: by player, null until the hand is settled.

    Amounts are in mojos but for `units`.
    """
    shown = showdown(hand) or (None, None)
    end = outcome(hand)
    return {
        "cards": _cards(hand, viewer),
        "actions": list(_actions(hand)),
        "best_hands": {name: _best(hand) for name, hand in zip(hand.names, shown, strict=True)},
        "result": {
            "kind": end.kind,
            "winner": None if end.winner is None else hand.names[end.winner],
            "by": end.by,
        },
        "payouts": hand.payouts and dict(zip(hand.names, hand.payouts, strict=True)),
    }


def _cards(hand: Hand, viewer: Seat | None) -> dict[str, Any]:
    if not hand.steps:
        return {**{name: _holding(None) for name in hand.names}, "board": []}
    sights = [sight_of(player) for player in hand.steps[-1].players]
    if viewer is None:
        holdings = [sight.own for sight in sights]
        board = max(sights, key=lambda sight: len(sight.board)).board
    else:
        holdings = [sights[viewer].own, sights[viewer].other]
        holdings = holdings if viewer is Seat.ALICE else holdings[::-1]
        board = sights[viewer].board
    cards: dict[str, Any] = {
        name: _holding(holding) for name, holding in zip(hand.names, holdings, strict=True)
    }
    return {**cards, "board": list(board)}


def _holding(holding: Holding | None) -> dict[str, Any]:
    if holding is None:
        return {"hole": None, "boost": None}
    return {"hole": list(holding.hole), "boost": boost_sign(holding.boost)}


def _actions(hand: Hand) -> Iterator[dict[str, Any]]:
    unit = hand.terms.unit
    for i, step in enumerate(hand.steps):
        amount = step.action.amount
        if step.action.verb == "call" and isinstance(step.before.state, MidRound):
            amount = step.before.state.last_raise
        now = money_after(hand.terms, hand.steps[: i + 1])
        yield {
            "player": hand.names[step.seat],
            "verb": step.action.verb,
            "street": street(step.before),
            "amount": amount,
            "units": amount // unit if amount % unit == 0 else amount / unit,
            "pot": now.pot,
            "stacks": {hand.names[seat]: now.stacks[seat] for seat in Seat},
        }


def _best(shown: Shown | None) -> dict[str, Any] | None:
    if shown is None:
        return None
    return {
        "name": describe(shown.value),
        "list": list(shown.value),
        "ranks": list(shown.five),
        "mask": shown.mask,
    }
