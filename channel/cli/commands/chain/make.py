"""`channelsim chain make`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.chain.control_calls import MOST_MADE
from channelsim.channel.cli.option_groups import USUAL_NODE, ChainUrl
from channelsim.channel.cli.options import Json, whole_number


def command(
    blocks: Annotated[
        int,
        typer.Argument(parser=whole_number(1, MOST_MADE), metavar="[N]", help="How many blocks."),
    ] = 1,
    node: ChainUrl = USUAL_NODE,
    json: Json = False,
) -> int:
    """Make blocks on a test chain, with the pending bundles, and print the height of the last one.

    Example: channelsim chain make 5 --node http://127.0.0.1:8555
    """
    from channelsim.channel.cli.chain_calls import NewPeak, changed, show_height

    peak = changed(node, "farm_block", NewPeak, blocks=blocks).new_peak_height
    show_height(peak, json=json)
    return 0
