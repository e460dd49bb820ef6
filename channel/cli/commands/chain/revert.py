"""`channelsim chain revert`."""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer

from channelsim.channel.cli.chain_calls import USUAL, ChainUrl, changed
from channelsim.channel.cli.options import Json, whole_number
from channelsim.channel.report.terminal import print_json

MOST_ID = 1_000_000_000


class _Reverted(msgspec.Struct, frozen=True):
    snapshot: int
    new_peak_height: int


def command(
    snapshot: Annotated[
        int | None,
        typer.Argument(
            parser=whole_number(1, MOST_ID), help="The snapshot's number (the last one)."
        ),
    ] = None,
    node: ChainUrl = USUAL,
    json: Json = False,
) -> int:
    """Take a test chain and its mempool back to a snapshot, and print the height.

    The snapshot can be used again; later ones end. Blocks after it are new ones: peers see a
    reorganisation.

    Example: channelsim chain revert 1
    """
    named = {} if snapshot is None else {"snapshot": snapshot}
    done = changed(node, "revert", _Reverted, **named)
    if json:
        print_json({"snapshot": done.snapshot, "height": done.new_peak_height})
    else:
        print(f"height {done.new_peak_height}")
    return 0
