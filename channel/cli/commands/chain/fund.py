"""`channelsim chain fund`."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import typer

from channelsim.channel.chain.control_calls import MOST_REWARDS, puzzle_hash_of
from channelsim.channel.chain.simulator import BLOCK_REWARD
from channelsim.channel.cli.chain_calls import USUAL, ChainUrl, changed
from channelsim.channel.cli.options import Json, whole
from channelsim.channel.report.terminal import print_json
from channelsim.games.amounts import counted


class _Funded(msgspec.Struct, frozen=True):
    coin_records: list[Any]
    new_peak_height: int


def command(
    address: Annotated[
        str, typer.Argument(help="An address of the test chain, or a puzzle hash in hex.")
    ],
    rewards: Annotated[
        int,
        whole(1, MOST_REWARDS, f"How many block rewards, each a coin of {BLOCK_REWARD:,} mojos."),
    ] = 1,
    node: ChainUrl = USUAL,
    json: Json = False,
) -> int:
    """Pay block rewards of a test chain to any address, each in a block of its own.

    Example: channelsim chain fund txch1abc
    """
    puzzle_hash = puzzle_hash_of(address)
    done = changed(node, "fund_address", _Funded, address=puzzle_hash.hex(), rewards=rewards)
    if json:
        print_json({"height": done.new_peak_height, "coins": done.coin_records})
    else:
        more = counted(rewards * BLOCK_REWARD, "mojo")
        print(f"height {done.new_peak_height}: {address} has {more} more")
    return 0
