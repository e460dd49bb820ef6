"""Fold the steps of a run in which it does what honest play does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec

from channelsim.channel.lab.trace.steps import TraceLine

SHOWN = 3
"""Steps in a row that are as in honest play, and are shown all the same."""


class PageStep(msgspec.Struct, frozen=True):
    """A line of the run; `anchor` is the id of its line of source, or ""."""

    line: TraceLine
    anchor: str = ""


class RunPart(msgspec.Struct, frozen=True):
    """Steps in a row, with the number of the first one from 1; `same`: as in honest play."""

    first: int
    steps: tuple[PageStep, ...]
    same: bool = False


def folded(steps: Sequence[PageStep], honest: Sequence[str] | None) -> Iterator[RunPart]:
    """A run in parts; `honest` are the lines of honest play at the same place (None: not known).

    >>> steps = [PageStep(TraceLine(text)) for text in "abcdef"]
    >>> [(part.first, len(part.steps), part.same) for part in folded(steps, list("abcdxf"))]
    [(1, 4, True), (5, 2, False)]
    """
    if honest is None:
        yield RunPart(1, tuple(steps))
        return
    matcher = SequenceMatcher(None, [step.line.text for step in steps], honest, autojunk=False)
    begun = 0
    for at, _, size in matcher.get_matching_blocks():
        if size <= SHOWN and at < len(steps):
            continue
        if begun < at:
            yield RunPart(begun + 1, tuple(steps[begun:at]))
        if size:
            yield RunPart(at + 1, tuple(steps[at : at + size]), same=True)
        begun = at + size
