"""How a pot is divided: to the better hand, or in halves between the best high and the best low.

Rules: SHOW-4 and HL-3 to HL-6.
"""

from __future__ import annotations

WHOLE = 4
"""Quarters of a pot."""


def quarters(order: int, halves: int = 1) -> int:
    """The quarters of the pot that a comparison gives to the first player.

    `order` is 1, 0 or -1 as the first player wins, ties or loses, and `halves` how many halves of
    the pot are compared at once.

    >>> [quarters(order, 2) for order in (1, 0, -1)], [quarters(order) for order in (1, 0, -1)]
    ([4, 2, 0], [2, 1, 0])
    """
    return halves * (1 + order)


def split_quarters(high: int, low: int | None) -> int:
    """The first player's quarters of a pot of high and low hands (HL-3, HL-4).

    `high` and `low` are 1, 0 or -1 as it wins, ties or loses; `low` is None if nobody qualifies.
    """
    return quarters(high, 2) if low is None else quarters(high) + quarters(low)


def pot_share(pot: int, of_four: int, button: int) -> int:
    """The chips of a player with this many quarters of an even pot (HL-5).

    An odd chip goes to the seat that is not the button; `button` is 1 for the one that is.

    >>> pot_share(50, 1, 0), pot_share(50, 3, 1), pot_share(50, 2, 0), pot_share(50, 4, 1)
    (13, 37, 25, 50)
    """
    return (pot * of_four + (0 if button else WHOLE - 1)) // WHOLE
