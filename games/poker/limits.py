"""What may be bet: the limits of one bet or raise, in chips.

A raise is written as `x`, by how much the mover's chips in the pot exceed the waiter's after it. A
check or a call is no raise. With equal stakes nobody can raise beyond what the waiter can call, so
`x` is at most what the waiter has left. Rules: BET-1 to BET-7, STUD-1, STUD-4.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


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
