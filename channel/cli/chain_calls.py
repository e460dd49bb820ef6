"""Calls that change the test chain of a running `channelsim node`, and its URL as an option."""

from __future__ import annotations

from contextlib import closing
from typing import Any, TypeVar

import msgspec

from channelsim.channel.chain.rpc import Patience, RpcClient, line
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import print_json

T = TypeVar("T")

ONCE = Patience(seconds=120.0, attempts=1)
"""Limits of a call: made again, it could change the chain twice."""


class NewPeak(msgspec.Struct, frozen=True):
    """The height of the tip after a change."""

    new_peak_height: int


class Funded(msgspec.Struct, frozen=True):
    """The coins of block rewards, and the height after the last of them."""

    coin_records: list[Any]
    new_peak_height: int


class Snapshot(msgspec.Struct, frozen=True):
    """The number of a snapshot, and the height of the chain that it holds."""

    snapshot: int
    height: int


class Reverted(msgspec.Struct, frozen=True):
    """The snapshot that a chain went back to, and its height."""

    snapshot: int
    new_peak_height: int


class _Routes(msgspec.Struct, frozen=True):
    routes: list[str]


def changed(url: str, call: str, answer: type[T], **arguments: Any) -> T:
    """The answer to a call that changes a test chain. Raises `UsageError`, with the reason."""
    with closing(RpcClient(url, None, ONCE)) as client:
        if f"/{call}" not in client.ask("get_routes", _Routes).routes:
            raise UsageError(f"--node {url}: it is not a test chain; `channelsim node` starts one")
        answered = client.ask_either(call, answer, **arguments)
    if isinstance(answered, str):
        raise UsageError(line(answered))
    return answered


def show_height(peak: int, *, json: bool, **more: int) -> None:
    """Print the height of the tip; `more` comes before it in JSON."""
    if json:
        print_json({**more, "height": peak})
    else:
        print(f"height {peak}")
