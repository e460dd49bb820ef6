"""A durable peer that keeps the data of a watcher up to date, in a folder of its own.

They are written after the store and before anything is sent: what the other side has seen of us,
the watcher can preempt with. They do not wait for the disk, because a restart adds what is missing
from the peer's history.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from channelsim.channel.crypto import bls
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import Effect, Event
from channelsim.channel.peer.peer_state import PeerState, endpoint_of
from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.state import Channel, ChannelState
from channelsim.channel.protocol.state_history import StateHistory
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.interface import StoreError
from channelsim.channel.system.durable_files import replace_file
from channelsim.channel.system.input_files import LINES
from channelsim.channel.system.line_log import LineLog, LogFull
from channelsim.channel.watch.watch_data import (
    FORMAT,
    NEWEST,
    STATES,
    NewestState,
    WatchedChannel,
    WatchedState,
    encoded,
)
from channelsim.clsp.values import serialize


class WatchedPeer:
    """A durable peer with the data of its watcher; an actor for a driver.

    `log` is the class of the file of states.
    Raises `StoreError` as the durable peer does, also when the watcher's data cannot be written.
    A file that is full stays as it is, and the peer stops at each new state: the watcher does not
    know that one. A peer that starts again can still end the channel, which takes no new state.
    """

    def __init__(self, durable: DurablePeer, folder: Path, log: type[LineLog] = LineLog) -> None:
        self.durable = durable
        self._log_class = log
        self._folder = folder
        self._log: LineLog | None = None
        self._count = 0
        self._followed = 0
        self._newest = -1
        self._failed: BaseException | None = None

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height, or go on after a restart."""
        effects = self.durable.start(peak)
        with suppress(LogFull):
            self._follow(self.durable.peer.state)
        return effects

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event; the watcher's data have its states when this returns its effects."""
        if self._failed is not None:
            raise self._failed
        effects = self.durable.handle(event)
        try:
            self._follow(self.durable.peer.state)
        except LogFull as error:
            self._failed = StoreError(
                f"{error}; the peer has stopped, nothing is lost: end the channel with"
                " channelsim recover"
            )
            raise self._failed from None
        return effects

    def close(self) -> None:
        """Release the files."""
        if self._log is not None:
            self._log.close()
            self._log = None

    def _follow(self, state: PeerState) -> None:
        """Add the states that are new. Raises `LogFull` if they do not go into the file."""
        if state.play is None or (
            state.play.history.state.number < self._followed
            and state.play.newest.state.number <= self._newest
        ):
            return
        endpoint, play = endpoint_of(state), state.play
        try:
            log = self._log or self._open(endpoint, play.history)
            newer = takewhile(lambda link: link.state.number >= self._count, play.history)
            states = [watched_state(endpoint.channel, link.state) for link in newer]
            self._followed = self._count + len(states)
            full: LogFull | None = None
            try:
                if states:
                    log.append((encoded(one) for one in reversed(states)), sync=False)
                self._count += len(states)
            except LogFull as error:
                full = error
            if play.newest.state.number > self._newest:
                newest = newest_state(endpoint, play.newest)
                self._replace(newest)
                self._newest = newest.state.number
        except UsageError as error:
            self._failed = StoreError(f"{error}; the peer has stopped, nothing is lost")
            raise self._failed from None
        except BaseException as error:
            self._failed = error
            raise
        if full is not None:
            raise full

    def _replace(self, newest: NewestState) -> None:
        path = self._folder / NEWEST
        try:
            replace_file(path, encoded(newest) + b"\n", sync=False)
        except OSError as error:
            reason = (error.strerror or f"{error}").lower()
            raise UsageError(f"{path}: cannot be written ({reason})") from None

    def _open(self, endpoint: Endpoint, history: StateHistory) -> LineLog:
        """Open the files, or make them. Raises `UsageError` for those of another channel.

        They are never ahead of the store: if they are, the store is an old copy.
        """
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            reason = (error.strerror or "it cannot be written").lower()
            raise UsageError(f"{self._folder}: {reason}") from None
        header = encoded(watched_channel(endpoint))
        log = self._log_class(self._folder / STATES, header, LINES)
        if log.first != header:
            log.close()
            raise UsageError(f"{self._folder}: the watch data of another channel; move them away")
        ((count, newest),) = deque(enumerate(log.lines(), 1), maxlen=1) or [(0, b"")]
        if count and not _has(endpoint.channel, history, count - 1, newest):
            log.close()
            raise UsageError(
                f"{self._folder}: the store does not have the newest state of these data: it is an"
                " old copy, which must not be used"
            )
        self._log, self._count = log, count
        return log


def _has(channel: Channel, history: StateHistory, number: int, line: bytes) -> bool:
    """True if the history has this state as the line has it."""
    state = history.numbered(number)
    return state is not None and encoded(watched_state(channel, state)) == line


def watched_channel(endpoint: Endpoint) -> WatchedChannel:
    """What a watcher has to know of a channel."""
    channel = endpoint.channel
    return WatchedChannel(
        format=FORMAT,
        side=endpoint.side,
        coin=channel.coin,
        unroll_key=bytes(channel.unroll_key),
        rewards=channel.rewards,
        unroll_timeout=channel.unroll_timeout,
        confirmations=endpoint.confirmations,
        agg_sig_data=channel.agg_sig_data,
    )


def watched_state(channel: Channel, state: ChannelState) -> WatchedState:
    """A state as a watcher has it."""
    conditions = serialize(channel.preemption_conditions(state))
    return WatchedState(state.number, conditions, channel.on_chain(state).unroll_puzzle_hash)


def newest_state(endpoint: Endpoint, signed: SignedState) -> NewestState:
    """The state that preempts, with the other side's half completed by ours."""
    channel = endpoint.channel
    message = signed.on_chain.unroll_message
    ours = bls.sign_half(endpoint.secret_keys.unroll, message, channel.unroll_key)
    return NewestState(watched_state(channel, signed.state), bls.add(signed.halves[1], ours))
