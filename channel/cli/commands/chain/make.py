"""`channelsim chain make`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.chain.control_calls import MOST_MADE
from channelsim.channel.cli.chain_calls import USUAL, ChainUrl, NewPeak, changed
from channelsim.channel.cli.options import Json, whole_number
from channelsim.channel.report.terminal import print_json


def command(
    blocks: Annotated[
        int,
        typer.Argument(parser=whole_number(1, MOST_MADE), metavar="[N]", help="How many blocks."),
    ] = 1,
    node: ChainUrl = USUAL,
    json: Json = False,
) -> int:
    """Make blocks on a test chain, with the pending bundles, and print the height of the last one.

    Example: channelsim chain make 5 --node http://127.0.0.1:8555
    """
    peak = changed(node, "farm_block", NewPeak, blocks=blocks).new_peak_height
    if json:
        print_json({"height": peak})
    else:
        print(f"height {peak}")
    return 0
