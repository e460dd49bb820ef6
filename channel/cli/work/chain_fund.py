"""The work of `channelsim chain fund`."""

from __future__ import annotations

from typing import Any

import msgspec

from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.control_calls import puzzle_hash_of
from channelsim.channel.cli.chain_calls import changed
from channelsim.channel.report.terminal import print_json
from channelsim.games.amounts import counted


class _Funded(msgspec.Struct, frozen=True):
    coin_records: list[Any]
    new_peak_height: int


def fund(address: str, rewards: int, node: str, *, json: bool) -> int:
    """Pay block rewards of a test chain to any address, each in a block of its own."""
    puzzle_hash = puzzle_hash_of(address)
    done = changed(node, "fund_address", _Funded, address=puzzle_hash.hex(), rewards=rewards)
    if json:
        print_json({"height": done.new_peak_height, "coins": done.coin_records})
    else:
        more = counted(rewards * BLOCK_REWARD, "mojo", ",")
        print(f"height {done.new_peak_height}: {address} has {more} more")
    return 0
