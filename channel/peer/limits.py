"""Limits of what one side keeps of a channel: its own, and not agreed with the other side.

Source: spec/channel.md, "The potato".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.bounds import (
    LEAST_BYTES,
    LEAST_STATES,
    MOST_BYTES,
    MOST_STATES,
    USUAL_BYTES,
    USUAL_STATES,
)
from channelsim.channel.protocol.state import LiveGame
from channelsim.clsp.values import serialize
from channelsim.games.amounts import counted

STATE = 512
"""Bytes of a state beside its batch: a watcher's line, hashes and half-signatures."""

LIVE_GAME = 64
"""Bytes of each live game of a state in a watcher's line."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The most states that a channel may have, and the most bytes that are kept of them.

    Limits out of bounds are refused, except in a `demonstration`.
    """

    states: int = USUAL_STATES
    bytes: int = USUAL_BYTES
    demonstration: bool = False

    def __post_init__(self) -> None:
        if self.demonstration:
            return
        if not LEAST_STATES <= self.states <= MOST_STATES:
            raise UsageError(
                f"a limit of {counted(self.states, 'state')}: {LEAST_STATES:,} to {MOST_STATES:,}"
            )
        if not LEAST_BYTES <= self.bytes <= MOST_BYTES:
            raise UsageError(
                f"a limit of {counted(self.bytes, 'byte')}: {LEAST_BYTES:,} to {MOST_BYTES:,}"
            )

    def near(self, number: int, stored: int) -> str:
        """The limit that a channel is near, in its last tenth; empty if it is near none.

        `number` is that of its newest state, `stored` the bytes of all states.
        """
        if number >= self.states - self.states // 10:
            return counted(self.states, "state")
        return counted(self.bytes, "byte") if stored >= self.bytes - self.bytes // 10 else ""

    def past(self, number: int, stored: int) -> str:
        """The limit that a channel would be past; empty if it is past none."""
        if number > self.states:
            return counted(self.states, "state")
        return counted(self.bytes, "byte") if stored > self.bytes else ""


def stored_bytes(batch: bytes, games: Iterable[LiveGame], before: Iterable[LiveGame]) -> int:
    """The bytes that are kept of a state, by its batch, its live games and those before it.

    The store has the batch as an event, and what it changed for good: the terms of new games, and
    what their seats remember and rules need of each game that moved. All live games are in the
    watcher's line.
    """
    known = {game.id: game for game in before}
    live = list(games)
    terms = sum(len(msgspec.msgpack.encode(game.terms)) for game in live if game.id not in known)
    moved = [game for game in live if known.get(game.id) != game]
    states = [game.position.state for game in moved]
    positions = sum(len(serialize(state.value())) for state in states if state is not None)
    memories = sum(len(game.memory) for game in moved)
    return 2 * len(batch) + STATE + LIVE_GAME * len(live) + terms + positions + memories
