"""Geometry of a page's drawings: areas of money over time, and the graph of coins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from channelsim.channel.report.html.session_data import Balances, PageCoin

WIDTH, HEIGHT = 1000, 160
"""The size of the chart of money, in its own units."""

BOX_WIDTH, BOX_HEIGHT = 190, 66
STEP_X, STEP_Y = 230, 84
"""The size of a coin in the graph, and the distance of two of them."""


class Box(msgspec.Struct, frozen=True):
    """A coin with the place of its box, and the paths of the edges that lead to it."""

    coin: PageCoin
    x: int
    y: int
    edges: tuple[str, ...]


class Drawing(msgspec.Struct, frozen=True):
    """The boxes of a graph, and its size."""

    boxes: tuple[Box, ...]
    width: int
    height: int


def areas(balances: Sequence[Balances], events: int) -> tuple[str, ...]:
    """The polygons of the initiator's money, that in games and the receiver's, from the bottom up.

    Each is a list of points for SVG; money changes in steps. None if there is nothing to show.

    >>> areas([Balances(0, 50, 0, 50)], 2)[0]
    '0,80 1000,80 1000,160 0,160'
    """
    whole = max((one.total for one in balances), default=0)
    if not whole:
        return ()
    last = max(events - 1, 1)
    begins = [_round(one.event / last * WIDTH) for one in balances]
    ends = [*begins[1:], str(WIDTH)]
    lines: list[list[str]] = [[], [], [], []]
    for one, begin, end in zip(balances, begins, ends, strict=True):
        for line, edge in zip(lines, one.edges(), strict=True):
            y = _round(HEIGHT - edge / whole * HEIGHT)
            line += [f"{begin},{y}", f"{end},{y}"]
    return tuple(" ".join([*upper, *reversed(lower)]) for lower, upper in pairwise(lines))


def graph(coins: Sequence[PageCoin]) -> Drawing:
    """The boxes of coins in columns, with an edge from each parent."""
    places = [(8 + coin.column * STEP_X, 8 + coin.row * STEP_Y) for coin in coins]
    boxes = []
    for coin, (x, y) in zip(coins, places, strict=True):
        edges = tuple(_edge(*places[parent], x, y) for parent in coin.parents)
        boxes.append(Box(coin, x, y, edges))
    width = max((x for x, _ in places), default=0) + BOX_WIDTH + 8
    height = max((y for _, y in places), default=0) + BOX_HEIGHT + 8
    return Drawing(tuple(boxes), width, height)


def _edge(from_x: int, from_y: int, to_x: int, to_y: int) -> str:
    """A path from the right side of one box to the left side of another."""
    x, y, end = from_x + BOX_WIDTH, from_y + BOX_HEIGHT // 2, to_y + BOX_HEIGHT // 2
    middle = (x + to_x) // 2
    return f"M{x} {y}C{middle} {y} {middle} {end} {to_x} {end}"


def _round(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
