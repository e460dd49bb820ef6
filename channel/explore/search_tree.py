"""The tree of a search: every state that was found, by its digest, its choice and the state before.

States are numbered in the order in which they were found, which is that in which they are visited.
So the tree of a search that was ended early is all that it takes to go on with it: a state follows
from its path.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from channelsim.channel.campaign.job import read_counter
from channelsim.channel.errors import UsageError
from channelsim.channel.explore.fingerprints import SIZE

FORMAT = "channelsim search 1"


@dataclass(frozen=True, slots=True)
class BrokenPath:
    """A shortest path to a broken promise, and how it is broken."""

    path: tuple[str, ...]
    how: str


@dataclass(slots=True)
class Visited:
    """The result of a search. `frontier` are states whose choices were not tried: none if it is
    whole. `steps` counts choices, `merged` those that led to a known state, `longest` the choices
    of the longest path."""

    states: int = 0
    steps: int = 0
    merged: int = 0
    ends: int = 0
    longest: int = 0
    frontier: int = 0
    broken: list[BrokenPath] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


class Tree:
    """The states that were found, from the first one, which has the number 0.

    >>> tree = Tree()
    >>> first, second = tree.add(bytes(16), 0, ""), tree.add(bytes([1] * 16), 0, "waits")
    >>> tree.add(bytes([2] * 16), second, "acts"), tree.path(2), len(tree)
    (2, ('waits', 'acts'), 3)
    """

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}
        self._before = array("I")
        self._choices = array("I")
        self._lengths = array("I")
        self._numbers: dict[str, int] = {}
        self._texts: list[str] = []

    def __len__(self) -> int:
        return len(self._before)

    def add(self, mark: bytes, before: int, text: str) -> int:
        """Add a state with its digest, the state before and the choice; return its number."""
        number = self.known[mark] = len(self._before)
        choice = self._numbers.get(text)
        if choice is None:
            choice = self._numbers[text] = len(self._texts)
            self._texts.append(text)
        self._lengths.append(self._lengths[before] + 1 if number else 0)
        self._before.append(before)
        self._choices.append(choice)
        return number

    def before(self, number: int) -> int:
        """The state before a state."""
        return self._before[number]

    def text(self, number: int) -> str:
        """The choice that led to a state."""
        return self._texts[self._choices[number]]

    def length(self, number: int) -> int:
        """The choices on the path to a state."""
        return self._lengths[number]

    def path(self, number: int) -> tuple[str, ...]:
        """The choices from the first state to a state."""
        return tuple(self._backwards(number))[::-1]

    def _backwards(self, number: int) -> Iterator[str]:
        while number:
            yield self.text(number)
            number = self._before[number]

    # --- bytes ---

    def encode(self, root: str, visited: Visited) -> bytes:
        """The tree as bytes, with the search that it is of, and what it has visited."""
        stored = _Stored(
            FORMAT,
            root,
            visited,
            self._texts,
            b"".join(self.known),
            _little(self._before),
            _little(self._choices),
        )
        return msgspec.msgpack.encode(stored)

    @classmethod
    def decode(cls, data: bytes, root: str) -> tuple[Tree, Visited]:
        """The tree of a search and what it has visited. Raises `UsageError`."""
        try:
            stored = msgspec.msgpack.decode(data, type=_Stored, dec_hook=read_counter)
        except msgspec.DecodeError as error:
            raise UsageError(f"no stored search: {error}") from None
        if (stored.format, stored.root) != (FORMAT, root):
            raise UsageError("another search, or that of another version")
        before, choices = _numbers(stored.before), _numbers(stored.choices)
        tree, size = cls(), len(before)
        fits = 0 <= stored.visited.states <= size and len(choices) == size > 0
        if not fits or len(stored.marks) != SIZE * size:
            raise UsageError("no stored search: its parts do not fit each other")
        for number in range(size):
            if before[number] > max(0, number - 1) or choices[number] >= len(stored.texts):
                raise UsageError(f"no stored search: state {number} has no place")
            mark = stored.marks[SIZE * number : SIZE * (number + 1)]
            tree.add(mark, before[number], stored.texts[choices[number]])
        if len(tree.known) != size:
            raise UsageError("no stored search: it has a state twice")
        return tree, stored.visited


class _Stored(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    root: str
    visited: Visited
    texts: list[str]
    marks: bytes
    before: bytes
    choices: bytes


def _little(numbers: array[int]) -> bytes:
    """Numbers in 4 bytes each, the lowest first."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers.tobytes()


def _numbers(data: bytes) -> array[int]:
    numbers: array[Any] = array("I")
    numbers.frombytes(data[: len(data) // 4 * 4])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
