"""Mutation of cases: of the honest call at a site, and of cases that reached new code.

What a move means is the game's affair, but a move is a head that opens something and a tail that is
a number or a mask, and numbers matter where they meet the state's. Evidence has any shape.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import TypeAlias

from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.sites.commitments import LONGEST as LONGEST_HEAD
from channelsim.channel.lab.sites.commitments import SHORTEST
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.parts import with_changed_part
from channelsim.channel.lab.sites.program_words import (
    Written,
    constants,
    evidence_near,
    evidence_of,
    lengths,
    words_of,
)
from channelsim.channel.lab.sites.site import END, HEADS, Call, Site
from channelsim.channel.lab.sites.values import NUMBER, leaves, longer, numbers
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    int_to_atom,
    serialize,
    serialize_atom,
    to_list,
)
from channelsim.games.counting import masks

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

PROOFS = 8
"""The most pieces of evidence that are shown against the very move of a hand with a lie."""

Change: TypeAlias = Callable[[bytes], tuple[str, bytes]]
"""Changes a move; returns the name of the change, and the new move."""

DEEPEST = 4
"""The most changes at once."""

COPIED = 0.2
"""The share of guided cases that begin with a copied operand, where there are any."""

BYTES: tuple[Written, ...] = tuple(
    (byte, serialize(byte)) for byte in (bytes([number]) for number in range(256))
)
_SHAPES: tuple[Value, ...] = (
    *(NIL, b"\x00", b"\x00\x1f", b"\x1f\x00", b"\xff\x9f"),
    *(bytes(16), b"\x1f" * 32, b"\x1f" * 70),
    *((NIL, NIL), (b"\x1f", NIL), (b"\x1f", b"\x1f"), to_list([b"\x1f", b"\x2f", b"\x4f"])),
    ((b"\x1f", NIL), NIL),
)
SHAPES: tuple[Written, ...] = tuple((shape, serialize(shape)) for shape in _SHAPES)
"""Evidence that is no selection."""


class Mutator:
    """Makes the cases of one site, with all its choices from `chance`.

    `numbers` are those that matter at the site. `changes` are the changes of a move, as often as
    each is due; they return their name and the new move.
    """

    def __init__(self, target: Target, site: Site, chance: FastChance) -> None:
        self.site = site
        program = target.programs[site.validator]
        long = tuple(atom for atom in constants(program) if len(atom) > 1)
        named = (atom_to_int(atom) for atom in long if len(atom) <= NUMBER)
        self.numbers = numbers(site.state, site.amount, site.play.share, *named)
        # The lengths that the first part of a move may have, the one that opens something.
        cuts, compared = lengths(program)
        heads = {*cuts, *(atom_to_int(atom) for atom in compared if len(atom) == 1)}
        self._heads = tuple(size for size in sorted(heads) if SHORTEST <= size <= LONGEST_HEAD)
        self._random = chance.random
        self._chance = chance
        self._pick = chance.pick
        # A part that the program reads as one: filled with one byte, or moved by a constant.
        self.part: Change = lambda move: (
            "part",
            with_changed_part(move, program, self._atoms, chance),
        )
        self.changes: Sequence[Change] = (
            *(self.length, self.byte, lambda move: ("bytes", chance.bytes(len(move)))),
            *(self.selection, self.selection, self.tail, self.tail, self.encoding, self.atom),
            self.part,
        )
        self._honest_share = _share(site.play.share)
        self._shares = tuple(map(_share, self.numbers))
        self._held = tuple((value, serialize(value)) for value in site.held)
        self._special = evidence_of(program)
        self._atoms = tuple(dict.fromkeys(atom for atom in leaves(site.state) if atom))
        self._words = (*self._atoms, *long)

    def cases(self, count: int) -> list[SiteCase]:
        """Make this many cases. Most change one field, so that the others are still right and the
        last rule is reached; the first is the honest move."""
        site, honest, changes = self.site, self.site.play.move, self.changes
        opening, between, rest = site.opening, site.between, site.rest
        # The very move of a liar, or of its opponent, is judged by all evidence that there is.
        proofs = [(NIL, b"\x80"), *self._held][:PROOFS] if site.lie else []
        others = [(play.move, *_share(play.share)) for play in site.others]
        cases = []
        for number in range(count):
            lot = self._random() if number > len(proofs) else 1.0
            move, (share, share_bytes) = honest, self._honest_share
            tag = "honest"
            if lot < 0.06 and others:
                tag, (move, share, share_bytes) = "splice", self._pick(others)
            elif lot < 0.35:
                tag, move = self._pick(changes)(honest)
            elif lot < 0.55:
                tag, (share, share_bytes) = "share", self._pick(self._shares)
            elif lot < 0.70:
                tag = "evidence"
            elif lot < 0.95:
                tag, move = self._pick(changes)(honest)
                if self._random() < 0.6:
                    tag, (share, share_bytes) = f"{tag}+share", self._pick(self._shares)
            if tag == "evidence" and self._random() < 0.25:
                # The same selection on both sides: where the cards are equal too, a tie.
                tag, move = "mirror", move[:-1] + self._pick(SELECTIONS)
                share, share_bytes = self._pick(self._shares)
                evidence, evidence_bytes = BYTES[move[-1]]
            elif number < len(proofs):
                evidence, evidence_bytes = proofs[number]
            elif tag == "evidence" or self._random() < 0.15:
                evidence, evidence_bytes = self.evidence(move)
            else:
                evidence, evidence_bytes = self._pick(self._held)
            move_bytes = serialize_atom(move)
            parts = (opening, move_bytes, between, share_bytes, rest, evidence_bytes, END)
            cases.append(SiteCase(site, tag, move, share, evidence, b"".join(parts)))
        return cases

    def evidence(self, move: bytes) -> Written:
        """Evidence of any shape against a move, with its bytes."""
        lot = self._random()
        if lot < 0.1:
            value = restructured(self._pick(self._held)[0], (NIL, move, *self._atoms), self._chance)
            return value, serialize(value)
        if lot < 0.4:
            return BYTES[self._pick(SELECTIONS)[0]]
        if lot < 0.52:
            return self._pick(BYTES)
        if lot < 0.66:
            return self._pick(SHAPES)
        if lot < 0.8:
            return self._pick(self._special)
        value = evidence_near((move, *self._atoms), self._chance)
        return value, serialize(value)

    # --- moves -------------------------------------------------------------------------------

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
            changed[at] = self._chance.below(256)
        return "byte", bytes(changed)

    def selection(self, move: bytes) -> tuple[str, bytes]:
        """The last byte, or the last but one, as a mask."""
        if not move:
            return "selection", self._pick(SELECTIONS)
        changed = bytearray(move)
        at = -2 if len(move) > 1 and self._random() < 0.2 else -1
        lot = self._random()
        changed[at] = self._pick(SELECTIONS)[0] if lot < 0.6 else self._chance.below(256)
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

    def atom(self, move: bytes) -> tuple[str, bytes]:
        """An atom of the state, or a long constant of the program: as the move, over its beginning
        or its end, or behind its head."""
        if not self._words:
            return self.byte(move)
        atom, lot = self._pick(self._words), self._random()
        if lot < 0.25:
            return "atom", atom
        if lot < 0.5:
            return "atom", atom + move[len(atom) :]
        if lot < 0.75:
            return "atom", move[: max(0, len(move) - len(atom))] + atom
        return "atom", self.head(move) + atom

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


def restructured(value: Value, words: Sequence[Value], chance: FastChance) -> Value:
    """Evidence with the same parts in another structure, or one part more or less.

    Of a list an item is added, left out, repeated or exchanged, the list is turned round or gets an
    end that is none, or bytes pass from an atom to the next one; or this happens to one of its
    items. An atom becomes a list or a pair. `words` are what may be added.
    """
    items, end = [], value
    while isinstance(end, tuple):
        items.append(end[0])
        end = end[1]
    if not items:
        other = chance.pick(words)
        return chance.pick(((value, NIL), (value, value), (value, (value, NIL)), (value, other)))
    at, word = chance.below(len(items)), chance.pick((*items, *words))
    match chance.below(10):
        case 0:
            items.append(word)
        case 1:
            items.insert(at, word)
        case 2:
            del items[chance.pick((0, at, -1))]
        case 3:
            items.insert(at, items[at])
        case 4:
            items.reverse()
        case 5:
            there = chance.below(len(items))
            items[at], items[there] = items[there], items[at]
        case 6:
            end = word
        case 7:
            end = items.pop()
        case 8:
            items[at : at + 2] = _with_another_border(items[at : at + 2], chance)
        case _:
            items[at] = restructured(items[at], words, chance)
    return reduce(lambda rest, item: (item, rest), reversed(items), end)


def _with_another_border(items: list[Value], chance: FastChance) -> list[Value]:
    """Two atoms that are the same bytes together, with the border between them elsewhere."""
    match items:
        case [bytes(left), bytes(right)]:
            both = left + right
            at = chance.below(len(both) + 1)
            return [both[:at], both[at:]]
        case _:
            return items


@lru_cache(maxsize=4096)
def _share(number: int) -> tuple[int, bytes]:
    return number, serialize_atom(int_to_atom(number))


class GuidedMutator:
    """Makes cases around `base`: one to four changes of move, share and evidence each.

    It uses the words of the program and of the site's state. `others` are cases of the same
    validator whose parts may be taken over, and `copies` calls near the base's with operands that
    its run compares copied into each other's places.
    """

    def __init__(
        self,
        target: Target,
        site: Site,
        chance: FastChance,
        base: SiteCase,
        others: Sequence[SiteCase],
        copies: Sequence[Call] = (),
    ) -> None:
        self.site = site
        self._plain = Mutator(target, site, chance)
        plain = self._plain
        self._changes: Sequence[Change] = (
            *(self._word_over, self._word_behind, self._number, self._spliced, self._cut),
            *(self._flipped, self._flipped),
            *(plain.length, plain.tail, plain.encoding, plain.atom, plain.part),
        )
        self._chance = chance
        self._random = chance.random
        self._pick = chance.pick
        self._base = base
        self._program_words = words_of(target.programs[site.validator])
        self._site_words = (*dict.fromkeys(leaves(site.state)), site.play.move)
        self._others = others or (base,)
        self._copies = copies

    def cases(self, count: int) -> list[SiteCase]:
        """Make this many cases; the first is the base itself."""
        return [self._case(changed=number > 0) for number in range(count)]

    def _case(self, *, changed: bool) -> SiteCase:
        base = self._base
        move, share, evidence, tag = base.move, base.share, base.evidence, "seen"
        if changed and self._copies and self._random() < COPIED:
            tag, (move, share, evidence) = "copy", self._pick(self._copies)
            changed = self._random() < 0.5
        if changed:
            for _ in range(1 + int(self._random() ** 2 * DEEPEST)):
                lot = self._random()
                if lot < 0.6:
                    tag, move = self._pick(self._changes)(move)
                elif lot < 0.8:
                    tag, share = "share", self._any_share()
                else:
                    tag, evidence = "evidence", self._any_evidence(move, evidence)
        return make_case(self.site, tag, move[: max(LONGEST, len(base.move))], share, evidence)

    def _word(self) -> bytes:
        """A word: of the program, or as often one of the state or the honest move."""
        return self._pick(self._program_words if self._random() < 0.5 else self._site_words)

    def _any_share(self) -> int:
        lot = self._random()
        if lot < 0.6:
            return self._pick(self._plain.numbers)
        if lot < 0.8:
            return atom_to_int(self._word()[:8])
        return self._pick(self._others).share

    def _any_evidence(self, move: bytes, evidence: Value) -> Value:
        lot = self._random()
        if lot < 0.4:
            return self._plain.evidence(move)[0]
        if lot < 0.55:
            return self._pick(self._others).evidence
        if lot < 0.7:
            return self._word()
        if lot < 0.75:
            return to_list([evidence, self._word()])
        if isinstance(evidence, tuple):
            if self._random() < 0.8:
                return restructured(evidence, self._site_words, self._chance)
            return evidence[int(self._random() * 2)]
        at = int(self._random() * (len(evidence) + 1))
        return _with_byte(evidence, at, self._chance.below(256))

    # --- moves -------------------------------------------------------------------------------

    def _word_over(self, move: bytes) -> tuple[str, bytes]:
        """A word written over a part of the move."""
        word = self._word()
        at = int(self._random() * (len(move) + 1))
        return "word", move[:at] + word + move[at + len(word) :]

    def _word_behind(self, move: bytes) -> tuple[str, bytes]:
        """A word as the move's tail, or put in somewhere."""
        word = self._word()
        at = int(self._random() * (len(move) + 1))
        return "word", move[:at] + word + (move[at:] if self._random() < 0.5 else b"")

    def _number(self, move: bytes) -> tuple[str, bytes]:
        """A number near a word, as the tail of the move."""
        number = atom_to_int(self._word()[:8]) + self._chance.below(4) - 1
        return "number", self._plain.head(move) + int_to_atom(number)

    def _spliced(self, move: bytes) -> tuple[str, bytes]:
        """The front of this move and the back of another one."""
        other = self._pick(self._others).move
        at = int(self._random() * (len(move) + 1))
        return "splice", move[:at] + other[at:]

    def _cut(self, move: bytes) -> tuple[str, bytes]:
        """Some bytes left out of the middle."""
        at = int(self._random() * (len(move) + 1))
        return "cut", move[:at] + move[at + 1 + int(self._random() * 4) :]

    def _flipped(self, move: bytes) -> tuple[str, bytes]:
        """One byte changed, or the last ones as a mask."""
        plain = self._plain
        return plain.byte(move) if self._random() < 0.8 else plain.selection(move)


def _with_byte(atom: bytes, at: int, byte: int) -> bytes:
    return atom[:at] + bytes([byte]) + atom[at + 1 :] if atom != NIL else bytes([byte])
