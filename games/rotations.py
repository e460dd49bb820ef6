"""Sessions that alternate between games: in a fixed order, or by the dealer's choice.

In both the button passes after every hand (GEN-1), and whoever has it proposes the hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from channelsim.games.players import Parameters
from channelsim.games.poker.variants import VARIANTS


@dataclass(frozen=True, slots=True)
class Rotation:
    """A session of several games: `each` hands of one game in a row, or 0 if the dealer chooses.

    `changes` of the default parameters hold for all of its games. `stack` and `hands` are what it
    is played with by default: chips of each player, and hands.
    """

    name: str
    title: str
    games: tuple[str, ...]
    each: int
    stack: int
    hands: int
    changes: Parameters = field(default_factory=dict)

    @property
    def dealer_chooses(self) -> bool:
        """True if the dealer names the game of each hand."""
        return self.each == 0


_ROWS = (
    # Bets of one size in all five games: a multiple of 4, of which antes and bring-ins are a
    # quarter (BET-14). Each game is played twice in a row, so that each player has the button once.
    Rotation(
        "horse",
        "H.O.R.S.E.: two hands each of five fixed-limit games in turn",
        ("holdem", "omaha8", "razz", "seven-stud", "seven-stud8"),
        each=2,
        stack=40,
        hands=10,
        changes={"bet": 4, "structure": 2},
    ),
    Rotation(
        "dealers-choice",
        "Dealer's choice: the button names the game of each hand, and its betting structure",
        tuple(VARIANTS),
        each=0,
        stack=40,
        hands=4,
    ),
)

ROTATIONS: Mapping[str, Rotation] = MappingProxyType({row.name: row for row in _ROWS})
"""The rotations by name."""
