"""The states that journals have led to, so that a second reader does not replay what a first one
has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.store.interface import Contents
from channelsim.channel.store.snapshots import Reveal


@dataclass(frozen=True, slots=True)
class Replayed:
    """A peer's state after all that a store had, and what else its reader noted by then."""

    contents: Contents
    state: PeerState
    block: Block
    watched: Sequence[Coin]
    reveals: Sequence[Reveal]
    erased: bool

    def begins(self, contents: Contents) -> bool:
        """True if these contents are the ones that were read, and perhaps events after them."""
        read = self.contents
        return (
            read.events == contents.events[: len(read.events)]
            and read.snapshot == contents.snapshot
            and read.states == contents.states
            and read.opening == contents.opening
        )


@dataclass(slots=True)
class Replays:
    """The states that the store of one peer led to: its opening, and all of it when last read.

    A peer is deterministic, so the same bytes lead to the same state. Only trials take one, which
    read the same store again and again: a process that starts reads everything.
    """

    known: dict[bool, Replayed] = field(default_factory=dict)

    def find(self, contents: Contents) -> Replayed | None:
        """The replay that covers most of these contents; None if none does."""
        begun = [one for one in self.known.values() if one.begins(contents)]
        return max(begun, key=lambda one: len(one.contents.events), default=None)

    def keep(self, replayed: Replayed) -> None:
        """Keep what was read, in the place of what was before."""
        self.known[bool(replayed.contents.snapshot)] = replayed
