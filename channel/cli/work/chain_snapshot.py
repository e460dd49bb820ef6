"""The work of `channelsim chain snapshot`."""

from __future__ import annotations

import msgspec

from channelsim.channel.cli.chain_calls import changed
from channelsim.channel.report.terminal import print_json


class _Snapshot(msgspec.Struct, frozen=True):
    snapshot: int
    height: int


def snapshot(node: str, *, json: bool) -> int:
    """Remember the state of a test chain and its mempool, and print the snapshot's number."""
    taken = changed(node, "snapshot", _Snapshot)
    if json:
        print_json(taken)
    else:
        print(taken.snapshot)
    return 0
