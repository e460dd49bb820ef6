"""`channelsim chain fund`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.control_calls import MOST_REWARDS
from channelsim.channel.cli.option_groups import USUAL_NODE, ChainUrl
from channelsim.channel.cli.options import Json, whole


def command(
    address: Annotated[
        str, typer.Argument(help="An address of the test chain, or a puzzle hash in hex.")
    ],
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
    from channelsim.channel.cli.work.chain_fund import fund

    return fund(address, rewards, node, json=json)
