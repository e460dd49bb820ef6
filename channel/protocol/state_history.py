"""Every state that this side sent or received, in memory, for the life of the channel.

The peer searches it when a coin appears on chain; `store/history_codec.py` has the form on disk. It
is a linked list of frozen values, newest first, so adding a state copies nothing, and states share
the games that did not change.
Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from channelsim.channel.protocol.half_signed import SignedState
from channelsim.channel.protocol.state import ChannelState


@dataclass(frozen=True, slots=True)
class StateHistory:
    """A state, sent (`signed` is None) or received, and the states before it."""

    state: ChannelState
    signed: SignedState | None
    older: StateHistory | None = field(default=None, repr=False, compare=False)

    def with_state(self, state: ChannelState, signed: SignedState | None) -> StateHistory:
        """Add a newer state.

        Only the newest two keep their proposals: these pay nothing on chain, and the counterparty
        could otherwise fill our memory with proposals that we refuse.
        """
        older = self.older
        if older is not None and older.state.groups:
            bare = replace(older.state, groups=())
            completed = replace(older.signed, state=bare) if older.signed else None
            older = StateHistory(bare, completed, older.older)
        return StateHistory(state, signed, StateHistory(self.state, self.signed, older))

    def __iter__(self) -> Iterator[StateHistory]:
        """This state and all older ones, newest first."""
        link: StateHistory | None = self
        while link is not None:
            yield link
            link = link.older

    def numbered(self, number: int) -> ChannelState | None:
        """The state of this number."""
        return next((link.state for link in self if link.state.number == number), None)
