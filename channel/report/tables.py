"""Tables that keep every number and word whole, however narrow the terminal is."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from channelsim.channel.report.plain import fitted, printable
from channelsim.channel.report.terminal import say, wrapped

Cell = str | Text

GAP = "  "
"""Between two columns."""

LEAST, RULED = 24, 60
"""The fewest columns for the last cells of a growing table, and the width of the line above them.
"""


def show_table(
    console: Console,
    headings: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    *,
    title: str = "",
    left: int = 1,
) -> None:
    """Print rows, with or without headings. The first `left` columns are text, the others numbers.

    Cells wrap between words. On a terminal too narrow for that, each row is a paragraph of
    headings and values. A row without cells is a line between rows.
    """
    if title:
        say(console, title, "bold")
    table = [[_text(console, cell) for cell in row] for row in rows]
    if not table:
        return
    heads = [_text(console, heading) for heading in headings or [""] * len(table[0])]
    widths = _widths([heads, *filter(None, table)], console.width)
    if widths is None:
        _paragraphs(console, heads, table, left if left < len(heads) else 1)
        return
    rule = [Text(fitted("─", console.encoding) * width, "dim") for width in widths]
    for head in heads:
        head.stylize("bold")
    for cells in (*([heads, rule] if headings else []), *(row or rule for row in table)):
        _row(console, cells, widths, left)


class GrowingTable:
    """A table that is printed row by row, each as soon as it is known.

    `widest` has the widest cell of each column but the last, which takes the rest of the line. On a
    terminal too narrow for that, each row is a paragraph, as `show_table` prints it.
    """

    def __init__(
        self, console: Console, headings: Sequence[str], widest: Sequence[str], title: str
    ) -> None:
        self._console = console
        self._heads = [_text(console, heading) for heading in headings]
        first = [
            max(cell_len(cell), cell_len(head))
            for cell, head in zip(widest, headings, strict=False)
        ]
        last = console.width - sum(first) - len(GAP) * len(first)
        self._widths = [*first, last] if last >= LEAST else None
        self._title = title

    def add(self, *cells: Cell) -> None:
        """Print a row, the title and the headings before the first one."""
        if self._title:
            self._begin()
        row = [_text(self._console, cell) for cell in cells]
        if self._widths is None:
            _paragraphs(self._console, self._heads, [row], 1)
        else:
            _row(self._console, row, self._widths, len(row))

    def _begin(self) -> None:
        say(self._console, self._title, "bold")
        self._title = ""
        if self._widths is None:
            return
        widths = [*self._widths[:-1], min(self._widths[-1], RULED)]
        rule = [Text(fitted("─", self._console.encoding) * width, "dim") for width in widths]
        for head in self._heads:
            head.stylize("bold")
        for cells in (self._heads, rule):
            _row(self._console, cells, self._widths, len(cells))


def _text(console: Console, cell: Cell) -> Text:
    if isinstance(cell, Text):
        return cell.copy()
    return Text(fitted(printable(cell), console.encoding))


def _widths(rows: Sequence[Sequence[Text]], room: int) -> list[int] | None:
    """The widths of the columns, the widest reduced until all fit; None if they cannot fit."""
    columns = list(zip(*rows, strict=True))
    words = [[word for cell in column for word in cell.plain.split()] for column in columns]
    least = [max(map(cell_len, column), default=0) for column in words]
    widths = [max(cell.cell_len for cell in column) for column in columns]
    room -= len(GAP) * (len(columns) - 1)
    if sum(least) > room:
        return None
    while sum(widths) > room:
        loose = [index for index, width in enumerate(widths) if width > least[index]]
        widths[max(loose, key=lambda index: widths[index])] -= 1
    return widths


def _row(console: Console, cells: Sequence[Text], widths: Sequence[int], left: int) -> None:
    """Print one row, on as many lines as its longest cell needs."""
    columns = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for number in range(max(map(len, columns))):
        pieces = []
        for column, (lines, width) in enumerate(zip(columns, widths, strict=True)):
            piece = lines[number] if number < len(lines) else Text()
            piece.align("left" if column < left else "right", width)
            pieces.append(piece)
        line = Text(GAP).join(pieces)
        line.rstrip()
        say(console, line)


def _paragraphs(
    console: Console, heads: Sequence[Text], rows: Sequence[Sequence[Text]], names: int
) -> None:
    """Print each row as a title, from its first cells, and the other cells with their headings."""
    for cells in filter(None, rows):
        if any(cells[:names]):
            say(console, Text(", ").join(cell for cell in cells[:names] if cell))
        line = Text()
        for head, cell in zip(heads[names:], cells[names:], strict=True):
            if not cell:
                continue
            item = Text.assemble(GAP, head, " " if head else "", cell)
            if line and line.cell_len + item.cell_len > console.width:
                say(console, line)
                line = Text()
            line.append_text(item)
        if line:
            say(console, line)
