"""The poker games that are played with a prepared deck: each is a row of data.

The schedule of a game says which positions of the deck are dealt when, to whom, and who acts first;
the validators and their programs are the same for all games. The seats are the button and the other
one; the other seat's cards come first. Rules: SCH-H to SCH-C.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from channelsim.games.poker.limits import First, Forced, Structure
from channelsim.games.poker.ranking import (
    ACE_TO_FIVE,
    ACE_TO_SIX,
    DEUCE_TO_SEVEN,
    EIGHT_LOW,
    HIGH,
    RANKINGS,
    Ranking,
)
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS,
    BUTTONS_UP,
    OTHERS,
    OTHERS_UP,
    Kind,
    Showdown,
)

# --- schedules ----------------------------------------------------------------------------------


Dealt: TypeAlias = tuple[tuple[int, int], ...]
"""Positions, and whose card each is."""

SMALL, BIG = 1, 2
"""The size of a street's bets in fixed limit, in small bets."""


@dataclass(frozen=True, slots=True)
class Round:
    """A street without amounts: who acts first, the size in small bets, and what is dealt."""

    first: First
    bets: int
    deal: Dealt
    kind: Kind = Kind.BET


def positions(rounds: tuple[Round, ...]) -> int:
    """How many positions of a deck a game uses."""
    return 1 + max(position for street in rounds for position, _ in street.deal)


def _private(each: int, start: int = 0) -> Dealt:
    """Closed cards for the other seat, then as many for the button."""
    others = ((start + number, OTHERS) for number in range(each))
    return (*others, *((start + each + number, BUTTONS) for number in range(each)))


def _board(*at: int) -> Dealt:
    return tuple((position, BOARD) for position in at)


def _up(start: int) -> Dealt:
    """An open card for each seat."""
    return (start, OTHERS_UP), (start + 1, BUTTONS_UP)


def _with_board(own: int) -> tuple[Round, ...]:
    """Closed cards, then a flop, a turn and a river."""
    flop = 2 * own
    return (
        Round(First.BUTTON, SMALL, _private(own)),
        Round(First.OTHER, SMALL, _board(flop, flop + 1, flop + 2)),
        Round(First.OTHER, BIG, _board(flop + 3)),
        Round(First.OTHER, BIG, _board(flop + 4)),
    )


HOLDEM = _with_board(2)
OMAHA = _with_board(4)

ANTE_DRAW = (
    Round(First.OTHER, SMALL, _private(5)),
    Round(First.OTHER, 0, _private(5, 10), Kind.OPENED_DRAW),
    Round(First.BETTOR, BIG, ()),
)
"""A draw game with antes: a hand in which nobody bets before the draw is passed out (DRAW-3)."""


def five_stud(first: First) -> tuple[Round, ...]:
    """Five Card Stud, its first round opened by one card."""
    return (
        Round(first, SMALL, (*_private(1), *_up(2))),
        Round(First.HIGHEST, SMALL, _up(4)),
        Round(First.HIGHEST, BIG, _up(6)),
        Round(First.HIGHEST, BIG, _up(8)),
    )


def seven_stud(first: First, later: First = First.HIGHEST) -> tuple[Round, ...]:
    """Seven cards, the last one closed; the first round is opened by one card, others by boards."""
    return (
        Round(first, SMALL, (*_private(2), *_up(4))),
        Round(later, SMALL, _up(6)),
        Round(later, BIG, _up(8)),
        Round(later, BIG, _up(10)),
        Round(later, BIG, _private(1, 12)),
    )


CHINESE = (Round(First.OTHER, SMALL, _private(13), Kind.ARRANGE),)


# --- games --------------------------------------------------------------------------------------


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
        return any(row.kind in (Kind.DRAW, Kind.OPENED_DRAW) for row in self.rounds)

    @property
    def most_open(self) -> int:
        """The most open cards that each player has."""
        dealt = [who for row in self.rounds for _, who in row.deal]
        return min(dealt.count(OTHERS_UP), dealt.count(BUTTONS_UP))

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
