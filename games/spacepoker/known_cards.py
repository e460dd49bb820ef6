"""The cards that one player knows: those that follow from its own chain and the values that it
knows of the opponent's."""

from __future__ import annotations

import msgspec

from channelsim.games.contract import Position, Seat
from channelsim.games.spacepoker.cards import board, hole
from channelsim.games.spacepoker.entropy import TOP, above
from channelsim.games.spacepoker.hands import best_selection
from channelsim.games.spacepoker.states import PRE_FLOP, BeginRound, CommitB, End, MidRound


class ChainValue(msgspec.Struct, frozen=True, gc=False):
    """Value `level` of a player's chain, from 5 (the commitment) down to 0 (the preimage)."""

    level: int
    value: bytes


UNKNOWN = ChainValue(TOP + 1, b"")
"""No value of a chain is known yet."""


class Holding(msgspec.Struct, frozen=True, gc=False):
    """A player's own two cards and its boost (1 or 0)."""

    hole: tuple[int, ...]
    boost: int

    def best(self, common: tuple[int, ...]) -> int:
        """The mask of the best five, with all five community cards."""
        return best_selection(self.hole + common, self.boost)


class KnownCards(msgspec.Struct, frozen=True, gc=False):
    """The cards that a player knows; a holding is None as long as it is unknown."""

    own: Holding | None
    other: Holding | None
    board: tuple[int, ...]


NO_CARDS = KnownCards(None, None, ())
"""The cards that a player knows before both have committed: none."""


def lowest_public(position: Position, seat: Seat) -> ChainValue:
    """The lowest value of a seat's chain that the moves up to a position have made public."""
    moves = seat is position.mover
    match position.state:
        case CommitB(alices_image=image) if not moves:
            return ChainValue(5, image)
        case BeginRound(street=street, mover_image=mover, waiter_image=waiter):
            return ChainValue(street + 1, mover) if moves else ChainValue(street, waiter)
        case MidRound(street=street, mover_image=mover, waiter_image=waiter):
            return ChainValue(street, mover if moves else waiter)
        case End(mover_image=mover, waiter_preimage=waiter):
            return ChainValue(1, mover) if moves else ChainValue(0, waiter)
        case None if not moves:
            return ChainValue(0, position.move[:16])
        case _:
            return UNKNOWN


def known_cards(chain: tuple[bytes, ...], known: ChainValue) -> KnownCards:
    """The cards that the owner of `chain` knows, by the lowest value of the opponent's."""
    level, value = known.level, known.value
    if level > PRE_FLOP:
        return NO_CARDS
    if level == 0:
        return KnownCards(*showdown_cards(chain, value))
    own = Holding(*hole(chain[0], above(value, PRE_FLOP - level)))
    return KnownCards(own, None, board(chain[level], value, level))


def showdown_cards(
    chain: tuple[bytes, ...], preimage: bytes
) -> tuple[Holding, Holding, tuple[int, ...]]:
    """All cards: the holdings of the owner of `chain` and of its opponent, and the board."""
    own, other = hole(chain[0], above(preimage, PRE_FLOP)), hole(preimage, chain[PRE_FLOP])
    return Holding(*own), Holding(*other), board(chain[1], above(preimage, 1), 1)
