"""The cards of a game, as its author declares them for the lab: `Game.pack`.

Rare hands meet once in millions of deals. A game that says what its deals compare lets the lab look
for such deals and choose them, instead of waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from channelsim.games.verdicts import State

Rank: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""How a hand ranks: its class (such as two pairs), and what decides between hands of that class.

The better of two hands has the greater rank."""

Cards: TypeAlias = tuple[int, ...]
"""The cards of a deal: numbers from 0, all different."""

Compared: TypeAlias = Mapping[str, tuple[Rank, Rank]]
"""All that a deal makes the game compare, by name (`high`, `low`, `middle row`): the ranks of both
sides, always in the same order."""


@dataclass(frozen=True, slots=True)
class Pack:
    """The deals of a game, for the lab to choose one.

    - `dealt`: how many cards a deal has; in a game with a prepared deck those of all its positions
      (`Game.deck_positions`), in their order.
    - `compared`: what a deal makes the game compare, each side with its best hand, if nobody gives
      up and each player takes the lowest number of a `OneOf`.
    - `stacked`: a state and a move there with these cards instead of the ones they have, or None
      where they have no cards. Only a state that such a deal can lead to. A game with a prepared
      deck needs none: the lab stacks the deck. Where cards come out of hashes there is none.
    - `read`: the cards that a state and a move there have, as `compared` takes them; None where
      these are not a whole deal. Only for games whose cards come out of hashes: the lab then passes
      over secrets that lead to nothing new.
    - `judged`: the validator that makes a comparison, by its name; where none is named it is the
      last one in the order of play.
    - `cards`: how many different cards there are.
    - `selections`: what the end of a move, and the evidence, may select, where that is not one byte
      that selects five of seven, or five or four of eight cards.
    """

    dealt: int
    compared: Callable[[Cards], Compared]
    stacked: Callable[[State, bytes, Cards], tuple[State, bytes] | None] | None = None
    read: Callable[[State, bytes], Cards | None] | None = None
    judged: Mapping[str, str] = field(default_factory=dict)
    cards: int = 52
    selections: Sequence[bytes] = ()
