"""The work of `channelsim chain revert`."""

from __future__ import annotations

import msgspec

from channelsim.channel.cli.chain_calls import changed
from channelsim.channel.report.terminal import print_json

MOST_ID = 1_000_000_000


class _Reverted(msgspec.Struct, frozen=True):
    snapshot: int
    new_peak_height: int


def revert(snapshot: int | None, node: str, *, json: bool) -> int:
    """Take a test chain and its mempool back to a snapshot, and print the height."""
    named = {} if snapshot is None else {"snapshot": snapshot}
    done = changed(node, "revert", _Reverted, **named)
    if json:
        print_json({"snapshot": done.snapshot, "height": done.new_peak_height})
    else:
        print(f"height {done.new_peak_height}")
    return 0
