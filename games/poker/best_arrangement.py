"""The arrangement of thirteen cards that wins the most points on average, by sampling."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from channelsim.games.chance import Chance
from channelsim.games.deck.terms import CARDS as PACK
from channelsim.games.poker.arrangements import CARDS, number_of
from channelsim.games.poker.chinese import Arrangement, arranged, points
from channelsim.games.poker.ranking import HIGH

BOTTOMS, MIDDLES = 12, 6
"""How many of the best bottom rows are tried, and how many middle rows with each."""

SAMPLES = 6
"""The hands of an opponent that candidates are compared with."""


def best_arrangement(cards: Sequence[int], chance: Chance) -> int:
    """The number of the best of some strong arrangements; never a foul.

    Opponents are random hands out of the other 39 cards, each sorted by its strongest rows.
    """
    rest = [card for card in range(PACK) if card not in cards]
    opponents = [_strongest(chance.draw(rest, CARDS)) for _ in range(SAMPLES)]
    _, number = max(
        (sum(points(rows, other) for other in opponents), -number_of(top, middle))
        for top, middle, rows in _strong(cards)
    )
    return -number


def _strong(cards: Sequence[int]) -> Iterator[tuple[Sequence[int], Sequence[int], Arrangement]]:
    """Legal arrangements with a strong bottom row: the places of top and middle, and the keys."""
    places = range(CARDS)
    for bottom_key, bottom in _best_fives(cards, places, BOTTOMS):
        left = [place for place in places if place not in bottom]
        for middle_key, middle in _best_fives(cards, left, MIDDLES):
            top = [place for place in left if place not in middle]
            rows = Arrangement((HIGH.key([cards[at] for at in top]), middle_key, bottom_key))
            if not rows.foul:
                yield top, middle, rows


def _best_fives(
    cards: Sequence[int], places: Sequence[int], count: int
) -> Sequence[tuple[int, Sequence[int]]]:
    """The strongest rows of five of these places, with their keys; different keys only."""
    by_key = {HIGH.key([cards[at] for at in five]): five for five in combinations(places, 5)}
    return sorted(by_key.items(), reverse=True)[:count]


def _strongest(cards: Sequence[int]) -> Arrangement:
    """The best bottom row, then the best middle row."""
    (_, bottom), *_ = _best_fives(cards, range(CARDS), 1)
    left = [place for place in range(CARDS) if place not in bottom]
    (_, middle), *_ = _best_fives(cards, left, 1)
    top = [place for place in left if place not in middle]
    return arranged([cards[at] for at in (*top, *middle, *bottom)])
