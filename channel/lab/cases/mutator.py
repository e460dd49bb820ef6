"""Mutation of the honest call at a site, by field and by byte, with evidence of any shape.

Everything is generic: what a move means is the game's affair, but a move is a head that opens
something and a tail that is a number or a mask, and numbers matter where they meet the state's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import msgspec

from channelsim.channel.lab.cases.evidence import Written, evidence_near, evidence_of, write
from channelsim.channel.lab.cases.lengths import head_lengths
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import END, HEADS, Call, Site
from channelsim.channel.lab.sites.values import leaves, longer, numbers
from channelsim.channel.lab.target.target import Target
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import NIL, Value, serialize_atom, to_list
from channelsim.games.masks import masks

LONGEST = 60
"""The longest generated move, in bytes, unless an honest move is longer."""

SHORT = 10
"""The longest move, in bytes, that can only be a verb and a number."""

LONGEST_NUMBER = 3
"""The longest number, in bytes, behind the head of a long move."""


class SiteCase(msgspec.Struct, frozen=True, gc=False):
    """One call of the site's validator; `arguments` are its whole environment in bytes."""

    tag: str
    move: bytes
    share: int
    evidence: Value
    arguments: bytes

    @property
    def call(self) -> Call:
        """The move, its share and the evidence."""
        return self.move, self.share, self.evidence


BYTES = tuple(write(bytes([byte])) for byte in range(256))
SELECTIONS = tuple(
    bytes([mask]) for of, take in ((7, 5), (8, 5), (8, 4)) for mask in masks(of, take)
)
"""Masks that card games use: five of seven or of eight, four of eight."""

SHAPES = tuple(
    map(
        write,
        (
            NIL,
            b"\x00",
            b"\x00\x1f",
            b"\x1f\x00",
            b"\xff\x9f",
            bytes(16),
            b"\x1f" * 32,
            b"\x1f" * 70,
            (NIL, NIL),
            (b"\x1f", NIL),
            (b"\x1f", b"\x1f"),
            to_list([b"\x1f", b"\x2f", b"\x4f"]),
            ((b"\x1f", NIL), NIL),
        ),
    )
)
"""Evidence that is no selection."""


class Mutator:
    """Makes the cases of one site, with all its choices from `chance`."""

    def __init__(self, target: Target, site: Site, chance: FastChance) -> None:
        self.site = site
        self.move = site.play.move
        self._random = chance.random
        self._chance = chance
        self._pick = chance.pick
        play = site.play
        self._numbers = numbers(site.state, site.amount, play.share)
        self._honest_share = _share(play.share)
        self._shares = tuple(map(_share, self._numbers))
        self._held = tuple(map(write, site.held))
        self._special = evidence_of(target.programs[site.validator])
        self._heads = head_lengths(target.programs[site.validator])
        self._atoms = tuple(dict.fromkeys(atom for atom in leaves(site.state) if atom))

    def cases(self, count: int) -> list[SiteCase]:
        """Make this many cases. Most change one field, so that the others are still right and the
        last rule is reached; the first is the honest move."""
        site, honest = self.site, self.move
        opening, between, rest = site.opening, site.between, site.rest
        others = [(play.move, *_share(play.share)) for play in site.others]
        made = []
        for number in range(count):
            lot = self._random() if number else 1.0
            move, (share, share_bytes) = honest, self._honest_share
            tag = "honest"
            if lot < 0.06 and others:
                tag, (move, share, share_bytes) = "splice", self._pick(others)
            elif lot < 0.35:
                tag, move = self._move()
            elif lot < 0.55:
                tag, (share, share_bytes) = "share", self._pick(self._shares)
            elif lot < 0.70:
                tag = "evidence"
            elif lot < 0.95:
                tag, move = self._move()
                if self._random() < 0.6:
                    tag, (share, share_bytes) = f"{tag}+share", self._pick(self._shares)
            if tag == "evidence" and self._random() < 0.25:
                # The same selection on both sides: where the cards are equal too, a tie.
                tag, move = "mirror", move[:-1] + self._pick(SELECTIONS)
                share, share_bytes = self._pick(self._shares)
                evidence, evidence_bytes = BYTES[move[-1]]
            elif tag == "evidence" or self._random() < 0.15:
                evidence, evidence_bytes = self._evidence(move)
            else:
                evidence, evidence_bytes = self._pick(self._held)
            move_bytes = serialize_atom(move)
            parts = (opening, move_bytes, between, share_bytes, rest, evidence_bytes, END)
            made.append(SiteCase(tag, move, share, evidence, b"".join(parts)))
        return made

    def _evidence(self, move: bytes) -> Written:
        lot = self._random()
        if lot < 0.4:
            return BYTES[self._pick(SELECTIONS)[0]]
        if lot < 0.52:
            return self._pick(BYTES)
        if lot < 0.66:
            return self._pick(SHAPES)
        if lot < 0.8:
            return self._pick(self._special)
        return write(evidence_near((move, *self._atoms), self._chance))

    # --- moves -------------------------------------------------------------------------------

    def _move(self) -> tuple[str, bytes]:
        return self._pick(_KINDS)(self)

    def _length(self) -> tuple[str, bytes]:
        move = self.move
        lot = self._random()
        if lot < 0.3:
            return "length", move[: int(self._random() * len(move))]
        if lot < 0.5:
            return "length", move[:-1]
        if lot < 0.9:
            return "length", move + self._chance.bytes(1 + int(self._random() * 12))
        return "length", (move + self._chance.bytes(LONGEST))[: int(self._random() * LONGEST)]

    def _byte(self) -> tuple[str, bytes]:
        move = bytearray(self.move)
        if not move:
            return "byte", self._chance.bytes(1)
        at = int(self._random() * len(move))
        if self._random() < 0.5:
            move[at] ^= 1 << int(self._random() * 8)
        else:
            move[at] = self._chance.byte()
        return "byte", bytes(move)

    def _fresh(self) -> tuple[str, bytes]:
        return "bytes", self._chance.bytes(len(self.move))

    def _selection(self) -> tuple[str, bytes]:
        """The last byte, or the last but one, as a mask."""
        move = bytearray(self.move)
        if not move:
            return "selection", self._pick(SELECTIONS)
        at = -2 if len(move) > 1 and self._random() < 0.2 else -1
        lot = self._random()
        move[at] = self._pick(SELECTIONS)[0] if lot < 0.6 else self._chance.byte()
        return "selection", bytes(move)

    def _tail(self) -> tuple[str, bytes]:
        """A number behind the move's head: an amount near a limit, in the fewest bytes."""
        return "amount", self._head() + int_to_atom(self._pick(self._numbers))

    def _encoding(self) -> tuple[str, bytes]:
        """A number behind the move's head, in more bytes than it needs, or in far too many."""
        atom = int_to_atom(self._pick(self._numbers))
        lot = self._random()
        if lot < 0.5:
            return "encoding", self._head() + longer(atom, 1)
        if lot < 0.7:
            return "encoding", self._head() + longer(atom, 10 - min(len(atom), 9))
        if lot < 0.85:
            return "encoding", self._head() + self._pick((b"\x00\xff", b"\xff")) + atom
        return "encoding", self._head() + self._chance.bytes(1 + int(self._random() * 12))

    def _head(self) -> bytes:
        move = self.move
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


_KINDS: tuple[Callable[[Mutator], tuple[str, bytes]], ...] = (
    Mutator._length,
    Mutator._byte,
    Mutator._fresh,
    Mutator._selection,
    Mutator._selection,
    Mutator._tail,
    Mutator._tail,
    Mutator._encoding,
)


@lru_cache(maxsize=4096)
def _share(number: int) -> tuple[int, bytes]:
    return number, serialize_atom(int_to_atom(number))
