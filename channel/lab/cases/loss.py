"""The loss in the case that shows a mistake; without a loss it is no theft."""

from __future__ import annotations

from channelsim.channel.findings.finding import MOVER, OPPONENT

LEGAL_SLASHED = "a legal move is slashed"
LEADS_ELSEWHERE = "leads elsewhere"
FORGED = "forged"
MISDECLARED = "misdeclared"
NOT_BOUND = "not bound"

_AGAINST_THE_MOVER = (LEGAL_SLASHED, LEADS_ELSEWHERE, FORGED)
"""Causes by which an honest mover loses what it keeps."""

_ON_LEGAL_MOVES = (LEGAL_SLASHED, LEADS_ELSEWHERE, FORGED, MISDECLARED)
"""Causes that appear on moves with a legal share."""


def loss(cause: str, amount: int, honest: int, share: int) -> int:
    """The victim's loss, in mojos, in a case that declares this share of an amount.

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


def sides(cause: str) -> tuple[str, str]:
    """The side that takes and the side that loses, by this cause.

    >>> sides("forged: another state"), sides("SP-END-2")
    (('its opponent', 'the mover'), ('the mover', 'its opponent'))
    """
    against = cause.partition(":")[0] in _AGAINST_THE_MOVER
    return (OPPONENT, MOVER) if against else (MOVER, OPPONENT)
