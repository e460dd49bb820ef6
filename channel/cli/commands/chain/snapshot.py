"""`channelsim chain snapshot`."""

from __future__ import annotations

import msgspec

from channelsim.channel.cli.chain_calls import USUAL, ChainUrl, changed
from channelsim.channel.cli.options import Json
from channelsim.channel.report.terminal import print_json


class _Snapshot(msgspec.Struct, frozen=True):
    snapshot: int
    height: int


def command(node: ChainUrl = USUAL, json: Json = False) -> int:
    """Remember the state of a test chain and its mempool, and print the snapshot's number.

    Snapshots end with the node.

    Example: channelsim chain snapshot
    """
    taken = changed(node, "snapshot", _Snapshot)
    if json:
        print_json(taken)
    else:
        print(taken.snapshot)
    return 0
