"""`channelsim node`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from channelsim.channel.chain.constants import (
    BLOCK_COST,
    LEAST_BLOCK_COST,
    MOST_POOL_COST,
    POOL_BLOCKS,
)
from channelsim.channel.cli.options import (
    Mix,
    OutputForm,
    Seed,
    file_option,
    flag,
    hash_of,
    option_group,
    real,
    text,
    whole,
)

BLOCK_TIME = 2.0
"""Seconds from one block to the next, unless the user chooses."""
MOST_WALLETS = 1000


@option_group
class ServeOptions:
    """The options of `node`."""

    listen: Annotated[
        str | None,
        text("Where to listen (a free port of this machine).", "HOST:PORT"),
    ] = None
    block_every: Annotated[
        float | None, real(0.01, 86_400, f"Make a block every so many seconds ({BLOCK_TIME:g}).")
    ] = None
    block_on_push: Annotated[bool, flag("Make a block whenever a bundle is pending.")] = False
    no_blocks: Annotated[bool, flag("Make only the blocks that `chain make` asks for.")] = False
    wallets: Annotated[int, whole(0, MOST_WALLETS, "How many funded wallets to print.")] = 2
    mix: Mix = False
    max_block_cost: Annotated[
        int, whole(LEAST_BLOCK_COST, BLOCK_COST, "The most that a block's spends may cost.")
    ] = BLOCK_COST
    max_mempool_cost: Annotated[
        int | None,
        whole(
            LEAST_BLOCK_COST,
            MOST_POOL_COST,
            f"The most that the mempool's bundles may cost ({POOL_BLOCKS} blocks).",
        ),
    ] = None
    agg_sig_data: Annotated[
        bytes | None,
        typer.Option(
            parser=hash_of,
            metavar="HEX",
            help="What signatures on this network are for (AGG_SIG_ME); the genesis challenge.",
        ),
    ] = None
    state: Annotated[
        Path | None,
        file_option("Store the chain in this file, and continue a chain that it holds."),
    ] = None
    seed: Seed = "node"
    quiet: Annotated[bool, flag("Print no log of bundles and blocks.")] = False
    form: OutputForm


def command(options: ServeOptions) -> int:
    """Serve a full node of a new test chain, with the usual RPC and funded wallets, until Ctrl-C.

    It first prints its URL, the network's genesis challenge and AGG_SIG_ME data, and the wallets,
    and then a line for each bundle and each block that is not empty; with --json, only the first,
    in one line. Without --state, the chain ends with the command. The same seed gives the same
    wallets. Its mempool is as strict as that of a real node. `channelsim chain` makes blocks,
    reorganises, funds addresses, and goes back to snapshots.

    Example: channelsim node --block-on-push
    """
    from channelsim.channel.cli.work.node import serve

    return serve(options)
