"""The duties of a watcher to a side whose process is down, as the chain shows it, by block."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.interface import Coins
from channelsim.channel.protocol.spend_parsing import read_unroll
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


def false_sight(chain: Coins, data: WatchData, sight: Sight) -> Iterator[str]:
    """Find what a watcher says of the chain that is not so; the chain hides nothing.

    A watcher that does not know how a coin was spent says less.
    """
    channel, peak = data.channel, chain.peak()
    seen = chain.coin(channel.coin.id)
    if sight.peak != peak:
        return  # a block came while it looked
    spent = seen.spent if seen is not None else None
    if (sight.step in (Step.ABSENT, Step.OPEN)) != (spent is None):
        yield f"says that {sight.step.value}, and the channel coin was spent at height {spent}"
        return
    if sight.step is Step.SHUT:
        yield from _end(sight, spent, peak, channel.confirmations)
        if not sight.ended_well(data.newest.state.number):
            yield "calls the end by a shutdown bad"
    states = {state.puzzle_hash: state for state in data.states.values()}
    children = chain.children(channel.coin.id) if spent is not None else []
    if sight.step is Step.UNKNOWN:
        ends = (child.spent for child in children if child.coin.puzzle_hash in states)
        yield from _end(sight, next(ends, None) or spent, peak, channel.confirmations)
    for child in children:
        state = states.get(child.coin.puzzle_hash)
        if state is None:
            continue
        if child.spent is not None:
            if sight.step is Step.PAID:
                yield from _end(sight, child.spent, peak, channel.confirmations)
            yield from _false_payout(chain, data, sight, child.coin)
            yield from _false_end(chain, data, sight, child.coin)
            continue
        theirs = state.number % 2 != channel.side
        is_stale = theirs and state.number < data.newest.state.number
        step = Step.STALE if is_stale else Step.PUBLISHED
        if sight.step is not step:
            yield f"says that {sight.step.value}, and that {step.value} is right"
            continue
        others = channel.rewards[1 - channel.side]
        paid = read_unroll(state.conditions)
        coins = paid.coins if paid is not None else ()
        timeout = child.born + channel.unroll_timeout
        if is_stale:
            stake, latest = channel.coin.amount, timeout - 1
        else:
            stake = sum(amount for address, amount in coins if address != others)
            latest = None
        is_late = is_stale and 3 * (peak - child.born) > 2 * channel.unroll_timeout
        said = sight.state, sight.since, sight.latest, sight.late, sight.stake
        right = state.number, child.born, latest, is_late, stake
        if said != right:
            yield f"says {said} of a published state (number, since, latest, late, stake): {right}"


def _false_payout(chain: Coins, data: WatchData, sight: Sight, unroll: Coin) -> Iterator[str]:
    """Find a payout that a watcher does not know, or takes for one of other coins.

    States that pay the same are not told apart without the solution of the spend.
    """
    seen = chain.coin(unroll.id)
    paid = read_unroll(seen.solution) if seen is not None and seen.solution is not None else None
    if paid is None or paid.number not in data.states:
        return
    number = sight.state if sight.step is Step.PAID else None
    state = data.states.get(number) if number is not None else None
    named = read_unroll(state.conditions) if state is not None else None
    if named is None or sorted(named.coins) != sorted(paid.coins):
        says = f"says that {sight.step.value}, and names state {sight.state}"
        yield f"{says}, and state {paid.number} was paid out"


def _false_end(chain: Coins, data: WatchData, sight: Sight, unroll: Coin) -> Iterator[str]:
    """Find a payout that is called good, or bad, for the owner, and is not."""
    seen = chain.coin(unroll.id)
    paid = read_unroll(seen.solution) if seen is not None and seen.solution is not None else None
    newest = data.newest.state.number
    if paid is None or sight.step is not Step.PAID:
        return
    is_good = paid.number >= newest
    if sight.state == paid.number and sight.ended_well(newest) != is_good:
        says = "good" if not is_good else "bad"
        yield f"calls the payout of state {paid.number} {says}, and the newest is {newest}"


def _end(sight: Sight, spent: int | None, peak: int, confirmations: int) -> Iterator[str]:
    """Find a last spend that is called final before it is deep, or not final after that."""
    is_final = spent is not None and peak - spent >= confirmations
    if (sight.since, sight.final) != (spent, is_final):
        final = "final" if sight.final else "not final"
        yield f"says {final} at height {peak} of a spend at {spent}, and names {sight.since}"


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
