"""Mutation of the honest call at a site, field by field, with evidence of any shape."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from channelsim.channel.lab.cases.evidence import Written, evidence_near, evidence_of, write
from channelsim.channel.lab.cases.move_changes import SELECTIONS, MoveChanger
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import END, Call, Site
from channelsim.channel.lab.sites.values import leaves
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import NIL, Value, serialize_atom, to_list


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
        self.moves = MoveChanger(target, site, chance)
        self._random = chance.random
        self._chance = chance
        self._pick = chance.pick
        self._honest_share = _share(site.play.share)
        self._shares = tuple(map(_share, self.moves.numbers))
        self._held = tuple(map(write, site.held))
        self._special = evidence_of(target.programs[site.validator])
        self._atoms = tuple(dict.fromkeys(atom for atom in leaves(site.state) if atom))

    def cases(self, count: int) -> list[SiteCase]:
        """Make this many cases. Most change one field, so that the others are still right and the
        last rule is reached; the first is the honest move."""
        site, honest, changed = self.site, self.site.play.move, self.moves.any
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
                tag, move = changed(honest)
            elif lot < 0.55:
                tag, (share, share_bytes) = "share", self._pick(self._shares)
            elif lot < 0.70:
                tag = "evidence"
            elif lot < 0.95:
                tag, move = changed(honest)
                if self._random() < 0.6:
                    tag, (share, share_bytes) = f"{tag}+share", self._pick(self._shares)
            if tag == "evidence" and self._random() < 0.25:
                # The same selection on both sides: where the cards are equal too, a tie.
                tag, move = "mirror", move[:-1] + self._pick(SELECTIONS)
                share, share_bytes = self._pick(self._shares)
                evidence, evidence_bytes = BYTES[move[-1]]
            elif tag == "evidence" or self._random() < 0.15:
                evidence, evidence_bytes = self.evidence(move)
            else:
                evidence, evidence_bytes = self._pick(self._held)
            move_bytes = serialize_atom(move)
            parts = (opening, move_bytes, between, share_bytes, rest, evidence_bytes, END)
            made.append(SiteCase(tag, move, share, evidence, b"".join(parts)))
        return made

    def evidence(self, move: bytes) -> Written:
        """Evidence of any shape against a move, with its bytes."""
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


@lru_cache(maxsize=4096)
def _share(number: int) -> tuple[int, bytes]:
    return number, serialize_atom(int_to_atom(number))
