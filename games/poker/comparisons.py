"""What the deals of a poker game compare, for the lab: `Game.pack` and `Game.showdown`.

In a deal every player stands pat, and arranges its cards as they were dealt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from channelsim.clsp.values import Value
from channelsim.games.contract import Pack, Rank, State
from channelsim.games.counting import masks
from channelsim.games.pack import Cards, Compared
from channelsim.games.poker.arranging import ROWS, Arrangement, arranged
from channelsim.games.poker.limits import First, board_value
from channelsim.games.poker.openings import OPENING, SCALAR
from channelsim.games.poker.ranking import ACE_TO_FIVE, RANKINGS, Ranking
from channelsim.games.poker.selections import (
    OWN,
    SHARED,
    best_low,
    best_selection,
    claimed,
)
from channelsim.games.poker.states import (
    BOARD,
    BUTTONS,
    BUTTONS_UP,
    OTHERS,
    OTHERS_UP,
    End,
    Kind,
    Showdown,
)
from channelsim.games.poker.variants import Variant

ROW_NAMES = ("top row", "middle row", "bottom row")


def pack(variant: Variant) -> Pack:
    """The deals of a game: the cards by position."""
    compared = _rows if variant.arranges else partial(_hands, variant)
    return Pack(
        variant.positions,
        compared,
        judged=dict.fromkeys(_open_streets(variant), "begin"),
        selections=_selections(variant.showdown),
    )


def _open_streets(variant: Variant) -> Iterator[str]:
    """The streets on which open cards say who acts first."""
    for street, name in zip(variant.rounds, variant.streets, strict=True):
        if street.first >= First.HIGHEST:
            yield name


def showdown(state: State, move: bytes, evidence: Value) -> tuple[Rank, Rank] | None:
    """The ranks of the hands that `end` compares (the high ones, where there are low ones too), by
    the cards that the move claims; None where it would compare none."""
    if not isinstance(state, End) or not isinstance(evidence, bytes):
        return None
    rules, size = state.table.showdown, OPENING * len(state.held)
    own = tuple(move[at + SCALAR] for at in range(0, min(size, len(move) - SCALAR), OPENING))
    if len(own) != len(state.held):
        return None
    mine = claimed(rules, (*own, *state.open, *state.board), move[size:])
    theirs = claimed(rules, (*state.shown, *state.board), evidence)
    if mine is None or theirs is None:
        return None
    ranking = RANKINGS[rules.ranking]
    return rank(ranking, mine.high), rank(ranking, theirs.high)


def rank(ranking: Ranking, key: int) -> Rank:
    """The rank of a hand by its key; where the lower key wins, with negative numbers.

    >>> from channelsim.games.poker.ranking import HIGH
    >>> rank(HIGH, 0x15EDC0), rank(ACE_TO_FIVE, 0x54321)
    (((1,), (5, 14, 13, 12, 0)), ((0,), (-5, -4, -3, -2, -1)))
    """
    sign = -1 if ranking.low else 1
    return (sign * (key >> 20),), tuple(sign * (key >> at & 15) for at in (16, 12, 8, 4, 0))


def _hands(variant: Variant, cards: Cards) -> Compared:
    """The best hands of the other seat and of the button, and boards that say who acts first."""
    rules, ranking = variant.showdown, RANKINGS[variant.showdown.ranking]
    compared = dict(_boards(variant, cards))
    board = _of(variant, cards, BOARD)
    mine = (*_of(variant, cards, OTHERS), *_of(variant, cards, OTHERS_UP), *board)
    theirs = (*_of(variant, cards, BUTTONS), *_of(variant, cards, BUTTONS_UP), *board)
    highs = (best_selection(rules, hand).key for hand in (mine, theirs))
    compared["hand"] = rank(ranking, next(highs)), rank(ranking, next(highs))
    if rules.low:
        lows = [best_low(rules, hand) for hand in (mine, theirs)]
        if any(lows):
            first, second = (((0,), ()) if low is None else _low(low.key) for low in lows)
            compared["low"] = first, second
    return compared


def _low(key: int) -> Rank:
    """The rank of a low hand, above that of none."""
    return (1,), rank(ACE_TO_FIVE, key)[1]


def _boards(variant: Variant, cards: Cards) -> Iterator[tuple[str, tuple[Rank, Rank]]]:
    """The open cards of both seats on each street that they open."""
    mine, theirs = [], []
    for street, name in zip(variant.rounds, variant.streets, strict=True):
        mine += [cards[at] for at, who in street.deal if who == OTHERS_UP]
        theirs += [cards[at] for at, who in street.deal if who == BUTTONS_UP]
        if street.first >= First.HIGHEST:
            first, second = (_board(street.first, board) for board in (mine, theirs))
            yield name, (first, second)


def _board(first: First, cards: Sequence[int]) -> Rank:
    value = board_value(first, cards)
    if len(cards) == 1:
        return (0,), (value >> 2, value & 3)
    return (value >> 20,), tuple(value >> at & 15 for at in (16, 12, 8, 4))


def _of(variant: Variant, cards: Cards, whose: int) -> Sequence[int]:
    """The cards that are dealt to somebody before any draw."""
    return [
        cards[at]
        for street in variant.rounds
        if street.kind == Kind.BET
        for at, who in street.deal
        if who == whose
    ]


def _rows(cards: Cards) -> Compared:
    """The rows of both seats; where one has a foul arrangement, only that."""
    both = [arranged(cards[start : start + sum(ROWS)]) for start in (0, sum(ROWS))]
    if any(rows.foul for rows in both):
        first, second = (((int(not rows.foul),), ()) for rows in both)
        return {"foul": (first, second)}
    return {name: _row(both, number) for number, name in enumerate(ROW_NAMES)}


def _row(both: Sequence[Arrangement], number: int) -> tuple[Rank, Rank]:
    mine, theirs = (rows.keys[number] for rows in both)
    return rank(RANKINGS[0], mine), rank(RANKINGS[0], theirs)


def _selections(rules: Showdown) -> tuple[bytes, ...]:
    """The selections of a side: of the hand, and for the low hand the same five or none."""
    match rules.mask_size:
        case 0:
            highs = [b""]
        case 1:
            highs = [bytes((mask,)) for mask in masks(7, 5)]
        case _:
            highs = [
                (own | shared << OWN).to_bytes(2, "big")
                for own in masks(OWN, 2)
                for shared in masks(SHARED, 3)
            ]
    if not rules.low:
        return tuple(highs)
    return tuple(high + low for high in highs for low in (bytes(len(high)), high))
