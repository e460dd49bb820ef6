"""Terms of a session: how games are proposed, for which stakes, and what fees cost."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.peer.limits import Limits
from channelsim.channel.protocol.bounds import MOST_BYTES, MOST_STATES
from channelsim.channel.session.defaults import DEFAULT_STACK, DEFAULT_UNIT
from channelsim.channel.simulation.bounds import MOST_FEES, MOST_RATE

TYPICAL_COST = 20_000_000
"""The cost of a spend that costs the `fees` of a session."""


class Proposals(StrEnum):
    """The way in which both sides propose the games of a session."""

    AGREED = "agreed"
    """They agreed on the hands before: one game is a hand, and the games take turns."""
    CHOSEN = "chosen"
    """They agreed on a list of games: the dealer of each hand names one of them."""
    TOGETHER = "together"
    """All games are in one proposal, and a hand is all of them."""
    STAGGERED = "staggered"
    """Each game is proposed some moves after the one before it."""

    @property
    def is_agreed(self) -> bool:
        """True if both sides play the hands that they agreed on, and no others."""
        return self in (Proposals.AGREED, Proposals.CHOSEN)


class Terms(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The terms of a session, the usual ones by default.

    Beyond agreed hands, each side accepts whatever the other one proposes, and a simulated
    dealer makes the decks, where both sides else prepare them. A stake is `stack` units of `unit`
    mojos. Each side puts in `balance` mojos (0: enough for all hands). The nodes of honest
    sides ask `fees` mojos for a spend of a typical cost; `max_fee` is the most that these sides pay
    for a spend (None: 20 times `fees`, or else `max_fees`), and `max_fees` the most in all (None:
    50 times as much). A `crowd` fills blocks at so many
    mojos per cost (0: there is none) once an honest side has a spend for them after the opening.
    `most_states` and `most_bytes` are limits of what an honest side keeps (0: as by default).
    """

    proposals: Proposals = Proposals.AGREED
    unit: Annotated[int, Meta(ge=1)] = DEFAULT_UNIT
    stack: Annotated[int, Meta(ge=1)] = DEFAULT_STACK
    balance: Annotated[int, Meta(ge=0, le=BLOCK_REWARD)] = 0
    fees: Annotated[int, Meta(ge=0, le=MOST_FEES)] = 0
    max_fee: Annotated[int, Meta(ge=0, le=BLOCK_REWARD)] | None = None
    max_fees: Annotated[int, Meta(ge=0, le=BLOCK_REWARD)] | None = None
    crowd: Annotated[int, Meta(ge=0, le=MOST_RATE)] = 0
    most_states: Annotated[int, Meta(ge=0, le=MOST_STATES)] = 0
    most_bytes: Annotated[int, Meta(ge=0, le=MOST_BYTES)] = 0

    @property
    def most_fees(self) -> tuple[int, int]:
        """The most that an honest side pays, for a spend and in all (0: nothing)."""
        most = self.max_fee
        if most is None:
            most = 20 * self.fees or self.max_fees or 0
        return most, min(50 * most, BLOCK_REWARD) if self.max_fees is None else self.max_fees

    @property
    def limits(self) -> Limits | None:
        """The limits of what an honest side keeps of the channel; None for the usual ones."""
        if not (self.most_states or self.most_bytes):
            return None
        usual = Limits()
        most = self.most_states or usual.states, self.most_bytes or usual.bytes
        return Limits(*most, demonstration=True)

    @property
    def rate(self) -> int:
        """The mojos per cost that the nodes of honest sides ask at least."""
        return -(-self.fees // TYPICAL_COST)


TOGETHER = Terms(proposals=Proposals.TOGETHER)
"""The usual terms of a dispute."""
