"""What one player sees: the cards that its own chain and the opponent's values give it."""

from __future__ import annotations

import msgspec

from games.contract import Position, Seat
from games.spacepoker.cards import board, hole
from games.spacepoker.entropy import TOP, above
from games.spacepoker.hands import best_selection
from games.spacepoker.states import PRE_FLOP, BeginRound, CommitB, End, MidRound


class Known(msgspec.Struct, frozen=True, gc=False):
    """The lowest value known of a player's chain: value `level`, from 5 down to 0."""

    level: int
    value: bytes


UNKNOWN = Known(TOP + 1, b"")
"""Nothing is known of a chain yet."""


class Holding(msgspec.Struct, frozen=True, gc=False):
    """A player's own two cards and its boost (1 or 0)."""

    hole: tuple[int, ...]
    boost: int

    def best(self, common: tuple[int, ...]) -> int:
        """The mask of the best five, with all five community cards."""
        return best_selection(self.hole + common, self.boost)


class Sight(msgspec.Struct, frozen=True, gc=False):
    """The cards that a player knows; None for a holding that it does not know (yet)."""

    own: Holding | None
    other: Holding | None
    board: tuple[int, ...]


NOTHING = Sight(None, None, ())
"""What a player sees before both have committed."""


def public(position: Position, seat: Seat) -> Known:
    """The lowest value of a player's chain that the last moves have made public."""
    moves = seat is position.mover
    match position.state:
        case CommitB(alices_image=image) if not moves:
            return Known(5, image)
        case BeginRound(street=n, mover_image=mover, waiter_image=waiter):
            return Known(n + 1, mover) if moves else Known(n, waiter)
        case MidRound(street=n, mover_image=mover, waiter_image=waiter):
            return Known(n, mover if moves else waiter)
        case End(mover_image=mover, waiter_preimage=waiter):
            return Known(1, mover) if moves else Known(0, waiter)
        case None if not moves:
            return Known(0, position.move[:16])
        case _:
            return UNKNOWN


def look(chain: tuple[bytes, ...], known: Known) -> Sight:
    """What the owner of `chain` sees, knowing so much of the opponent's."""
    level, value = known.level, known.value
    if level > PRE_FLOP:
        return NOTHING
    own = Holding(*hole(chain[0], above(value, PRE_FLOP - level)))
    if level > 0:
        return Sight(own, None, board(chain[level], value, level))
    other = Holding(*hole(value, chain[PRE_FLOP]))
    return Sight(own, other, board(chain[1], above(value, 1), 1))
