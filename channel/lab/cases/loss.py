"""How much somebody loses in the case that shows a mistake; without a loss there is no theft."""

from __future__ import annotations

LEGAL_SLASHED = "a legal move is slashed"
LEADS_ELSEWHERE = "leads elsewhere"
FORGED = "forged"
MISDECLARED = "misdeclared"

_ON_LEGAL_MOVES = (LEGAL_SLASHED, LEADS_ELSEWHERE, FORGED, MISDECLARED)
"""Causes that show on moves whose share is as it may be."""


def loss(cause: str, amount: int, honest: int, share: int) -> int:
    """What the victim of a mistake loses in a case that declares this share of an amount; mojos.

    An honest mover that is slashed loses what it keeps. A cheat's opponent may claim everything,
    and is left with the share; that is no loss where the share is more than honest play leaves it.

    >>> loss(LEGAL_SLASHED, 1000, 300, 300), loss("SP-END-2", 1000, 300, 0)
    (700, 1000)
    >>> loss(LEGAL_SLASHED, 1000, 1000, 1000), loss("SP-END-2", 1000, 300, 400)
    (0, 0)
    """
    legal = cause.partition(":")[0] in _ON_LEGAL_MOVES
    if not 0 <= share <= amount or (share > honest and not legal):
        return 0
    return amount - share
