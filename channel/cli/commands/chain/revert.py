"""`channelsim chain revert`."""

from __future__ import annotations

from typing import Annotated

import typer

from channelsim.channel.cli.option_groups import USUAL_NODE, ChainUrl
from channelsim.channel.cli.options import Json, whole_number

MOST_ID = 1_000_000_000


def command(
    snapshot: Annotated[
        int | None,
        typer.Argument(
            parser=whole_number(1, MOST_ID), help="The snapshot's number (the last one)."
        ),
    ] = None,
    node: ChainUrl = USUAL_NODE,
    json: Json = False,
) -> int:
    """Take a test chain and its mempool back to a snapshot, and print the height.

    The snapshot can be used again; later ones end. Blocks after it are new ones: peers see a
    reorganisation.

    Example: channelsim chain revert 1
    """
    from channelsim.channel.cli.chain_calls import Reverted, changed, show_height

    named = {} if snapshot is None else {"snapshot": snapshot}
    done = changed(node, "revert", Reverted, **named)
    show_height(done.new_peak_height, json=json, snapshot=done.snapshot)
    return 0
