"""Reorganisations of a simulated chain: how deep they may be, and the rest after each."""

from __future__ import annotations

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.interface import FarmableChain


class Reorganisations:
    """Replaces the last blocks of a chain, but none up to `floor`; `count` is how often it has,
    and `deepest` the most blocks at once.

    A timeout leaves room for one reorganisation as deep as the confirmations: with one every few
    blocks, nothing could be in before its deadline. So there is a `rest` of some blocks.
    """

    def __init__(self, chain: FarmableChain, rest: int) -> None:
        self.count = 0
        self.deepest = 0
        self.floor = chain.peak()
        self._chain = chain
        self._rest = rest
        self._last = -rest

    @property
    def has_rested(self) -> bool:
        """True if the last one is long enough ago."""
        return self._chain.peak() - self._last >= self._rest

    def can_replace(self, back: int) -> bool:
        """True if none of so many blocks is at the floor."""
        return self._chain.peak() - back >= self.floor

    def replace(self, back: int, more: int, *, keep: bool, bundle: Bundle | None = None) -> None:
        """Replace so many blocks by as many and some `more`."""
        self.count += 1
        self.deepest = max(self.deepest, back)
        self._last = self._chain.peak()
        self._chain.reorganise(back, back + more, keep=keep, bundle=bundle)
