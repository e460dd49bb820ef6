"""`channelsim chain snapshot`."""

from __future__ import annotations

from channelsim.channel.cli.option_groups import USUAL_NODE, ChainUrl
from channelsim.channel.cli.options import Json


def command(node: ChainUrl = USUAL_NODE, json: Json = False) -> int:
    """Remember the state of a test chain and its mempool, and print the snapshot's number.

    Snapshots end with the node.

    Example: channelsim chain snapshot
    """
    from channelsim.channel.cli.chain_calls import Snapshot, changed
    from channelsim.channel.report.terminal import print_json

    taken = changed(node, "snapshot", Snapshot)
    if json:
        print_json(taken)
    else:
        print(taken.snapshot)
    return 0
