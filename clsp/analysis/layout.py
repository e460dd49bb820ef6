"""Lay out a form in lines of limited width, with the reached pieces marked."""

from __future__ import annotations

from typing import NamedTuple

from channelsim.clsp.analysis.disassembly import Form
from channelsim.clsp.analysis.tracer import Coverage


class Span(NamedTuple):
    """A piece of text, and whether it was reached."""

    text: str
    reached: bool


class Line(NamedTuple):
    """One line: how many steps it is indented, and its pieces."""

    depth: int
    pieces: tuple[Span, ...]

    @property
    def text(self) -> str:
        """The line without what was reached of it."""
        return "  " * self.depth + "".join(piece.text for piece in self.pieces)


def layout(form: Form, covered: Coverage, width: int) -> list[Line]:
    """Lay out a form in lines, marked with what was reached."""
    return _Layout(covered, width).lines(form, 0, True)


def missing(form: Form, covered: Coverage) -> list[str]:
    """The parts of a form that were not reached, as text; a constant side of an `if`
    comes with its `if`."""
    reached = _Layout(covered, 0).reached
    if not reached(form, True):
        return [form.text()]
    found = []
    for item in form.items or ():
        if item.node is None and not reached(item, True):
            found.append(f"{item.text()} of {form.text(3)}")
        else:
            found += missing(item, covered)
    return found


class _Layout:
    def __init__(self, covered: Coverage, width: int) -> None:
        self.covered = covered
        self.width = width

    def reached(self, form: Form, above: bool) -> bool:
        """True if a form was reached, given whether the form around it was."""
        if form.side is not None and form.side not in self.covered.branches:
            return False
        return form.node in self.covered.nodes if form.node is not None else above

    def pieces(self, form: Form, above: bool) -> list[Span]:
        """A form in one line."""
        here = self.reached(form, above)
        if form.items is None:
            return [Span(form.words, here)]
        found = [Span(f"({form.words}", here)]
        for number, item in enumerate(form.items):
            if number or form.words:
                found.append(Span(" ", here))
            found += self.pieces(item, here)
        return _merged([*found, Span(")", here)])

    def lines(self, form: Form, depth: int, above: bool) -> list[Line]:
        """A form from this depth on; its items stand below it where it does not fit into one
        line, or where only a part of it was reached."""
        here = self.reached(form, above)
        pieces = self.pieces(form, above)
        if form.items is None or (len(pieces) == 1 and self._fits(pieces, 2 * depth)):
            return [Line(depth, tuple(pieces))]
        items = list(form.items)
        head = [Span(f"({form.words}", here)]
        # What a form is about stays beside its name: the test of an `if`, the items of a `let`.
        if items and form.words:
            first = self.pieces(items[0], here)
            if len(first) == 1 and self._fits(first, 2 * depth + len(form.words) + 2):
                head += [Span(" ", here), *first]
                del items[0]
        lines = [Line(depth, tuple(_merged(head)))]
        for item in items:
            lines += self.lines(item, depth + 1, here)
        last = lines[-1]
        lines[-1] = Line(last.depth, tuple(_merged([*last.pieces, Span(")", here)])))
        return lines

    def _fits(self, pieces: list[Span], used: int) -> bool:
        return used + sum(len(piece.text) for piece in pieces) <= self.width


def _merged(pieces: list[Span]) -> list[Span]:
    """Merge neighbouring pieces of one kind."""
    merged: list[Span] = []
    for piece in pieces:
        if merged and merged[-1].reached == piece.reached:
            merged[-1] = Span(merged[-1].text + piece.text, piece.reached)
        else:
            merged.append(piece)
    return merged
