"""Who acts first on a street: a seat, who bet first before the draw, or whom the open cards name.

Rules: SCH-2, DRAW-4, STUD-1 to STUD-3, RAZZ-1, RAZZ-2.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from channelsim.games.poker.ranking import ACE_TO_FIVE, HIGH


class First(IntEnum):
    """How the first player to act is found; the numbers are those in a state.

    `BETTOR` is who made the first bet of the round before the draw; a call that ends that round
    writes its seat instead. The last four compare open cards, with the ace high or low. Single
    cards are compared by rank and suit, boards by pairs and ranks; equal boards leave the button
    last.
    """

    OTHER = 0
    BUTTON = 1
    BETTOR = 2
    HIGHEST = 4
    LOWEST = 5
    HIGHEST_ACE_LOW = 6
    LOWEST_ACE_LOW = 7


def acts_first(first: int, button: int, own: Sequence[int], other: Sequence[int]) -> bool:
    """True if the player with these open cards acts first, given the opponent's.

    `button` is 1 if that player has the button.

    >>> acts_first(First.HIGHEST, 1, [0, 1], [48, 44]), acts_first(First.BUTTON, 0, [], [])
    (True, False)
    """
    if first < First.HIGHEST:
        return first == button
    lead = _value(First(first), own) - _value(First(first), other)
    return (-lead if first in (First.LOWEST, First.LOWEST_ACE_LOW) else lead) >= button


def _value(first: First, cards: Sequence[int]) -> int:
    ace_low = first in (First.HIGHEST_ACE_LOW, First.LOWEST_ACE_LOW)
    if len(cards) == 1:
        return (cards[0] + 4) % 52 if ace_low else cards[0]
    return (ACE_TO_FIVE if ace_low else HIGH).key(cards)
