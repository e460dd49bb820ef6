"""A hand of Space Poker as JSON data, for programs."""

from __future__ import annotations

from typing import Any

from channelsim.games.betting import actions_data
from channelsim.games.contract import Hand, Seat, Step
from channelsim.games.results import best_hand_data
from channelsim.games.spacepoker.hand_names import boost_sign, describe
from channelsim.games.spacepoker.known_cards import Holding
from channelsim.games.spacepoker.result import cards_of, hand_result, money_after, showdown, street
from channelsim.games.spacepoker.states import MidRound
from channelsim.games.story import summary_of, tellers


def summarize(hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
    """The whole hand: everything that either player knows, or that the viewer does.

    - `cards`: by player `{hole, boost}` (null where it is unknown), and `board`
      as far as it was dealt;
    - `actions`: every step, `{player, verb, street, amount, units, pot, stacks}`, pot and
      stacks after it; the amount of a call is the raise that it matches;
    - `best_hands`: by player `{name, list, ranks, mask}`, null without a showdown;
    - `result`: `{kind, winner, by}`;
    - `payouts`: by player, null until the hand is settled.

    Amounts are in mojos but for `units`.
    """
    actions = actions_data(hand, street, _amount, money_after, "units")
    hands = [
        best_hand_data(best, describe, "ranks", list) for best in showdown(hand) or (None, None)
    ]
    return summary_of(hand, hand_result(hand), _cards(hand, viewer), actions, hands)


def _cards(hand: Hand, viewer: Seat | None) -> dict[str, Any]:
    holdings: dict[str, Any] = {}
    board: tuple[int, ...] = ()
    for seat, player, is_own in tellers(hand, viewer):
        cards = cards_of(player)
        holdings[hand.names[seat]] = _holding(cards.own if is_own else cards.other)
        board = max(board, cards.board, key=len)
    return {**holdings, "board": list(board)}


def _holding(holding: Holding | None) -> dict[str, Any]:
    if holding is None:
        return {"hole": None, "boost": None}
    return {"hole": list(holding.hole), "boost": boost_sign(holding.boost)}


def _amount(step: Step) -> int:
    """What an action puts in, in mojos."""
    if step.action.verb == "call" and isinstance(step.before.state, MidRound):
        return step.before.state.last_raise
    return step.action.amount
