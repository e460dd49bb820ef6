"""Both sides' messages as the honest side saw them, up to one event.

Source: spec/channel.md, "Opening" and "The potato".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from channelsim.channel.protocol.messages import (
    Message,
)
from channelsim.channel.simulation.model.batch_rules import CarefulSide
from channelsim.channel.simulation.model.channel_terms import ChannelTerms
from channelsim.channel.simulation.model.handshake import Handshake
from channelsim.channel.simulation.model.ledger import LedgerGame, LedgerState
from channelsim.channel.simulation.model.wishes import Wishes


@dataclass
class Conversation:
    """Both sides' messages until the honest side ignores them.

    `accounts` are the states by number. `received` is the newest state that the honest side can
    complete, `sent` the newest that it sent, and `slashable` one with illegal moves that it may
    publish. `careful` is what its own care asks of it. `broken` lists what it did wrong.
    """

    side: int
    handshake: Handshake
    times: tuple[int, int]
    """Blocks within which the other side has to answer, and to move."""
    confirmations: int
    careful: CarefulSide
    accounts: dict[int, LedgerState]
    received: int
    sent: int
    slashable: int | None = None
    broken: list[str] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)
    """The rules that the other side broke before its messages were ignored."""

    wishes: Wishes | None = None
    """What the honest player asked for; None if nothing is promised about that."""

    over: bool = False
    peak: int = 0
    holder: int = 1
    asked: dict[int, int] = field(default_factory=dict)
    closing: int | None = None
    wants_since: int | None = None
    """The height since which the honest side wants the potato."""
    closed: bool = False
    is_open: bool = False
    early: list[Message] = field(default_factory=list)
    last_received: tuple[bytes | None, bytes | None] = (None, None)
    """The last message from the other side, and its last batch."""
    completed_funding: bytes = b""
    """The message with the completed funding."""
    since: int = 0
    has_left: bool = False
    has_only_closed: bool = False
    born: int | None = None
    last_signed: bytes = b""
    """The honest side's last message that changes a state."""
    may_repeat: bool = False
    """True if it may not have arrived, because the connection was lost."""
    owes_numbers: bool = False
    """True on a new connection, until the honest side sends its last numbers."""
    connected: int = 0
    """The height of the first connection since the other side's last numbers were here."""
    resuming: bool = False
    """True until the other side's last numbers are here."""
    resumed: int = 0
    """The height at which they came."""
    stops_with: str = ""
    """The news with which the honest side has to stop, because of the other's numbers."""
    moves: dict[tuple[bytes, bytes | None], dict[bytes, LedgerGame]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Spends of game coins that were judged, by coin and solution: the coins that they made."""

    @cached_property
    def unrolls(self) -> Mapping[bytes, LedgerState]:
        """The states by the puzzle hashes of their unroll coins, once all messages are read."""
        agreed = self.handshake.agreed
        if agreed is None:
            return {}
        return {agreed.unroll_puzzle_hash(state): state for state in self.accounts.values()}

    # --- one event after the other ---

    def fails(self, how: str) -> None:
        """Note what the honest side did wrong, after which nothing more is judged."""
        self.broken.append(how)
        self.over = True

    def breaks(self, rules: frozenset[str]) -> frozenset[str]:
        """Note rules that the other side broke, and return them."""
        self.rules |= rules
        return rules

    def newest(self) -> LedgerState:
        """The newest state of either side."""
        return self.accounts[max(self.received, self.sent)]

    def agreed(self) -> ChannelTerms:
        """The terms of the channel. Raises `InvariantError` before message C."""
        return self.handshake.terms()

    def awaits_play(self) -> bool:
        """True if the opening is over, perhaps but for its last message, and play has not begun.

        The funding may be on chain before that message arrives.
        """
        last = self.side == 0 and self.handshake.awaits_completion
        return (self.handshake.over or last) and not self.is_open

    def is_owed_a_move(self) -> bool:
        """True if the other side owes a move or a settlement."""
        return any(game.mover != self.side for game in self.newest().games.values())
