"""How a hand of a card game ended, and how that is told: the same for every such game."""

from __future__ import annotations

from typing import Literal

import msgspec

from games.contract import Hand, Line, Seat
from games.counting import HandValue
from games.story import payout_lines


class Outcome(msgspec.Struct, frozen=True):
    """How a hand ended: `winner` is None in a tie, and while the hand is unfinished.

    `by` is in words: which tie-break decided, or who folded where.
    """

    kind: Literal["showdown", "tie", "fold", "unfinished"]
    winner: Seat | None
    by: str


def compared(alice: HandValue, bob: HandValue, by: str) -> Outcome:
    """The outcome of a showdown between these two values."""
    if alice == bob:
        return Outcome("tie", None, by)
    return Outcome("showdown", Seat.ALICE if alice > bob else Seat.BOB, by)


def cut_short(hand: Hand, where: str) -> Outcome:
    """The outcome of a hand without a showdown; `where` tells the place of a fold."""
    if hand.steps and hand.steps[-1].action.verb == "fold":
        seat = hand.steps[-1].seat
        return Outcome("fold", seat.other, f"fold: {hand.names[seat]}, {where}")
    return Outcome("unfinished", None, "not played to its end")


def told(hand: Hand, outcome: Outcome, what_is_split: str) -> list[Line]:
    """Who won and by what, and who was paid how much.

    `what_is_split` in a tie: the pot, or the stakes.
    """
    if outcome.winner is not None:
        winner = hand.names[outcome.winner]
        lines: list[Line] = [((winner, "bold"), (" wins", "green"), (f" ({outcome.by})", ""))]
    else:
        text = f"{what_is_split} split" if outcome.kind == "tie" else outcome.by
        lines = [((text, "yellow"),)]
    return [*lines, *payout_lines(hand)]
