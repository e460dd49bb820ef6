"""`channelsim chain reorganise`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.chain.control_calls import MOST_MADE
from channelsim.channel.cli.option_groups import USUAL_NODE, ChainUrl
from channelsim.channel.cli.options import Json, flag, whole, whole_number


def command(
    blocks: Annotated[
        int,
        typer.Argument(parser=whole_number(1, MOST_MADE - 1), help="How many blocks to replace."),
    ],
    new: Annotated[
        int | None, whole(2, MOST_MADE, "How many blocks replace them (one more than they are).")
    ] = None,
    push_again: Annotated[bool, flag("Push the bundles of the replaced blocks again.")] = False,
    node: ChainUrl = USUAL_NODE,
    json: Json = False,
) -> int:
    """Replace the last blocks of a test chain by others, and print the new height.

    The new blocks spend nothing, and the bundles of the old ones are lost, as on a real node,
    unless --push-again is given.

    Example: channelsim chain reorganise 3 --push-again
    """
    from channelsim.channel.cli.chain_calls import NewPeak, changed, show_height

    peak = changed(
        node,
        "reorg_blocks",
        NewPeak,
        num_of_blocks_to_rev=blocks,
        num_of_new_blocks=blocks + 1 if new is None else new,
        keep=push_again,
    ).new_peak_height
    show_height(peak, json=json)
    return 0
