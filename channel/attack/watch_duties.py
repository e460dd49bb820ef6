"""The duties of a watcher to a side whose process is down, as the chain shows it, by block."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Coins
from channelsim.channel.watch.watch_data import WatchData
from channelsim.channel.watch.watcher import Sight, Step

SLACK = 6
"""Blocks beyond its time in which a watcher's spend gets in: a node may hold it back for four."""


def owners_time(data: WatchData) -> int:
    """The blocks in which a watcher leaves it to the owner to preempt a stale state."""
    return data.channel.unroll_timeout // 3


def untimely(data: WatchData, sight: Sight, peak: int) -> Iterator[str]:
    """Find a spend that a watcher makes too early, or lacks at the height at which it is due."""
    if sight.since is None or sight.step not in (Step.STALE, Step.PUBLISHED):
        return
    stale = sight.step is Step.STALE
    due = sight.since + (owners_time(data) if stale else data.channel.unroll_timeout)
    if (sight.spend is not None) != (peak >= due):
        yield f"acts too {'late' if sight.spend is None else 'early'} on state {sight.state}"


def overdue(chain: Coins, data: WatchData, since: int) -> Iterator[str]:
    """Find a published state that a watcher leaves alone.

    It has looked at a node that answers `since` this height.
    """
    channel, peak = data.channel, chain.peak()
    published = {
        Coin(channel.coin.id, state.puzzle_hash, channel.coin.amount): state.number
        for state in data.states.values()
    }
    for child in chain.children(channel.coin.id):
        number = published.get(child.coin)
        if number is None or child.spent is not None:
            continue
        theirs = number % 2 != channel.side
        stale = theirs and number < data.newest.state.number
        due = child.born + (owners_time(data) if stale else channel.unroll_timeout)
        if peak - max(due, since) > SLACK:
            what = "preempt" if stale else "pay out"
            yield f"does not {what} state {number}"
