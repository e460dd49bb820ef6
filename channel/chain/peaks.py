"""What the heights of a public network cannot be, whatever a node says.

A node follows the heaviest chain that it knows, so the weight of its tip never falls, and blocks
take time. Heights that are refuted are not believed until time has passed or the weight is there
again; all others are. Test networks make blocks as they like, and nothing is refuted there.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from channelsim.games.amounts import counted

MAINNET = bytes.fromhex("ccd5bb71183532bff220ba46c268991a3ff07eb358e8255a65c30a2dce0e5fbb")
PUBLIC = {
    MAINNET,
    bytes.fromhex("37a90eb5185a9c4439a91ddc98bbadce7b4feba060d50116a067de66bf236615"),
}
"""The genesis challenges of mainnet and testnet11."""

LEAST_SECONDS = 2.0
"""Less than a block takes on average: at most 128 come in a slot of 10 minutes."""

SLACK = 64
"""Blocks that a node may have missed at first, and still have called itself synced."""


class Now(NamedTuple):
    """Seconds on two clocks: one stands still in a suspended machine, one can be set."""

    monotonic: float
    wall: float

    @classmethod
    def read(cls) -> Now:
        """The time now."""
        return cls(time.monotonic(), time.time())

    def since(self, earlier: Now) -> float:
        """The most seconds that may have passed."""
        return max(self.monotonic - earlier.monotonic, self.wall - earlier.wall)


class Peak(NamedTuple):
    """The tip of the chain, and when it was seen first."""

    height: int
    weight: int
    seen: Now


def refuted(before: Peak, after: Peak) -> str | None:
    """Why a tip cannot follow another one on a public network; None if it can.

    >>> at = Now(0.0, 0.0)
    >>> refuted(Peak(100, 9000, at), Peak(99, 8990, at))
    'goes back from height 100 to 99 without a heavier chain'
    >>> refuted(Peak(100, 9000, at), Peak(99, 9001, at))
    >>> refuted(Peak(100, 9000, at), Peak(170, 9900, Now(9.0, 3.0)))
    'names 70 blocks within 9 s'
    >>> refuted(Peak(100, 9000, at), Peak(170, 9900, Now(9.0, 3600.0)))
    """
    blocks, seconds = after.height - before.height, after.seen.since(before.seen)
    if after.weight < before.weight:
        return f"goes back from height {before.height} to {after.height} without a heavier chain"
    if blocks > SLACK + seconds / LEAST_SECONDS:
        return f"names {counted(blocks, 'block')} within {seconds:.0f} s"
    return None
