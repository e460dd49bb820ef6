"""Calls that only a test chain has: make blocks, reorganise, fund an address, snapshot and revert.

`farm_block` and `reorg_blocks` have the names and the answers of the reference simulator; their
numbers are bounded here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from chia_wallet_sdk import Address
from msgspec import Meta

from channelsim.channel.chain.node_calls import Answered, CallError, given
from channelsim.channel.chain.node_json import Json, hexed, record_json
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.games.amounts import counted

MOST_MADE = 10_000
"""The blocks that a call makes or replaces."""

MOST_REWARDS = 100
"""The block rewards that a call pays."""

MOST_SNAPSHOTS = 1000
"""The snapshots that a node has at a time."""

LONGEST_ADDRESS = 200

_HASH = re.compile(r"(0x)?[0-9a-fA-F]{64}")

_Count = Annotated[int, Meta(ge=1, le=MOST_MADE)]
_Rewards = Annotated[int, Meta(ge=1, le=MOST_REWARDS)]
_Id = Annotated[int, Meta(ge=1, le=1 << 53)]
_Text = Annotated[str, Meta(max_length=LONGEST_ADDRESS)]


def puzzle_hash_of(address: str) -> bytes:
    """The puzzle hash in an address, or in its 64 hex digits. Raises `UsageError`.

    >>> puzzle_hash_of("0x" + 64 * "1") == puzzle_hash_of(64 * "1") == bytes([17]) * 32
    True
    """
    try:
        if _HASH.fullmatch(address):
            return bytes.fromhex(address[-64:])
        return bytes(Address.decode(address).puzzle_hash)
    except ValueError:
        raise UsageError(
            f"{address[:80]!a}: no address (txch1…) and no puzzle hash of 64 hex digits"
        ) from None


class ControlCalls:
    """Calls by which clients change an embedded node's chain. Snapshots end with the node."""

    def __init__(self, chain: SimulatedChain) -> None:
        self._chain = chain
        # The numbers of changes at the snapshots, by their ids; later ones have more changes.
        self._snapshots: dict[int, int] = {}
        self._last_id = 0

    @property
    def calls(self) -> Mapping[str, Answered]:
        """The calls by their names."""
        return {
            "farm_block": self._farm_block,
            "reorg_blocks": self._reorg_blocks,
            "fund_address": self._fund_address,
            "snapshot": self._snapshot,
            "revert": self._revert,
        }

    def _farm_block(self, request: Json) -> Json:
        """Make blocks with the pending bundles."""
        self._chain.farm(given({"blocks": 1, **request}, "blocks", _Count, ""))
        return {"new_peak_height": self._chain.peak()}

    def _reorg_blocks(self, request: Json) -> Json:
        """Replace the last blocks by more of them; with `keep`, their bundles are pushed again."""
        back = given({"num_of_blocks_to_rev": 1, **request}, "num_of_blocks_to_rev", _Count, "")
        request = {"num_of_new_blocks": back + 1, "keep": False, **request}
        new = given(request, "num_of_new_blocks", _Count, "")
        keep = given(request, "keep", bool, "")
        peak = self._chain.peak()
        if back >= peak:
            raise CallError(f"the chain has {counted(peak, 'block')}, of which the first one stays")
        if new <= back:
            raise CallError(f"{counted(back, 'block')} are only replaced by more of them")
        self._chain.reorganise(back, new, keep=keep)
        return {"new_peak_height": self._chain.peak()}

    def _fund_address(self, request: Json) -> Json:
        """Pay block rewards, each in a block of its own, to an address."""
        puzzle_hash = puzzle_hash_of(given(request, "address", _Text, "No address in request"))
        rewards = given({"rewards": 1, **request}, "rewards", _Rewards, "")
        coins = [self._chain.give(puzzle_hash, 1) for _ in range(rewards)]
        records = (self._chain.ledger.record(coin.id) for coin in coins)
        return {
            "puzzle_hash": hexed(puzzle_hash),
            "coin_records": [record_json(record) for record in records if record is not None],
            "new_peak_height": self._chain.peak(),
        }

    def _snapshot(self, _: Json) -> Json:
        """Remember the state of chain and mempool."""
        if len(self._snapshots) >= MOST_SNAPSHOTS:
            raise CallError(f"there are {MOST_SNAPSHOTS} snapshots: revert to one of them first")
        self._last_id += 1
        self._snapshots[self._last_id] = self._chain.changes
        return {"snapshot": self._last_id, "height": self._chain.peak()}

    def _revert(self, request: Json) -> Json:
        """Go back to a snapshot, the last one unless named; it stays, and later ones end."""
        if not self._snapshots:
            raise CallError("there is no snapshot since the node started")
        request = {"snapshot": max(self._snapshots), **request}
        number = given(request, "snapshot", _Id, "")
        if number not in self._snapshots:
            raise CallError(
                f"there is no snapshot {number}; the last one is {max(self._snapshots)}"
            )
        self._chain.revert(self._snapshots[number])
        self._snapshots = {key: at for key, at in self._snapshots.items() if key <= number}
        # What led to this state is one change longer now: it includes the revert.
        self._snapshots[number] = self._chain.changes
        return {"snapshot": number, "new_peak_height": self._chain.peak()}
