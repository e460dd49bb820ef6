"""The states of Space Poker's five validators.

The *mover* makes the next move, the *waiter* is its opponent. An *image* is a value of a player's
hash chain (32 bytes), a *preimage* is its start (16 bytes). All amounts are in mojos. `read` takes
the CLVM form and raises `BadState` for any other shape.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import Value, to_list
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.reading import read_bytes, read_int, read_list

PRE_FLOP, FLOP, TURN, RIVER = 4, 3, 2, 1
"""The streets, counted down; the specification calls their number N."""


class CommitA(msgspec.Struct, frozen=True, gc=False):
    """Alice's commitment is next. CLVM: the atom `bet_unit`."""

    bet_unit: int

    def value(self) -> Value:
        """The CLVM form."""
        return int_to_atom(self.bet_unit)

    @staticmethod
    def read(value: Value) -> CommitA:
        """The state of this CLVM form."""
        return CommitA(read_int(value, "bet_unit", 1, MAX_AMOUNT))


class CommitB(msgspec.Struct, frozen=True, gc=False):
    """Bob's commitment is next. CLVM: `(bet_unit alices_image)`, image 5 of her chain."""

    bet_unit: int
    alices_image: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return to_list((int_to_atom(self.bet_unit), self.alices_image))

    @staticmethod
    def read(value: Value) -> CommitB:
        """The state of this CLVM form."""
        bet_unit, image = read_list(value, 2, "commitB state")
        return CommitB(
            read_int(bet_unit, "bet_unit", 1, MAX_AMOUNT), read_bytes(image, "alices_image", 32)
        )


class BeginRound(msgspec.Struct, frozen=True, gc=False):
    """A street starts: the mover reveals its image of this street, and opens or pongs.

    CLVM: `(bet_unit half_pot mover_image waiter_image street mid_round_hash)`. `half_pot` is what
    each player has in the pot. `mover_image` is the mover's image of the street before (number
    street + 1), `waiter_image` the waiter's of this street. The program gets the hash of
    mid_round from the state, so that neither program contains the other.
    """

    bet_unit: int
    half_pot: int
    mover_image: bytes
    waiter_image: bytes
    street: int
    mid_round_hash: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return to_list(
            (
                int_to_atom(self.bet_unit),
                int_to_atom(self.half_pot),
                self.mover_image,
                self.waiter_image,
                int_to_atom(self.street),
                self.mid_round_hash,
            )
        )

    @staticmethod
    def read(value: Value) -> BeginRound:
        """The state of this CLVM form."""
        bet_unit, half_pot, mover, waiter, street, mid_round = read_list(
            value, 6, "begin_round state"
        )
        return BeginRound(
            read_int(bet_unit, "bet_unit", 1, MAX_AMOUNT),
            read_int(half_pot, "half_pot", 1, MAX_AMOUNT),
            read_bytes(mover, "mover_image", 32),
            read_bytes(waiter, "waiter_image", 32),
            read_int(street, "street", RIVER, PRE_FLOP),
            read_bytes(mid_round, "mid_round_hash", 32),
        )


class MidRound(msgspec.Struct, frozen=True, gc=False):
    """A bet, a raise or a check is to be answered: the mover raises or calls.

    CLVM: `(bet_unit half_pot last_raise mover_image waiter_image street)`. `half_pot` is what the
    mover has in the pot, `last_raise` what the waiter has in it beyond that. Both images are those
    of this street.
    """

    bet_unit: int
    half_pot: int
    last_raise: int
    mover_image: bytes
    waiter_image: bytes
    street: int

    def value(self) -> Value:
        """The CLVM form."""
        return to_list(
            (
                int_to_atom(self.bet_unit),
                int_to_atom(self.half_pot),
                int_to_atom(self.last_raise),
                self.mover_image,
                self.waiter_image,
                int_to_atom(self.street),
            )
        )

    @staticmethod
    def read(value: Value) -> MidRound:
        """The state of this CLVM form."""
        bet_unit, half_pot, last_raise, mover, waiter, street = read_list(
            value, 6, "mid_round state"
        )
        return MidRound(
            read_int(bet_unit, "bet_unit", 1, MAX_AMOUNT),
            read_int(half_pot, "half_pot", 1, MAX_AMOUNT),
            read_int(last_raise, "last_raise", 0, MAX_AMOUNT),
            read_bytes(mover, "mover_image", 32),
            read_bytes(waiter, "waiter_image", 32),
            read_int(street, "street", RIVER, PRE_FLOP),
        )


class End(msgspec.Struct, frozen=True, gc=False):
    """The showdown: the mover reveals its preimage and selects its five cards.

    CLVM: `(half_pot mover_image waiter_preimage)`. `half_pot` is what each player has in the pot,
    `mover_image` the mover's image 1.
    """

    half_pot: int
    mover_image: bytes
    waiter_preimage: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return to_list((int_to_atom(self.half_pot), self.mover_image, self.waiter_preimage))

    @staticmethod
    def read(value: Value) -> End:
        """The state of this CLVM form."""
        half_pot, image, preimage = read_list(value, 3, "end state")
        return End(
            read_int(half_pot, "half_pot", 1, MAX_AMOUNT),
            read_bytes(image, "mover_image", 32),
            read_bytes(preimage, "waiter_preimage", 16),
        )


SpacePokerState: TypeAlias = CommitA | CommitB | BeginRound | MidRound | End
"""Any state of a game that is not over."""
