"""The work of `channelsim chain reorganise`."""

from __future__ import annotations

from channelsim.channel.cli.chain_calls import NewPeak, changed
from channelsim.channel.report.terminal import print_json


def reorganise(blocks: int, new: int | None, node: str, *, push_again: bool, json: bool) -> int:
    """Replace the last blocks of a test chain by others, and print the new height."""
    peak = changed(
        node,
        "reorg_blocks",
        NewPeak,
        num_of_blocks_to_rev=blocks,
        num_of_new_blocks=blocks + 1 if new is None else new,
        keep=push_again,
    ).new_peak_height
    if json:
        print_json({"height": peak})
    else:
        print(f"height {peak}")
    return 0
