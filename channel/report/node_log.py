"""The log of a test chain for people: a line for each bundle, block with bundles, and change."""

from __future__ import annotations

from collections import deque

from chia_wallet_sdk import Address

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.ledger import Block
from channelsim.channel.chain.mempool_items import Item
from channelsim.channel.chain.simulator import (
    Change,
    Farmed,
    Given,
    Pushed,
    Reorganised,
    Reverted,
    SimulatedChain,
)
from channelsim.channel.chain.validation import name_of_bundle
from channelsim.games.amounts import counted

MOST_LINES = 10_000
"""Lines that wait to be printed; the oldest give way."""

EMPTY_RUN = 60
"""After so many empty blocks, a line says that they were empty."""


class NodeLog:
    """Lines about what happens to a chain from now on, until they are taken to be printed."""

    def __init__(self, chain: SimulatedChain) -> None:
        self._chain = chain
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._empty: tuple[int, int] | None = None
        self._store = chain.record
        chain.record = self._changed
        chain.refused = self._refused

    def taken(self) -> list[str]:
        """The lines since the last call, in order; they are not given again."""
        with self._chain.lock:
            lines = list(self._lines)
            self._lines.clear()
        return lines

    def end(self) -> list[str]:
        """The last lines: with the empty blocks that were not told yet."""
        with self._chain.lock:
            self._tell_empty()
        return self.taken()

    def _changed(self, change: Change) -> None:
        """Describe a change, after it was stored."""
        if self._store is not None:
            self._store(change)
        if not isinstance(change, Farmed):
            self._tell_empty()
        peak = self._chain.peak()
        match change:
            case Pushed(bundle):
                self._lines.append(self._pushed(bundle))
            case Farmed(blocks, _):
                self._farmed(peak, blocks)
            case Given(puzzle_hash):
                address = Address(puzzle_hash, "txch").encode()
                self._lines.append(f"block {peak} pays {BLOCK_REWARD:,} mojos to {address}")
                self._mined(self._chain.ledger.block(peak))
            case Reorganised(back, new, _, _):
                were = "block was" if back == 1 else "blocks were"
                self._lines.append(
                    f"the last {f'{back} ' if back > 1 else ''}{were} replaced by {new}; the tip is"
                    f" block {peak}, and {_waiting(self._chain)}"
                )
            case Reverted():
                self._lines.append(
                    f"went back to a snapshot: the tip is block {peak}, and {_waiting(self._chain)}"
                )

    def _pushed(self, bundle: Bundle) -> str:
        name = name_of_bundle(bundle)
        item = self._chain.mempool.item(name)
        mojos = counted(sum(spend.coin.amount for spend in bundle.spends), "mojo")
        spends = f"spends {counted(len(bundle.spends), 'coin')} with {mojos}"
        if item is None:
            return f"bundle {_short(name)} is kept for a later block or chance: {spends}"
        return f"bundle {_short(name)} is pending: {spends}, fee {item.fee:,}"

    def _farmed(self, peak: int, blocks: int) -> None:
        for height in range(peak - blocks + 1, peak + 1):
            block = self._chain.ledger.block(height)
            if block is not None and block.items:
                self._tell_empty()
                self._mined(block)
                continue
            first = height if self._empty is None else self._empty[0]
            self._empty = first, height
            if height - first + 1 >= EMPTY_RUN and height == peak:
                self._tell_empty()

    def _mined(self, block: Block | None) -> None:
        if block is not None and block.items:
            self._lines.append(f"block {block.height} has {_named(block.items)}")

    def _refused(self, bundle: Bundle, error: str) -> None:
        self._tell_empty()
        self._lines.append(f"bundle {_short(name_of_bundle(bundle))} is refused: {error}")

    def _tell_empty(self) -> None:
        if self._empty is not None:
            first, last = self._empty
            many = f"blocks {first} to {last} are" if last > first else f"block {first} is"
            self._lines.append(f"{many} empty")
            self._empty = None


def _short(name: bytes) -> str:
    return f"{name.hex()[:8]}…"


def _named(items: tuple[Item, ...]) -> str:
    names = ", ".join(_short(item.name) for item in items)
    return f"{'bundle' if len(items) == 1 else 'bundles'} {names}"


def _waiting(chain: SimulatedChain) -> str:
    waiting = len(chain.mempool)
    return f"{counted(waiting, 'bundle')} {'is' if waiting == 1 else 'are'} pending"
