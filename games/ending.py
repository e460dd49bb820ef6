"""How a hand of a card game ended, and how that is told: the same for every such game."""

from __future__ import annotations

from typing import Literal

import msgspec

from games.amounts import spoken
from games.contract import Hand, Line, Seat


class Outcome(msgspec.Struct, frozen=True):
    """How a hand ended: `winner` is None in a tie, and while the hand is unfinished.

    `by` is in words: which tie-break decided, or who folded where.
    """

    kind: Literal["showdown", "tie", "fold", "unfinished"]
    winner: Seat | None
    by: str


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
    if hand.payouts is not None:
        paid = ", ".join(
            f"{name} {spoken(share, hand.terms.unit)}"
            for name, share in zip(hand.names, hand.payouts, strict=True)
        )
        lines.append(((f"paid out: {paid}", ""),))
    return lines
