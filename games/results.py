"""The result of a hand of a poker game, in lines for people and as JSON data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, TypeVar

import msgspec

from channelsim.games.contract import Hand, Line, Player, Seat
from channelsim.games.counting import HandValue
from channelsim.games.story import HandResult, payout_lines


class BestHand(msgspec.Struct, frozen=True):
    """A player's best five cards at the showdown, in the order of their value, and the mask that
    selects them."""

    mask: int
    five: tuple[int, ...]
    value: HandValue


Decide: TypeAlias = Callable[[HandValue, HandValue], str]
"""Gives the reason why its first value beats its second."""


def hand_result(
    hand: Hand, hands: tuple[BestHand, BestHand] | None, decided_by: Decide, street: str
) -> HandResult:
    """The result of a hand, also of an unfinished one.

    `hands` are Alice's and Bob's best ones, None without a showdown; `street` is where it ended.
    """
    if hands is None:
        return early_result(hand, street)
    alice, bob = hands[0].value, hands[1].value
    by = decided_by(max(alice, bob), min(alice, bob))
    if alice == bob:
        return HandResult("tie", None, by)
    return HandResult("showdown", Seat.ALICE if alice > bob else Seat.BOB, by)


def early_result(hand: Hand, street: str) -> HandResult:
    """The result of a hand without a showdown; `street` is where it ended."""
    if hand.steps and hand.steps[-1].action.verb == "fold":
        seat = hand.steps[-1].seat
        return HandResult("fold", seat.other, f"fold: {hand.names[seat]}, {street}")
    return HandResult("unfinished", None, "not played to its end")


def result_lines(hand: Hand, result: HandResult, what_is_split: str) -> list[Line]:
    """The winner and the reason, then the payouts.

    `what_is_split` in a tie: the pot, or the stakes.
    """
    if result.winner is not None:
        winner = hand.names[result.winner]
        lines: list[Line] = [((winner, "bold"), (" wins", "green"), (f" ({result.by})", ""))]
    else:
        text = f"{what_is_split} split" if result.kind == "tie" else result.by
        lines = [((text, "yellow"),)]
    return [*lines, *payout_lines(hand)]


Known = TypeVar("Known")


def step_lines(
    hand: Hand,
    viewer: Seat | None,
    cards_of: Callable[[Player], Known],
    dealt: Callable[[Hand, dict[Seat, Known], dict[Seat, Known]], list[Line]],
    action: Iterable[Line],
) -> list[Line]:
    """The newest step: its action, and the cards that became known before and after it.

    `dealt` tells the new cards: those that the viewer (None: both players together) knows after and
    not before, as `cards_of` its player, by seat.
    """
    step = hand.steps[-1]
    earlier = hand.steps[-2].players if len(hand.steps) > 1 else step.players_before
    start, before, after = (
        {seat: cards_of(players[seat]) for seat in Seat if viewer in (None, seat)}
        for players in (earlier, step.players_before, step.players)
    )
    return [*dealt(hand, start, before), *action, *dealt(hand, before, after)]


def best_hand_line(name: str, hand: str, cards: str) -> Line:
    """A player's best hand: its name, and its cards."""
    return ((f"{name}: ", "bold"), (hand, ""), (f"  ({cards})", "dim"))


def showdown_lines(
    hand: Hand,
    hands: tuple[BestHand, BestHand] | None,
    describe: Callable[[HandValue], str],
    cards: Callable[[tuple[int, ...]], str],
) -> list[Line]:
    """The best hands of both players; no line without a showdown."""
    return [
        best_hand_line(name, describe(best.value), cards(best.five))
        for name, best in zip(hand.names, hands or (), strict=False)
    ]


def best_hand_data(
    best: BestHand | None,
    name: Callable[[HandValue], str],
    key: str,
    cards: Callable[[tuple[int, ...]], Any],
) -> dict[str, Any] | None:
    """A best hand as JSON data; `key` has its five cards as `cards` writes them. None for None."""
    if best is None:
        return None
    return {
        "name": name(best.value),
        "list": list(best.value),
        key: cards(best.five),
        "mask": best.mask,
    }
