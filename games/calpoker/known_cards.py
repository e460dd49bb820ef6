"""The cards that one player knows, and commitments to discards."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, Hands, final_hands
from channelsim.games.calpoker.hands import best_selection
from channelsim.games.contract import Seat


class KnownCards(msgspec.Struct, frozen=True, gc=False):
    """The cards that a player knows.

    `hands` are Alice's and Bob's as they were dealt, and `masks`, by seat, what each gives away;
    None for what the player does not know yet.
    """

    hands: Hands | None = None
    masks: tuple[int | None, int | None] = (None, None)

    @property
    def final(self) -> Hands | None:
        """Both hands after the swap; None until both discards are known."""
        alice, bob = self.masks
        if self.hands is None or alice is None or bob is None:
            return None
        return final_hands(self.hands, alice, bob)

    def with_mask(self, seat: Seat, mask: int | None) -> KnownCards:
        """The same with the discards of one seat."""
        alice, bob = self.masks
        masks = (mask, bob) if seat is Seat.ALICE else (alice, mask)
        return KnownCards(self.hands, masks)


def discard_commit(salt: bytes, mask: int) -> bytes:
    """Alice's commitment: the hash of a 16-byte salt and the mask of what she gives away."""
    return sha256(salt + bytes([mask])).digest()


def committed_mask(salt: bytes, commit: bytes) -> int | None:
    """The mask behind one's own commitment; None for a commitment made with another salt."""
    for mask in FOUR_OF_EIGHT:
        if discard_commit(salt, mask) == commit:
            return mask
    return None


def best_selections(final: Hands) -> tuple[int, int]:
    """The masks of both players' best five of their final eight."""
    return best_selection(final[0]), best_selection(final[1])
