"""The result of a hand, its money, its best hands, and all of it as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from channelsim.games import results
from channelsim.games.betting import Money, actions_data, live_position, money_of
from channelsim.games.contract import Hand, Player, Position, Seat, Step, Terms
from channelsim.games.results import BestHand, best_hand_data
from channelsim.games.spacepoker.hands import best_selection, boost_sign, decided_by, describe
from channelsim.games.spacepoker.player import NO_CARDS, Holding, KnownCards, SpacePokerPlayer
from channelsim.games.spacepoker.states import BeginRound, CommitA, CommitB, End, MidRound
from channelsim.games.spacepoker.terms import initial
from channelsim.games.story import HandResult, summary_of, tellers

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
    mask, value = best_selection(cards, holding.boost)
    five = tuple(rank for i, rank in enumerate(cards) if mask >> i & 1)
    by_groups = sorted(five, key=lambda rank: (five.count(rank), rank), reverse=True)
    return BestHand(mask, tuple(by_groups), value)


def hand_result(hand: Hand) -> HandResult:
    """The result of a hand, also of an unfinished one."""
    where = street(hand.steps[-1].before) if hand.steps else ""
    return results.hand_result(hand, showdown(hand), decided_by, where)


# --- as JSON data -------------------------------------------------------------------------------


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
