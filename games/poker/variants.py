"""The poker games that are played with a prepared deck: each is a row of data.

The schedule says what is dealt and who bets first; the validators and their programs are the same
for all games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from channelsim.games.poker.limits import Structure
from channelsim.games.poker.schedule import HOLDEM, Round, positions


@dataclass(frozen=True, slots=True)
class Variant:
    """A game: `streets` are the names of its rounds, `structure` is that of its default terms."""

    name: str
    title: str
    rounds: tuple[Round, ...]
    streets: tuple[str, ...]
    structure: Structure

    @property
    def positions(self) -> int:
        """The positions of a deck that a hand uses."""
        return positions(self.rounds)

    @property
    def opener_has_button(self) -> int:
        """1 if the player that makes the first move has the button: the one that bets second."""
        return 1 - self.rounds[0].first


_ROWS = (
    Variant(
        "holdem",
        "Texas Hold'em: two hidden cards from one pack, five shared ones, best five of seven",
        HOLDEM,
        ("pre-flop", "flop", "turn", "river"),
        Structure.NO_LIMIT,
    ),
)

VARIANTS: Mapping[str, Variant] = MappingProxyType({row.name: row for row in _ROWS})
"""The games by name."""
