"""`channelsim chain fund`."""

from __future__ import annotations

from typing import Annotated

from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.control_calls import MOST_REWARDS
from channelsim.channel.cli.option_groups import USUAL_NODE, ChainUrl
from channelsim.channel.cli.options import Json, argument, whole


def command(
    address: Annotated[str, argument("An address of the test chain, or a puzzle hash in hex.")],
    rewards: Annotated[
        int,
        whole(1, MOST_REWARDS, f"How many block rewards, each a coin of {BLOCK_REWARD:,} mojos."),
    ] = 1,
    node: ChainUrl = USUAL_NODE,
    json: Json = False,
) -> int:
    """Pay block rewards of a test chain to any address, each in a block of its own.

    Example: channelsim chain fund txch1abc
    """
    from channelsim.channel.chain.constants import BLOCK_REWARD
    from channelsim.channel.chain.control_calls import puzzle_hash_of
    from channelsim.channel.cli.chain_calls import Funded, changed
    from channelsim.channel.report.terminal import print_json
    from channelsim.games.amounts import counted

    puzzle_hash = puzzle_hash_of(address)
    done = changed(node, "fund_address", Funded, address=puzzle_hash.hex(), rewards=rewards)
    if json:
        print_json({"height": done.new_peak_height, "coins": done.coin_records})
    else:
        more = counted(rewards * BLOCK_REWARD, "mojo")
        print(f"height {done.new_peak_height}: {address} has {more} more")
    return 0
