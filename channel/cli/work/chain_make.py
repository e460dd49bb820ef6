"""The work of `channelsim chain make`."""

from __future__ import annotations

from channelsim.channel.cli.chain_calls import NewPeak, changed
from channelsim.channel.report.terminal import print_json


def make(blocks: int, node: str, *, json: bool) -> int:
    """Make blocks on a test chain, and print the height of the last one."""
    peak = changed(node, "farm_block", NewPeak, blocks=blocks).new_peak_height
    if json:
        print_json({"height": peak})
    else:
        print(f"height {peak}")
    return 0
