"""The states between Space Poker's validators: what each of the five judges from.

Names are the specification's. "Mover" is who makes the next move, "waiter" its opponent.
An *image* is a value of a player's hash chain (32 bytes), a *preimage* its start (16 bytes).
All amounts are in mojos. `read` takes the CLVM form and raises `BadState` for any other shape.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from clsp.integers import int_to_atom
from clsp.values import Value, to_list
from games.reading import read_bytes, read_int, read_list

MOST = 2**63 - 1
"""No amount is higher (SP-TERMS-3): it takes at most 8 of the 10 bytes behind an image."""

PRE_FLOP, FLOP, TURN, RIVER = 4, 3, 2, 1
"""N: the streets, counted down."""


class CommitA(msgspec.Struct, frozen=True, gc=False):
    """Alice's commitment is next. CLVM: the atom bet_unit."""

    bet_unit: int

    def value(self) -> Value:
        """The CLVM form."""
        return int_to_atom(self.bet_unit)

    @staticmethod
    def read(value: Value) -> CommitA:
        """The state of this CLVM form."""
        return CommitA(read_int(value, "bet_unit", 1, MOST))


class CommitB(msgspec.Struct, frozen=True, gc=False):
    """Bob's commitment is next. CLVM: (bet_unit a5)."""

    bet_unit: int
    alices_image: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return to_list((int_to_atom(self.bet_unit), self.alices_image))

    @staticmethod
    def read(value: Value) -> CommitB:
        """The state of this CLVM form."""
        bet_unit, image = read_list(value, 2, "commitB state")
        return CommitB(read_int(bet_unit, "bet_unit", 1, MOST), read_bytes(image, "a5", 32))


class BeginRound(msgspec.Struct, frozen=True, gc=False):
    """A street starts: the mover reveals its image N, and opens or pongs.

    CLVM: (bet_unit half_pot mover_image waiter_image N mid_round_hash), the mover's image
    being N + 1 and the waiter's N. The program gets mid_round's hash from here, so that
    neither program contains the other.
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
            read_int(bet_unit, "bet_unit", 1, MOST),
            read_int(half_pot, "half_pot", 1, MOST),
            read_bytes(mover, "mover_image", 32),
            read_bytes(waiter, "waiter_image", 32),
            read_int(street, "N", RIVER, PRE_FLOP),
            read_bytes(mid_round, "mid_round_hash", 32),
        )


class MidRound(msgspec.Struct, frozen=True, gc=False):
    """A bet, a raise or a check stands: the mover raises or calls.

    CLVM: (bet_unit half_pot last_raise mover_image waiter_image N), both images being N.
    `half_pot` is what the mover has put in, `last_raise` what the waiter has put on top.
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
            read_int(bet_unit, "bet_unit", 1, MOST),
            read_int(half_pot, "half_pot", 1, MOST),
            read_int(last_raise, "last_raise", 0, MOST),
            read_bytes(mover, "mover_image", 32),
            read_bytes(waiter, "waiter_image", 32),
            read_int(street, "N", RIVER, PRE_FLOP),
        )


class End(msgspec.Struct, frozen=True, gc=False):
    """The showdown: the mover reveals its preimage and selects its five cards.

    CLVM: (half_pot mover_image waiter_preimage), the mover's image being 1.
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
            read_int(half_pot, "half_pot", 1, MOST),
            read_bytes(image, "mover_image", 32),
            read_bytes(preimage, "waiter_preimage", 16),
        )


SpacePokerState: TypeAlias = CommitA | CommitB | BeginRound | MidRound | End
"""Any state of a game that is not over."""
