"""Hands of Chinese Poker with rows of every class, which chance hardly ever deals."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.games.poker.limits import Structure
from channelsim.games.poker.ranking import HIGH
from channelsim.games.poker.states import Score
from channelsim.games.poker.terms import Stakes
from tests.games.poker.hands import ROWS, Hand, Turn

SHAPES = ((1, 1, 1, 1, 1), (2, 1, 1, 1), (2, 2, 1), (3, 1, 1), (3, 2), (4, 1))
TOPS = ((1, 1, 1), (2, 1), (3,))


def last_turn(seed: str, chance: FastChance) -> Turn:
    """The last turn of a hand in which both players have rows of random classes."""
    cards = _table(chance)
    point, stake, unit = 1 + chance.below(4), 1 + chance.below(90), chance.pick((1, 3, 10, 200))
    stakes = Stakes(unit, max(stake, point), 0, point, Structure.NO_LIMIT, 0, 0, 0)
    hand = Hand(seed, stakes, ROWS["chinese"], deck=cards, rows=cards)
    return next(turn for turn in hand.turns() if isinstance(turn.state, Score))


def _table(chance: FastChance) -> tuple[int, ...]:
    """The cards of both players, each in three rows, of which one in eight is a foul.

    Many rows of the second player are nearly those of the first, and many top rows nearly the
    middle ones, so that equal hands and neighbouring ones meet.
    """
    left = set(range(52))
    dealt: list[tuple[int, ...]] = []
    first: list[list[int]] = []
    for _ in range(2):
        fives: list[list[int]] = []
        for at in range(2):
            row = near(first[at], left, chance) if first and chance.below(3) else None
            row = row or row_of(5, sorted(left), chance)
            left -= set(row)
            fives.append(row)
        fives.sort(key=HIGH.key)
        first = first or fives
        top = near(_leading(fives[0]), left, chance, 0) if chance.below(3) == 0 else None
        top = top or row_of(3, sorted(left), chance)
        left -= set(top)
        if chance.below(8) == 0:
            fives.reverse()
        dealt.append((*top, *fives[0], *fives[1]))
    return (*dealt[0], *dealt[1])


def near(
    row: Sequence[int], left: Collection[int], chance: FastChance, most: int = 1
) -> list[int] | None:
    """The row in other suits, its ranks one more or less or the same; None if it is not left."""
    turn, step = 1 + chance.below(3), chance.below(2 * most + 1) - most
    found = [4 * ((card // 4 + step) % 13) + (card + turn) % 4 for card in row]
    return chance.shuffled(found) if all(card in left for card in found) else None


def _leading(row: Sequence[int]) -> list[int]:
    """The three cards that decide a row of five."""
    ranks = [card // 4 for card in row]
    return sorted(row, key=lambda card: (-ranks.count(card // 4), -(card // 4)))[:3]


def row_of(size: int, left: Sequence[int], chance: FastChance, low: bool = False) -> list[int]:
    """A row of a random class, if the cards that are left have one; in random order.

    `low`: half of them of low cards, without a pair.
    """
    if low and chance.below(2):
        ranks = chance.shuffled((12, 0, 1, 2, 3, 4, 5, 6, 7))[:size]
        row = [4 * rank + chance.below(4) for rank in ranks]
        if all(card in left for card in row):
            return row
    for _ in range(40):
        kind = chance.below(10)
        if size == 5 and kind < 5:
            top, suit = 3 + chance.below(10), chance.below(4)
            ranks = [(top - at) % 13 for at in range(5)]
            if kind == 4:
                ranks = chance.shuffled(range(13))[:5]
            suits = [suit if kind in (3, 4) else chance.below(4) for _ in ranks]
            if chance.below(6) == 0:  # all but one card of one suit
                suits = [(suit + 1) % 4, *[suit] * 4]
                ranks = chance.shuffled(range(13))[:5]
                row = [4 * rank + one for rank, one in zip(ranks, suits, strict=True)]
                if all(card in left for card in row):
                    return row
            row = [4 * rank + one for rank, one in zip(ranks, suits, strict=True)]
        else:
            shape = chance.pick(SHAPES if size == 5 else TOPS)
            ranks = chance.shuffled(range(13))[: len(shape)]
            row = [
                4 * rank + suit
                for rank, count in zip(ranks, shape, strict=True)
                for suit in chance.shuffled(range(4))[:count]
            ]
        if all(card in left for card in row):
            return chance.shuffled(row)
    return chance.shuffled(left)[:size]
