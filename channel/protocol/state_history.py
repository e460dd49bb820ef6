"""Every state that this side ever signed, for the life of the channel, in memory.

What the disk has of them is in `kept.py`; this is what the peer itself looks things up in when
a coin appears on chain. A chain of frozen links, newest first: adding to it copies nothing.
Source: the state channel, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import msgspec

from channel.protocol.half_signed import SignedState
from channel.protocol.state import ChannelState


@dataclass(frozen=True, slots=True)
class StateHistory:
    """A state, sent (`signed` is None) or received, and those before it."""

    state: ChannelState
    signed: SignedState | None
    older: StateHistory | None = field(default=None, repr=False, compare=False)

    def with_state(self, state: ChannelState, signed: SignedState | None) -> StateHistory:
        """These states and a newer one.

        Only the newest two have their proposals: those pay nothing on chain, and the other side
        could fill the memory with what we refuse.
        """
        return StateHistory(
            state, signed, replace(self, older=self.older and self.older._settled())
        )

    def _settled(self) -> StateHistory:
        if not self.state.groups:
            return self
        state = msgspec.structs.replace(self.state, groups=())
        return StateHistory(
            state, replace(self.signed, state=state) if self.signed else None, self.older
        )

    def __iter__(self) -> Iterator[StateHistory]:
        """This state and all older ones, newest first."""
        link: StateHistory | None = self
        while link is not None:
            yield link
            link = link.older

    def numbered(self, number: int) -> ChannelState | None:
        """The state of this number."""
        return next((link.state for link in self if link.state.number == number), None)
