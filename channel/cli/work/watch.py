"""The work of `channelsim watch`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic, sleep

from chia_rs import PrivateKey

from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Chain
from channelsim.channel.cli.commands.watch import WatchOptions
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.nodes import (
    check_network,
    node_addresses,
    nodes_at,
)
from channelsim.channel.cli.running import printing, unless_interrupted
from channelsim.channel.cli.secret_files import read_wallet_keys
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.channel.watch.channel_watch import ChannelWatch
from channelsim.channel.watch.pusher import Offered
from channelsim.channel.watch.watch_lines import WatchLine
from channelsim.channel.watch.watcher import Sight

PAUSE = 0.2
"""Seconds after which an interrupt is noticed."""


def watch_channel(options: WatchOptions) -> int:
    """Watch a channel for its owner, from public data alone, until the channel has ended."""
    keys = _fee_keys(options.fee_key)
    watch = ChannelWatch(options.folder, options.wait, keys, options.max_fee, complain)
    with (
        closing(nodes_at(node_addresses(options.nodes))) as chain,
        polled() as interrupted,
    ):
        return _watch(watch, chain, options.every, interrupted, as_json=options.form.as_json)


def _watch(
    watch: ChannelWatch,
    chain: Chain,
    every: float,
    interrupted: Callable[[], bool],
    *,
    as_json: bool,
) -> int:
    while not interrupted():
        watch.read_again()
        try:
            seen = unless_interrupted(partial(_looked, watch, chain), interrupted)
        except NodeError as error:
            watch.look_failed(f"{error}; trying again every {every:g} s")
        else:
            if seen is None:
                break
            line = watch.line(*seen)
            if line is not None:
                _show(line, as_json=as_json)
            sight, _ = seen
            if sight.final:
                well = sight.ended_well(watch.data.newest.state.number)
                return exit_code(False, failed=not well)
        _pause(every, interrupted)
    return exit_code()


def _looked(watch: ChannelWatch, chain: Chain) -> tuple[Sight, Offered | None]:
    """Look at the chain, and push what is due. Raises `UsageError` for another network."""
    check_network(chain, watch.data.channel.agg_sig_data)
    sight = watch.look(chain)
    return sight, watch.push(chain, sight)


def _fee_keys(path: Path | None) -> tuple[PrivateKey, ...]:
    """The keys of the fee coins; none without a file, or with one that cannot be used."""
    if path is None:
        return ()
    try:
        return read_wallet_keys(path)
    except UsageError as error:
        # A watcher without fees is better than none.
        complain(f"{error}; watching without fees")
        return ()


def _pause(seconds: float, interrupted: Callable[[], bool]) -> None:
    until = monotonic() + seconds
    while not interrupted() and monotonic() < until:
        sleep(min(PAUSE, seconds))


def _show(line: WatchLine, *, as_json: bool) -> None:
    with printing():
        if as_json:
            print(json_line(line), flush=True)
        else:
            say(console(), line.text)
