"""Schedules of games: which positions of the deck are dealt when, to whom, and who bets first.

The seats are the button and the other one; the other seat's cards come first. Rules: SCH-H to
SCH-C.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from channelsim.games.poker.first import First
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS,
    BUTTONS_UP,
    OTHERS,
    OTHERS_UP,
    Kind,
)

Dealt: TypeAlias = tuple[tuple[int, int], ...]
"""Positions, and whose card each is."""

SMALL, BIG = 1, 2
"""The size of a street's bets in fixed limit, in small bets."""


@dataclass(frozen=True, slots=True)
class Round:
    """A street without amounts: who acts first, the size in small bets, and what is dealt."""

    first: First
    bets: int
    deal: Dealt
    kind: Kind = Kind.BET


def positions(rounds: tuple[Round, ...]) -> int:
    """How many positions of a deck a game uses."""
    return 1 + max(position for one in rounds for position, _ in one.deal)


def _private(each: int, start: int = 0) -> Dealt:
    """Closed cards for the other seat, then as many for the button."""
    others = ((start + number, OTHERS) for number in range(each))
    return (*others, *((start + each + number, BUTTONS) for number in range(each)))


def _board(*at: int) -> Dealt:
    return tuple((position, BOARD) for position in at)


def _up(start: int) -> Dealt:
    """An open card for each seat."""
    return (start, OTHERS_UP), (start + 1, BUTTONS_UP)


def _with_board(own: int) -> tuple[Round, ...]:
    """Closed cards, then a flop, a turn and a river."""
    flop = 2 * own
    return (
        Round(First.BUTTON, SMALL, _private(own)),
        Round(First.OTHER, SMALL, _board(flop, flop + 1, flop + 2)),
        Round(First.OTHER, BIG, _board(flop + 3)),
        Round(First.OTHER, BIG, _board(flop + 4)),
    )


HOLDEM = _with_board(2)
OMAHA = _with_board(4)

ANTE_DRAW = (
    Round(First.OTHER, SMALL, _private(5)),
    Round(First.OTHER, 0, _private(5, 10), Kind.OPENED_DRAW),
    Round(First.BETTOR, BIG, ()),
)
"""A draw game with antes: a hand in which nobody bets before the draw is passed out (DRAW-3)."""


def five_stud(first: First) -> tuple[Round, ...]:
    """Five Card Stud, its first round opened by one card."""
    return (
        Round(first, SMALL, (*_private(1), *_up(2))),
        Round(First.HIGHEST, SMALL, _up(4)),
        Round(First.HIGHEST, BIG, _up(6)),
        Round(First.HIGHEST, BIG, _up(8)),
    )


def seven_stud(first: First, later: First = First.HIGHEST) -> tuple[Round, ...]:
    """Seven cards, the last one closed; the first round is opened by one card, others by boards."""
    return (
        Round(first, SMALL, (*_private(2), *_up(4))),
        Round(later, SMALL, _up(6)),
        Round(later, BIG, _up(8)),
        Round(later, BIG, _up(10)),
        Round(later, BIG, _private(1, 12)),
    )


CHINESE = (Round(First.OTHER, SMALL, _private(13), Kind.ARRANGE),)
