"""Mutations of a case that reached new code: stacked changes, with words of the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from channelsim.channel.lab.cases.evidence import words_of
from channelsim.channel.lab.cases.mutator import LONGEST, Mutator, SiteCase
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.target.target import Target
from channelsim.clsp.integers import atom_to_int, int_to_atom
from channelsim.clsp.values import NIL, Value, to_list

DEEPEST = 4
"""The most changes at once."""


class GuidedMutator(Mutator):
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
        super().__init__(target, site, chance)
        self._base = base
        words = words_of(target.programs[site.validator])
        self._words = (*words, *dict.fromkeys(leaves(site.state)), site.play.move)
        self._others = others or (base,)

    def cases(self, count: int) -> list[SiteCase]:
        """Make this many cases; the first is the base itself."""
        return [self._one(at) for at in range(count)]

    def _one(self, at: int) -> SiteCase:
        base = self._base
        self.move = base.move
        share, evidence, tag = base.share, base.evidence, "seen"
        if at:
            for _ in range(1 + int(self._random() ** 2 * DEEPEST)):
                lot = self._random()
                if lot < 0.6:
                    tag, self.move = self._pick(_CHANGES)(self)
                elif lot < 0.8:
                    tag, share = "share", self._any_share()
                else:
                    tag, evidence = "evidence", self._any_evidence(evidence)
        return make_case(self.site, tag, self.move[:LONGEST], share, evidence)

    def _any_share(self) -> int:
        lot = self._random()
        if lot < 0.6:
            return self._pick(self._numbers)
        if lot < 0.8:
            return atom_to_int(self._pick(self._words)[:8])
        return self._pick(self._others).share

    def _any_evidence(self, evidence: Value) -> Value:
        lot = self._random()
        if lot < 0.4:
            return self._evidence(self.move)[0]
        if lot < 0.55:
            return self._pick(self._others).evidence
        if lot < 0.7:
            return self._pick(self._words)
        if lot < 0.8:
            return to_list([evidence, self._pick(self._words)])
        if isinstance(evidence, tuple):
            return evidence[int(self._random() * 2)]
        return _changed(evidence, int(self._random() * (len(evidence) + 1)), self._chance.byte())

    # --- moves -------------------------------------------------------------------------------

    def _word_over(self) -> tuple[str, bytes]:
        """A word written over a part of the move."""
        word, move = self._pick(self._words), self.move
        at = int(self._random() * (len(move) + 1))
        return "word", move[:at] + word + move[at + len(word) :]

    def _word_behind(self) -> tuple[str, bytes]:
        """A word as the move's tail, or put in somewhere."""
        word, move = self._pick(self._words), self.move
        at = int(self._random() * (len(move) + 1))
        return "word", move[:at] + word + (move[at:] if self._random() < 0.5 else b"")

    def _number(self) -> tuple[str, bytes]:
        """A number near a word, as the tail of the move."""
        number = atom_to_int(self._pick(self._words)[:8]) + self._chance.below(4) - 1
        return "number", self._head() + int_to_atom(number)

    def _spliced(self) -> tuple[str, bytes]:
        """The front of this move and the back of another one."""
        other = self._pick(self._others).move
        at = int(self._random() * (len(self.move) + 1))
        return "splice", self.move[:at] + other[at:]

    def _cut(self) -> tuple[str, bytes]:
        """Some bytes left out of the middle."""
        move = self.move
        at = int(self._random() * (len(move) + 1))
        return "cut", move[:at] + move[at + 1 + int(self._random() * 4) :]

    def _flipped(self) -> tuple[str, bytes]:
        """One byte changed, or the whole move again."""
        return self._byte() if self._random() < 0.8 else self._selection()


_CHANGES: tuple[Callable[[GuidedMutator], tuple[str, bytes]], ...] = (
    GuidedMutator._word_over,
    GuidedMutator._word_behind,
    GuidedMutator._number,
    GuidedMutator._spliced,
    GuidedMutator._cut,
    GuidedMutator._flipped,
    GuidedMutator._flipped,
    GuidedMutator._length,
    GuidedMutator._tail,
    GuidedMutator._encoding,
)


def make_case(site: Site, tag: str, move: bytes, share: int, evidence: Value) -> SiteCase:
    """Make a case, with its argument bytes."""
    return SiteCase(tag, move, share, evidence, site.environment(move, share, evidence))


def _changed(atom: bytes, at: int, byte: int) -> bytes:
    return atom[:at] + bytes([byte]) + atom[at + 1 :] if atom != NIL else bytes([byte])
