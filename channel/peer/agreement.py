"""Terms that both players agree on before their peers exchange a message."""

from __future__ import annotations

from dataclasses import dataclass, field

from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.proposals import ANSWER_MARGIN
from channelsim.games.deck.group import Group, real_group
from channelsim.games.deck.terms import LEAST_ROUNDS, DeckTerms


@dataclass(frozen=True, slots=True)
class Times:
    """The times that each side waits for the other, in blocks.

    `response` and `move` are agreed on; `margin` is what the waiting side adds of its own accord
    for delivery and reconnection.
    """

    response: int = 10
    move: int = 40
    margin: int = 3


@dataclass(frozen=True, slots=True)
class DeckSettings:
    """Settings of the decks of a channel, for games that need one.

    `positions` is how many cards of a deck can be locked: at least what its games use. A proof of
    fewer than 40 `rounds`, or another group, is refused (PD-8) except in a `demonstration`.
    """

    positions: int = 26
    rounds: int = LEAST_ROUNDS
    group: Group = field(default_factory=real_group)
    demonstration: bool = False

    def __post_init__(self) -> None:
        if self.demonstration:
            return
        if self.rounds < LEAST_ROUNDS:
            raise UsageError(f"decks with {self.rounds} rounds of proof: at least {LEAST_ROUNDS}")
        if self.group is not real_group():
            raise UsageError("decks in another group than BLS12-381 G1: for demonstrations only")

    def terms(self, channel_id: bytes, number: int) -> DeckTerms:
        """The terms of the deck with this number in the channel with this launcher coin."""
        return DeckTerms(channel_id, number, self.positions, self.rounds)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Contributions, timeouts and waiting times of a channel.

    `contributions` in mojos, the initiator's first; `unroll_timeout` in blocks. `confirmations`
    and `spacing` are our own settings: every number of blocks in which something must get in is
    multiplied by `spacing`. `decks` are the terms of prepared decks.
    """

    contributions: tuple[int, int]
    unroll_timeout: int
    confirmations: int
    times: Times = Times()
    decks: DeckSettings = field(default_factory=DeckSettings)
    spacing: int = 1


def least_unroll_timeout(confirmations: int, spacing: int) -> int:
    """The shortest unroll timeout that a careful player accepts, in blocks."""
    return spacing * (confirmations + 2 + ANSWER_MARGIN)


def least_funding_blocks(spacing: int) -> int:
    """The fewest blocks for the funding that a careful receiver accepts."""
    return spacing * ANSWER_MARGIN
