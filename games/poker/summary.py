"""A hand of a poker game as JSON data, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from channelsim.games.betting import actions_data
from channelsim.games.cards import card_name
from channelsim.games.contract import Hand, Seat, Step
from channelsim.games.poker.result import (
    cards_of,
    hand_result,
    money_after,
    name_of,
    showdown,
    street,
)
from channelsim.games.poker.states import Begin, Mid
from channelsim.games.poker.variants import VARIANTS
from channelsim.games.results import best_hand_data
from channelsim.games.story import summary_of, tellers


def summarize(hand: Hand, viewer: Seat | None = None) -> dict[str, Any]:
    """The whole hand: everything that either player knows, or that the viewer does.

    - `cards`: by player `{hidden, open}`, the private and the open cards, `hidden` null where they
      are unknown, and `board` as far as it was dealt; a card is two letters, rank and suit (`Th`);
    - `actions`: every step, `{player, verb, street, amount, chips, pot, stacks}`, pot and stacks
      after it; the amount of a call is what it puts in;
    - `best_hands`: by player `{name, list, cards, mask}`, null unless both hands were shown;
    - `result`: `{kind, winner, by}`;
    - `payouts`: by player, null until the hand is settled.

    Amounts are in mojos but for `chips`.
    """
    variant = VARIANTS[hand.terms.game]
    name = partial(name_of, variant.showdown)
    actions = actions_data(hand, partial(street, variant), _amount, money_after, "chips")
    hands = [best_hand_data(best, name, "cards", _names) for best in showdown(hand) or (None, None)]
    return summary_of(hand, hand_result(hand), _cards(hand, viewer), actions, hands)


def _cards(hand: Hand, viewer: Seat | None) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    board: tuple[int, ...] = ()
    for seat, player, is_own in tellers(hand, viewer):
        cards = cards_of(player)
        hidden, face_up = (cards.own, cards.own_up) if is_own else (cards.others, cards.others_up)
        shown[hand.names[seat]] = {"hidden": _names(hidden) or None, "open": _names(face_up)}
        board = max(board, cards.board, key=len)
    return {**shown, "board": _names(board)}


def _names(cards: Sequence[int]) -> list[str]:
    return [card_name(card) for card in cards]


def _amount(step: Step) -> int:
    """What an action puts in, in mojos; the number of some actions is a choice of cards."""
    state = step.before.state
    if step.action.verb == "call" and isinstance(state, Begin | Mid):
        return (state.pot.waiter - state.pot.mover) * state.table.unit
    return step.action.amount if step.action.verb in ("bet", "raise") else 0
