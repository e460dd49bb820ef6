"""Weathers of the chain in a dispute, and the bounds of its numbers."""

from __future__ import annotations

DEFAULT_SEED = "dispute"

WEATHERS = (
    *("calm", "reorgs", "slow", "full", "cut-off", "blind", "reconnects", "deadlines"),
    "forgetful",
)
"""The weathers of the chain: nothing happens; blocks are replaced; the honest side's bundles wait;
some blocks are full; the honest side hears nothing of some blocks, or its node does not give the
solutions of spends for some; the connection between the peers breaks now and then; the block at
a deadline is replaced once both sides have acted on it; the honest side's node drops some of its
bundles, and does not take the same bytes again for some blocks."""


MOST_FEES = 1_000_000_000
MOST_HANDS = 100
MOST_STEPS = 999_999

MOST_RATE = 100
"""The highest rate of a crowd in mojos per cost: some bundles at it are worth a block reward."""
