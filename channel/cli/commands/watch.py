"""`channelsim watch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.option_groups import NodeOptions
from channelsim.channel.cli.options import (
    MOST_MOJOS,
    OutputForm,
    file_argument,
    file_option,
    option_group,
    real,
    whole,
)
from channelsim.channel.protocol.bounds import MOST_TIMEOUT

PERIOD = 5.0
"""Seconds between two looks at the chain, unless the user chooses."""


@option_group
class WatchOptions:
    """The options of `watch`."""

    folder: Annotated[Path, file_argument("A copy of the folder `watch` of a data directory.")]
    nodes: NodeOptions
    wait: Annotated[
        int | None,
        whole(
            0, MOST_TIMEOUT, "Blocks in which the owner can preempt first (a third of the timeout)."
        ),
    ] = None
    fee_key: Annotated[
        Path | None,
        file_option("A file with the secret key of small coins that pay fees: 64 hex digits."),
    ] = None
    max_fee: Annotated[
        int | None,
        whole(0, MOST_MOJOS, "The most mojos that a spend may cost (1 % of what is at stake)."),
    ] = None
    every: Annotated[float, real(0.05, 3600, "Seconds between two queries of the chain.")] = PERIOD
    form: OutputForm


def command(options: WatchOptions) -> int:
    """Watch a channel for its owner, from public data alone, until the channel has ended.

    A stale state that the counterparty publishes is preempted with the newest one; any other
    state is paid out after its timeout. Nothing else can be spent without the owner's keys. With
    --fee-key, coins of that key pay fees: as the node asks, and more until a spend is confirmed.
    Data that are copied again meanwhile are read again. It prints every change; with --json, a line
    each. Exit code 1: the channel ended in an older state than the newest of these data, or in one
    that they do not have.

    Example: channelsim watch tower/watch --node http://127.0.0.1:8555
    """
    from channelsim.channel.cli.work.watch import watch_channel

    return watch_channel(options)
