"""What may be bet, in chips, and who acts first on a street.

A raise is written as `x`, by how much the mover's chips in the pot exceed the waiter's after it. A
check or a call is no raise. With equal stakes nobody can raise beyond what the waiter can call, so
`x` is at most what the waiter has left. A seat acts first, who bet first before the draw, or whom
the open cards name. Rules: BET-1 to BET-7, SCH-2, DRAW-4, STUD-1 to STUD-4, RAZZ-1, RAZZ-2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from channelsim.games.poker.ranking import ACE_TO_FIVE, HIGH

# --- limits -------------------------------------------------------------------------------------


class Structure(IntEnum):
    """A betting structure; the numbers are those in a state."""

    NO_LIMIT = 0
    POT_LIMIT = 1
    FIXED_LIMIT = 2


class Forced(IntEnum):
    """A forced bet of the round that the mover faces; the numbers are those in a state.

    `BRING_IN`: the mover must post it, or complete. `BROUGHT_IN`: only a bring-in is in front.
    `OPENING`: the mover must bet exactly the size.
    """

    NONE = 0
    BRING_IN = 1
    BROUGHT_IN = 2
    OPENING = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that a mover faces, in chips.

    `left` is what the waiter has left, `put` what it has in the pot, `size` the street's smallest
    bet, `last` the round's last raise (0 without any), `raises` the bets and raises of the round so
    far, of which fixed limit allows `cap + 1`. `bring_in` is the size of that forced bet.
    """

    structure: Structure
    cap: int
    left: int
    put: int
    size: int
    last: int = 0
    raises: int = 0
    forced: Forced = Forced.NONE
    bring_in: int = 0

    @property
    def least(self) -> int:
        """The least raise, not counting a bring-in; less than a full raise only if all-in."""
        if self.forced is Forced.BROUGHT_IN:
            full = self.size - self.bring_in
        elif self.structure is Structure.FIXED_LIMIT or self.forced is not Forced.NONE:
            full = self.size
        else:
            full = max(self.size, self.last)
        return min(full, self.left)

    @property
    def most(self) -> int:
        """The greatest raise."""
        match self.structure:
            case Structure.NO_LIMIT:
                return self.left
            case Structure.POT_LIMIT:
                return min(self.left, max(self.least, 2 * self.put))
            case Structure.FIXED_LIMIT:
                return self.least

    def allows(self, x: int) -> bool:
        """True if `x` is a legal bet or raise, or a bring-in that is due.

        >>> limits = Limits(Structure.POT_LIMIT, 3, left=98, put=2, size=2)
        >>> [x for x in range(9) if limits.allows(x)]
        [2, 3, 4]
        """
        if self.forced is Forced.OPENING:
            return x == self.size
        if self.forced is Forced.BRING_IN and x == self.bring_in:
            return True
        if self.structure is Structure.FIXED_LIMIT and self.raises > self.cap:
            return False
        return x > 0 and self.least <= x <= self.most


# --- who acts first -----------------------------------------------------------------------------


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
    lead = board_value(First(first), own) - board_value(First(first), other)
    return (-lead if first in (First.LOWEST, First.LOWEST_ACE_LOW) else lead) >= button


def acts_first_with(
    first: int,
    button: int,
    own: Sequence[tuple[int, int]],
    other: Sequence[tuple[int, int]],
) -> bool:
    """`acts_first`, for open cards with their positions."""
    return acts_first(first, button, cards_of(own), cards_of(other))


def cards_of(open_cards: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Open cards without their positions."""
    return tuple(card for _, card in open_cards)


def board_value(first: First, cards: Sequence[int]) -> int:
    """The value by which open cards are compared: a single card's, or the key of a board."""
    ace_low = first in (First.HIGHEST_ACE_LOW, First.LOWEST_ACE_LOW)
    if len(cards) == 1:
        return (cards[0] + 4) % 52 if ace_low else cards[0]
    return (ACE_TO_FIVE if ace_low else HIGH).key(cards)
