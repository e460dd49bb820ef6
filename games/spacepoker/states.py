"""The states of Space Poker's five validators.

The *mover* makes the next move, the *waiter* is its opponent. An *image* is a value of a player's
hash chain (32 bytes), a *preimage* is its start (16 bytes). All amounts are in mojos. `read` takes
the CLVM form and raises `BadState` for any other shape.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.forms import HashOf, Integer
from channelsim.games.states import Bytes16, Bytes32, Mojos, PlainState

PRE_FLOP, FLOP, TURN, RIVER = 4, 3, 2, 1
"""The streets, counted down; the specification calls their number N."""

Stake: TypeAlias = Annotated[int, Integer(1, MAX_AMOUNT)]
"""An amount of at least one mojo."""

Street: TypeAlias = Annotated[int, Integer(RIVER, PRE_FLOP)]


class CommitA(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: the atom `bet_unit`."""

    bet_unit: Stake


class CommitB(PlainState, frozen=True):
    """Bob's commitment is next. CLVM: `(bet_unit alices_image)`, image 5 of her chain."""

    bet_unit: Stake
    alices_image: Bytes32


class BeginRound(PlainState, frozen=True):
    """A street starts: the mover reveals its image of this street, and opens or pongs.

    CLVM: `(bet_unit half_pot mover_image waiter_image street mid_round_hash)`. `half_pot` is what
    each player has in the pot. `mover_image` is the mover's image of the street before (number
    street + 1), `waiter_image` the waiter's of this street. The program gets the hash of
    mid_round from the state, so that neither program contains the other.
    """

    bet_unit: Stake
    half_pot: Stake
    mover_image: Bytes32
    waiter_image: Bytes32
    street: Street
    mid_round_hash: Annotated[bytes, HashOf("mid_round")]


class MidRound(PlainState, frozen=True):
    """A bet, a raise or a check is to be answered: the mover raises or calls.

    CLVM: `(bet_unit half_pot last_raise mover_image waiter_image street)`. `half_pot` is what the
    mover has in the pot, `last_raise` what the waiter has in it beyond that. Both images are those
    of this street.
    """

    bet_unit: Stake
    half_pot: Stake
    last_raise: Mojos
    mover_image: Bytes32
    waiter_image: Bytes32
    street: Street


class End(PlainState, frozen=True):
    """The showdown: the mover reveals its preimage and selects its five cards.

    CLVM: `(half_pot mover_image waiter_preimage)`. `half_pot` is what each player has in the pot,
    `mover_image` the mover's image 1.
    """

    half_pot: Stake
    mover_image: Bytes32
    waiter_preimage: Bytes16


SpacePokerState: TypeAlias = CommitA | CommitB | BeginRound | MidRound | End
"""Any state of a game that is not over."""
