"""The poker games that are played with a prepared deck: each is a row of data.

The schedule says what is dealt and who acts first; the validators and their programs are the same
for all games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from channelsim.games.poker.first import First
from channelsim.games.poker.limits import Forced, Structure
from channelsim.games.poker.ranking import (
    ACE_TO_FIVE,
    ACE_TO_SIX,
    DEUCE_TO_SEVEN,
    EIGHT_LOW,
    HIGH,
    RANKINGS,
    Ranking,
)
from channelsim.games.poker.schedule import (
    ANTE_DRAW,
    CHINESE,
    HOLDEM,
    OMAHA,
    Round,
    five_stud,
    positions,
    seven_stud,
)
from channelsim.games.poker.states import Kind, Showdown


@dataclass(frozen=True, slots=True)
class Variant:
    """A game without amounts: `streets` are the names of its rounds.

    `blinds`: the first round begins with blinds. `forced`: a bet that the first player of the first
    round must make. `structure` is that of its default terms.
    """

    name: str
    title: str
    rounds: tuple[Round, ...]
    streets: tuple[str, ...]
    showdown: Showdown
    structure: Structure = Structure.FIXED_LIMIT
    blinds: bool = False
    forced: Forced = Forced.NONE

    @property
    def positions(self) -> int:
        """The positions of a deck that a hand uses."""
        return positions(self.rounds)

    @property
    def opener_has_button(self) -> bool:
        """True if the button makes the first move: it is not the first to act, or cards say who."""
        return self.rounds[0].first != First.BUTTON

    @property
    def draws(self) -> bool:
        """True if players replace cards."""
        return any(one.kind in (Kind.DRAW, Kind.OPENED_DRAW) for one in self.rounds)

    @property
    def arranges(self) -> bool:
        """True if hands are arranged instead of bet on."""
        return self.rounds[0].kind is Kind.ARRANGE


def _showdown(mask_size: int, ranking: Ranking = HIGH, low: int = 0) -> Showdown:
    return Showdown(mask_size, RANKINGS.index(ranking), low)


_FIVE_CARDS, _FIVE_OF_SEVEN, _TWO_AND_THREE = 0, 1, 2

_FLOP_STREETS = ("pre-flop", "flop", "turn", "river")
_DRAW_STREETS = ("before the draw", "draw", "after the draw")
_FIVE_STREETS = ("second street", "third street", "fourth street", "fifth street")
_SEVEN_STREETS = (*_FIVE_STREETS[1:], "sixth street", "seventh street")


def _draw(name: str, title: str, ranking: Ranking) -> Variant:
    return Variant(name, title, ANTE_DRAW, _DRAW_STREETS, _showdown(_FIVE_CARDS, ranking))


def _seven(name: str, title: str, showdown: Showdown, *rules: First) -> Variant:
    rounds = seven_stud(*rules)
    return Variant(name, title, rounds, _SEVEN_STREETS, showdown, forced=Forced.BRING_IN)


_HIGH_SEVEN = _showdown(_FIVE_OF_SEVEN)

_ROWS = (
    Variant(
        "holdem",
        "Texas Hold'em: two hidden cards from one pack, five shared ones, best five of seven",
        HOLDEM,
        _FLOP_STREETS,
        _HIGH_SEVEN,
        Structure.NO_LIMIT,
        blinds=True,
    ),
    Variant(
        "omaha",
        "Omaha: four hidden cards and five shared ones, of which two and three make a hand",
        OMAHA,
        _FLOP_STREETS,
        _showdown(_TWO_AND_THREE),
        Structure.POT_LIMIT,
        blinds=True,
    ),
    Variant(
        "omaha8",
        "Omaha Hi-Lo: Omaha in which half of the pot goes to the best low, eight or better",
        OMAHA,
        _FLOP_STREETS,
        _showdown(_TWO_AND_THREE, low=EIGHT_LOW),
        blinds=True,
    ),
    _draw("five-draw", "Five Card Draw: five hidden cards, any of them replaced once", HIGH),
    _draw("lowball", "Lowball, ace to five: Five Card Draw for the lowest hand", ACE_TO_FIVE),
    _draw("lowball-a6", "Lowball, ace to six: straights and flushes are high", ACE_TO_SIX),
    _draw("lowball-27", "Lowball, deuce to seven: aces are high too", DEUCE_TO_SEVEN),
    Variant(
        "five-stud",
        "Five Card Stud: one hidden card and four open ones",
        five_stud(First.HIGHEST),
        _FIVE_STREETS,
        _showdown(_FIVE_CARDS),
    ),
    _seven(
        "seven-stud",
        "Seven Card Stud: three hidden cards and four open ones",
        _HIGH_SEVEN,
        First.LOWEST,
    ),
    _seven(
        "seven-stud8",
        "Seven Card Stud Hi-Lo: half of the pot goes to the best low, eight or better",
        _showdown(_FIVE_OF_SEVEN, low=EIGHT_LOW),
        First.LOWEST,
    ),
    _seven(
        "razz",
        "Razz: Seven Card Stud for the lowest hand",
        _showdown(_FIVE_OF_SEVEN, ACE_TO_FIVE),
        First.HIGHEST_ACE_LOW,
        First.LOWEST_ACE_LOW,
    ),
    Variant(
        "chinese",
        "Chinese Poker: thirteen cards in three rows, compared row by row",
        CHINESE,
        ("arrangement",),
        _showdown(_FIVE_CARDS),
    ),
)

VARIANTS: Mapping[str, Variant] = MappingProxyType({row.name: row for row in _ROWS})
"""The games by name."""
