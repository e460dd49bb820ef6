"""Law for targets without rules: no mask with bits beyond those of honest play slashes a move."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from channelsim.channel.findings.finding import THEFT, Finding
from channelsim.channel.lab.cases.trial import LEGAL_SLASHED, Trial
from channelsim.channel.lab.laws import Needs
from channelsim.channel.lab.sites.honest_play import recorded_sites
from channelsim.channel.lab.sites.values import with_moved_bits

LONGEST = 4
"""The longest evidence, in bytes, that is taken for a mask, or for two of them."""

TRIES = 24
"""The masks that are tried at one site."""

LONGER = 0.3
"""The share of masks that may get another byte in front."""


class MasksAreBound:
    """Moves bits of the recorded evidence to places where no recorded evidence has any.

    Such a mask selects fewer things than it has bits, which a count of its bits does not show.
    """

    name = "masks are bound"
    every = 4
    needs = Needs.NO_RULES

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try the site's honest move, if the evidence against it may be a mask."""
        site, play, chance = trial.site, trial.site.play, trial.chance
        masks = [
            value for value in site.held if isinstance(value, bytes) and 0 < len(value) <= LONGEST
        ]
        if site.known is None or not masks:
            return
        by_bits: defaultdict[tuple[int, int], list[bytes]] = defaultdict(list)
        for mask in dict.fromkeys(masks):
            by_bits[len(mask), int.from_bytes(mask, "big").bit_count()].append(mask)
        alike = tuple(by_bits.values())
        usual = {size: self._usual(trial, size) for size in {len(mask) for mask in masks}}
        for _ in range(TRIES):
            mask = chance.pick(chance.pick(alike))
            more = 1 if chance.random() < LONGER else 0
            free = (1 << 8 * (len(mask) + more)) - 1 & ~usual[len(mask)]
            evidence = with_moved_bits(mask, free, chance)
            trial.tally.tried[self.name] += 1
            if trial.slashes(play.move, play.share, evidence):
                text = "an honest move is slashed by a mask with bits that no honest play sets"
                call = play.move, play.share, evidence
                yield trial.finding(self.name, THEFT, text, LEGAL_SLASHED, call)
                return

    def _usual(self, trial: Trial, size: int) -> int:
        """The bits that any recorded evidence of this size sets."""
        bits = 0
        for site in recorded_sites(trial.target):
            if site.validator == trial.site.validator:
                for value in site.held:
                    if isinstance(value, bytes) and len(value) == size:
                        bits |= int.from_bytes(value, "big")
        return bits


LAW = MasksAreBound()
