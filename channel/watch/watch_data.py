"""The data of a watcher: all states, and one signature that preempts with the newest.

They are two files in a folder of their own. `states.jsonl` has a line for the channel and one for
each state, and only grows; `newest.json` is replaced as a whole. Both can be copied at any time,
in any order: an incomplete last line is ignored, and the newest state is also in its own file.
Neither has a key, or a half-signature. Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from channelsim.channel.chain.coins import Coin, Hash, Height, Key, Signature
from channelsim.channel.crypto import bls
from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.spend_parsing import MAX_CONDITION_BYTES
from channelsim.channel.protocol.unroll import unroll_puzzle_hash
from channelsim.channel.system.input_files import LINES, MB, is_missing, lines_of, read
from channelsim.clsp.values import BadValue, Value, deserialize, tree_hash

FOLDER = "watch"
"""The folder in a data directory."""

STATES = "states.jsonl"
NEWEST = "newest.json"
FORMAT = "channelsim watch data 1"

Number = Annotated[int, Meta(ge=0, lt=1 << 32)]


class WatchedChannel(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a watcher has to know of a channel: all of it is public.

    `side` is the owner's, 0 for the initiator; `rewards` are both reward addresses, the
    initiator's first. `unroll_key` is the sum of both unroll keys. Times are in blocks.
    """

    format: str
    side: Annotated[int, Meta(ge=0, le=1)]
    coin: Coin
    unroll_key: Key
    rewards: tuple[Hash, Hash]
    unroll_timeout: Annotated[int, Meta(ge=1, lt=1 << 32)]
    confirmations: Height
    agg_sig_data: Hash


class WatchedState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A signed state: its preemption's conditions, serialized, and its unroll coin's puzzle hash.

    The puzzle hash follows from the rest, and so shows a damaged line.
    """

    number: Number
    conditions: Annotated[bytes, Meta(max_length=MAX_CONDITION_BYTES)]
    puzzle_hash: Hash

    def value(self) -> Value:
        """The conditions as a CLVM value."""
        return deserialize(self.conditions)


class NewestState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The newest state that the owner can complete, and both sides' signature that preempts."""

    state: WatchedState
    signature: Signature


@dataclass(frozen=True, slots=True)
class WatchData:
    """A channel, its states by number, and the newest one that the owner can complete."""

    channel: WatchedChannel
    states: dict[int, WatchedState]
    newest: NewestState


T = TypeVar("T")


def read_watch_data(folder: Path) -> WatchData:
    """Read and check a copy of the two files. Raises `UsageError`, one line with the file."""
    channel, states = read_states(folder / STATES)
    found = {state.number: state for state in states}
    for number, state in enumerate(states):
        if state.number != number:
            raise _damaged(folder / STATES, f"state {number} is missing")
        _check_state(folder / STATES, channel, state)
    newest = read_newest(folder / NEWEST)
    _check_newest(folder / NEWEST, channel, newest)
    return WatchData(channel, {**found, newest.state.number: newest.state}, newest)


def read_states(path: Path) -> tuple[WatchedChannel, list[WatchedState]]:
    """Read the channel and its states, oldest first, without checking the states."""
    if is_missing(path) or not path.parent.is_dir():
        raise UsageError(
            f"{path}: missing; name a copy of the folder {FOLDER!r} of a data directory"
        )
    complete, _, _ = read(path, LINES).rpartition(b"\n")
    first, *rest = lines_of(complete) or [b""]
    channel = _decoded(path, 1, first, WatchedChannel)
    if channel.format != FORMAT:
        raise UsageError(
            f"{path}: not written by this version of channelsim, but as {channel.format[:60]!a}"
        )
    return channel, [
        _decoded(path, number, line, WatchedState) for number, line in enumerate(rest, 2)
    ]


def read_newest(path: Path) -> NewestState:
    """Read the newest state, without checking it."""
    return _decoded(path, 1, read(path, MB), NewestState)


def encoded(value: WatchedChannel | WatchedState | NewestState) -> bytes:
    """A line of a file."""
    return msgspec.json.encode(value)


def _check_state(path: Path, channel: WatchedChannel, state: WatchedState) -> None:
    try:
        conditions = state.value()
    except BadValue as error:
        raise _damaged(path, f"state {state.number}: {error}") from None
    found = unroll_puzzle_hash(
        channel.unroll_key, channel.unroll_timeout, state.number, tree_hash(conditions)
    )
    if found != state.puzzle_hash:
        raise _damaged(path, f"state {state.number} gives another unroll coin")


def _check_newest(path: Path, channel: WatchedChannel, newest: NewestState) -> None:
    _check_state(path, channel, newest.state)
    key = bls.public_key(channel.unroll_key)
    message = tree_hash(newest.state.value())
    if key is None or not bls.verify(key, message, newest.signature):
        raise _damaged(path, f"the signature does not sign state {newest.state.number}")
    if newest.state.number % 2 != channel.side:
        raise _damaged(path, f"the owner cannot complete state {newest.state.number}")


def _decoded(path: Path, number: int, line: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = ascii(f"{error}"[:200])[1:-1]
        raise _damaged(path, f"line {number}: {reason}") from None


def _damaged(path: Path, how: str) -> UsageError:
    return UsageError(f"{path}: damaged, or no watch data of channelsim: {how}; copy it again")
