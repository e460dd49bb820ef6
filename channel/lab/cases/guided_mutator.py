"""Mutations of a case that reached new code: stacked changes, with words of the program."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.lab.cases.evidence import words_of
from channelsim.channel.lab.cases.move_changes import LONGEST
from channelsim.channel.lab.cases.mutator import Mutator, SiteCase
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.integers import atom_to_int, int_to_atom
from channelsim.clsp.values import NIL, Value, to_list

DEEPEST = 4
"""The most changes at once."""


class GuidedMutator:
    """Makes cases around `base`: one to four changes of move, share and evidence each.

    It uses the words of the program and of the site's state. `others` are cases of the same
    validator whose parts may be taken over.
    """

    def __init__(
        self,
        target: Target,
        site: Site,
        chance: FastChance,
        base: SiteCase,
        others: Sequence[SiteCase],
    ) -> None:
        self.site = site
        self._plain = Mutator(target, site, chance)
        plain = self._plain.moves
        self._changes = (
            *(self._word_over, self._word_behind, self._number, self._spliced, self._cut),
            *(self._flipped, self._flipped),
            *(plain.length, plain.tail, plain.encoding),
        )
        self._chance = chance
        self._random = chance.random
        self._pick = chance.pick
        self._base = base
        words = words_of(target.programs[site.validator])
        self._words = (*words, *dict.fromkeys(leaves(site.state)), site.play.move)
        self._others = others or (base,)

    def cases(self, count: int) -> list[SiteCase]:
        """Make this many cases; the first is the base itself."""
        return [self._one(at) for at in range(count)]

    def _one(self, at: int) -> SiteCase:
        base = self._base
        move, share, evidence, tag = base.move, base.share, base.evidence, "seen"
        if at:
            for _ in range(1 + int(self._random() ** 2 * DEEPEST)):
                lot = self._random()
                if lot < 0.6:
                    tag, move = self._pick(self._changes)(move)
                elif lot < 0.8:
                    tag, share = "share", self._any_share()
                else:
                    tag, evidence = "evidence", self._any_evidence(move, evidence)
        return make_case(self.site, tag, move[:LONGEST], share, evidence)

    def _any_share(self) -> int:
        lot = self._random()
        if lot < 0.6:
            return self._pick(self._plain.moves.numbers)
        if lot < 0.8:
            return atom_to_int(self._pick(self._words)[:8])
        return self._pick(self._others).share

    def _any_evidence(self, move: bytes, evidence: Value) -> Value:
        lot = self._random()
        if lot < 0.4:
            return self._plain.evidence(move)[0]
        if lot < 0.55:
            return self._pick(self._others).evidence
        if lot < 0.7:
            return self._pick(self._words)
        if lot < 0.8:
            return to_list([evidence, self._pick(self._words)])
        if isinstance(evidence, tuple):
            return evidence[int(self._random() * 2)]
        return _with_byte(evidence, int(self._random() * (len(evidence) + 1)), self._chance.byte())

    # --- moves -------------------------------------------------------------------------------

    def _word_over(self, move: bytes) -> tuple[str, bytes]:
        """A word written over a part of the move."""
        word = self._pick(self._words)
        at = int(self._random() * (len(move) + 1))
        return "word", move[:at] + word + move[at + len(word) :]

    def _word_behind(self, move: bytes) -> tuple[str, bytes]:
        """A word as the move's tail, or put in somewhere."""
        word = self._pick(self._words)
        at = int(self._random() * (len(move) + 1))
        return "word", move[:at] + word + (move[at:] if self._random() < 0.5 else b"")

    def _number(self, move: bytes) -> tuple[str, bytes]:
        """A number near a word, as the tail of the move."""
        number = atom_to_int(self._pick(self._words)[:8]) + self._chance.below(4) - 1
        return "number", self._plain.moves.head(move) + int_to_atom(number)

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
        plain = self._plain.moves
        return plain.byte(move) if self._random() < 0.8 else plain.selection(move)


def make_case(site: Site, tag: str, move: bytes, share: int, evidence: Value) -> SiteCase:
    """Make a case, with its argument bytes."""
    return SiteCase(tag, move, share, evidence, site.environment(move, share, evidence))


def _with_byte(atom: bytes, at: int, byte: int) -> bytes:
    return atom[:at] + bytes([byte]) + atom[at + 1 :] if atom != NIL else bytes([byte])
