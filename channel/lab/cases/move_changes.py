"""Generic changes of a move, byte by byte and number by number.

What a move means is the game's affair, but a move is a head that opens something and a tail that is
a number or a mask, and numbers matter where they meet the state's.
"""

from __future__ import annotations

from collections.abc import Callable

from channelsim.channel.lab.cases.lengths import head_lengths
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import HEADS, Site
from channelsim.channel.lab.sites.values import longer, numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.integers import int_to_atom
from channelsim.games.masks import masks

LONGEST = 60
"""The longest generated move, in bytes, unless an honest move is longer."""

SHORT = 10
"""The longest move, in bytes, that can only be a verb and a number."""

LONGEST_NUMBER = 3
"""The longest number, in bytes, behind the head of a long move."""


SELECTIONS = tuple(
    bytes([mask]) for of, take in ((7, 5), (8, 5), (8, 4)) for mask in masks(of, take)
)
"""Masks that card games use: five of seven or of eight, four of eight."""


class MoveChanger:
    """Changes moves of one site; each method returns the name of its change and the new move.

    `numbers` are those that matter at the site.
    """

    def __init__(self, target: Target, site: Site, chance: FastChance) -> None:
        self.numbers = numbers(site.state, site.amount, site.play.share)
        self._heads = head_lengths(target.programs[site.validator])
        self._chance = chance
        self._random = chance.random
        self._pick = chance.pick

    def any(self, move: bytes) -> tuple[str, bytes]:
        """A change of any kind."""
        return self._pick(_KINDS)(self, move)

    def length(self, move: bytes) -> tuple[str, bytes]:
        """Another length."""
        lot = self._random()
        if lot < 0.3:
            return "length", move[: int(self._random() * len(move))]
        if lot < 0.5:
            return "length", move[:-1]
        if lot < 0.9:
            return "length", move + self._chance.bytes(1 + int(self._random() * 12))
        return "length", (move + self._chance.bytes(LONGEST))[: int(self._random() * LONGEST)]

    def byte(self, move: bytes) -> tuple[str, bytes]:
        """One byte changed."""
        if not move:
            return "byte", self._chance.bytes(1)
        changed = bytearray(move)
        at = int(self._random() * len(move))
        if self._random() < 0.5:
            changed[at] ^= 1 << int(self._random() * 8)
        else:
            changed[at] = self._chance.byte()
        return "byte", bytes(changed)

    def fresh(self, move: bytes) -> tuple[str, bytes]:
        """Other bytes of the same length."""
        return "bytes", self._chance.bytes(len(move))

    def selection(self, move: bytes) -> tuple[str, bytes]:
        """The last byte, or the last but one, as a mask."""
        if not move:
            return "selection", self._pick(SELECTIONS)
        changed = bytearray(move)
        at = -2 if len(move) > 1 and self._random() < 0.2 else -1
        lot = self._random()
        changed[at] = self._pick(SELECTIONS)[0] if lot < 0.6 else self._chance.byte()
        return "selection", bytes(changed)

    def tail(self, move: bytes) -> tuple[str, bytes]:
        """A number behind the move's head: an amount near a limit, in the fewest bytes."""
        return "amount", self.head(move) + int_to_atom(self._pick(self.numbers))

    def encoding(self, move: bytes) -> tuple[str, bytes]:
        """A number behind the move's head, in more bytes than it needs, or in far too many."""
        atom = int_to_atom(self._pick(self.numbers))
        lot = self._random()
        if lot < 0.5:
            return "encoding", self.head(move) + longer(atom, 1)
        if lot < 0.7:
            return "encoding", self.head(move) + longer(atom, 10 - min(len(atom), 9))
        if lot < 0.85:
            return "encoding", self.head(move) + self._pick((b"\x00\xff", b"\xff")) + atom
        return "encoding", self.head(move) + self._chance.bytes(1 + int(self._random() * 12))

    def head(self, move: bytes) -> bytes:
        """The part before a number."""
        lot = self._random()
        if lot < 0.8 and 1 < len(move) <= SHORT:
            return move[:1]
        if lot < 0.8 and len(move) > LONGEST:
            return move[: len(move) - self._chance.below(LONGEST_NUMBER + 1)]
        if lot < 0.4 and self._heads:
            return move[: self._pick(self._heads)]
        if lot < 0.8 and len(move) >= 32:
            return move[:32]
        if lot < 0.9:
            return move[: self._pick(HEADS)]
        return self._chance.bytes(32)


_KINDS: tuple[Callable[[MoveChanger, bytes], tuple[str, bytes]], ...] = (
    MoveChanger.length,
    MoveChanger.byte,
    MoveChanger.fresh,
    MoveChanger.selection,
    MoveChanger.selection,
    MoveChanger.tail,
    MoveChanger.tail,
    MoveChanger.encoding,
)
