"""Rows of drawn cards in as many rows as the width of a terminal needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from channelsim.channel.report.plain import fitted
from channelsim.games.contract import Line

TOP, CELL = "┌", 6
"""The sign at which the upper edge of a card begins, and the columns from one card to the next."""


def plain(line: Line) -> str:
    """The text of a game's line."""
    return "".join(text for text, _ in line)


def is_drawn(line: Line) -> bool:
    """True for a line that is part of drawn cards."""
    return any(sign in "┌│└" for sign in plain(line))


def drawn_rows(lines: Sequence[Line], width: int, encoding: str = "utf-8") -> Iterator[Text]:
    """The lines for a terminal: a row of cards that is wider than this is cut into several.

    >>> from channelsim.games.cards import face, pictures
    >>> for text in drawn_rows(pictures("board", [face(2), face(3), face(4)]), 25):
    ...     print(text.plain.rstrip())
                 ┌───┐ ┌───┐
    board        │ 2 │ │ 3 │
                 └───┘ └───┘
                 ┌───┐
                 │ 4 │
                 └───┘
    """
    at = 0
    while at < len(lines):
        text = plain(lines[at])
        if text.strip().startswith(TOP):
            block = lines[at : at + _height(lines[at:])]
            yield from _cut([_text(line, encoding) for line in block], text, width)
            at += len(block)
        else:
            yield _text(lines[at], encoding)
            at += 1


def _text(line: Line, encoding: str) -> Text:
    return Text.assemble(*((fitted(text, encoding), style) for text, style in line))


def _height(lines: Sequence[Line]) -> int:
    """The lines of the drawing at the start: three, and a fourth with the numbers of its cards."""
    below = "".join(map(plain, lines[3:4])).split()
    return 4 if below and all(number.isdigit() for number in below) else 3


def _cut(block: list[Text], top: str, width: int) -> Iterator[Text]:
    """A drawing in rows: the label stands before the first, and what follows the cards after the
    last one."""
    start, cards = top.index(TOP), top.count(TOP)
    fit = max(1, (width - start + 1) // CELL)
    if cards <= fit or width < start + CELL:
        yield from block
        return
    for first in range(0, cards, fit):
        last = min(first + fit, cards)
        for line in block:
            row = line[:start] if first == 0 else Text(" " * start)
            end = len(line) if last == cards else start + last * CELL
            row.append_text(line[start + first * CELL : end])
            row.rstrip()
            yield row
