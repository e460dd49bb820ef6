"""Check the files that a side keeps for its watcher: they have the channel, and all its states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.watch.watch_data import (
    FOLDER,
    NEWEST,
    STATES,
    WatchedChannel,
    read_newest,
    read_states,
)
from channelsim.games.amounts import counted


def behind(config: Config, folder: Path, state: PeerState) -> Iterator[str]:
    """Find states that the files lack, and what they have otherwise than the channel."""
    play = state.play
    if play is None:
        return
    try:
        channel, states = read_states(folder / STATES)
        newest = read_newest(folder / NEWEST)
    except UsageError as error:
        yield f"cannot be read: {error}".replace(str(folder), FOLDER)[:100]
        return
    if len(states) <= play.history.state.number:
        newest_number = play.history.state.number
        yield f"has {counted(len(states), 'state')}, and the newest is number {newest_number}"
    if newest.state.number < play.newest.state.number:
        yield f"preempts with state {newest.state.number} of {play.newest.state.number}"
    yield from _other_channel(config, state, channel)


def _other_channel(config: Config, state: PeerState, channel: WatchedChannel) -> Iterator[str]:
    """Find what a watcher takes for terms of the channel, and is none."""
    opened, agreement = state.opening.opened, config.agreement
    terms: list[tuple[str, object, object]] = [
        ("side", channel.side, config.side),
        ("unroll timeout", channel.unroll_timeout, agreement.unroll_timeout),
        ("confirmation depth", channel.confirmations, agreement.confirmations),
        ("network", channel.agg_sig_data, config.agg_sig_data),
        ("reward address", channel.rewards[config.side], config.reward_address),
    ]
    if opened is not None:
        terms.append(("channel coin", channel.coin, opened.channel.coin))
    for name, says, right in terms:
        if says != right:
            yield f"has another {name}: {says!r}, and not {right!r}"
