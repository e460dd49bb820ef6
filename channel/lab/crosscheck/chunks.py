"""Chunks of generated cases, each of which depends on the seed and its own number alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws import laws_for, tried
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites
from channelsim.channel.lab.targets.target import Target

CHUNK = 4096
"""Cases that are made from one run of hands."""

AT_A_SITE = 64
"""Cases that are made at one site; fewer in a small chunk, so that it still reaches the end."""

SITES = 64
"""A chunk has at least this many sites, if it has the cases for them."""

SOONER = 16
"""The expensive laws come this many times as often in the first chunk, so that a short run tries
them; and each is tried at the first place of every validator."""


def run_chunk(target: Target, seed: str, number: int, cases: int) -> LabTally:
    """Try all laws on one chunk of cases."""
    tally = LabTally()
    for _ in search(target, seed, number, cases, tally, cases):
        pass
    return tally


def search(
    target: Target, seed: str, number: int, cases: int, tally: LabTally, most: int
) -> Iterator[int]:
    """Try all laws on one chunk of cases, but on `most` of them; yield after each site how many
    cases it had."""
    laws = laws_for(target)
    chance = FastChance(derive(seed.encode(), "laws", number))
    new = set() if number else set(target.programs)
    often = 1 if number else SOONER
    for trial in trials(target, seed, number, cases, tally):
        del trial.cases[most:]
        if not trial.cases:
            return
        most -= len(trial.cases)
        site = trial.site
        first = site.natural and not site.guessed and site.validator in new
        new.discard(site.validator if first else "")
        for _, finding in tried(trial, laws, chance, lambda: often, first=first):
            tally.found(finding)
        yield len(trial.cases)


def trials(
    target: Target,
    seed: str,
    number: int,
    cases: int,
    tally: LabTally | None = None,
    beyond: bool | None = None,
) -> Iterator[Trial]:
    """The sites of one chunk with their cases, this many cases in all.

    `beyond`: also in states that no play is known to reach; by default of our own programs only.
    """
    secret = derive(seed.encode(), "chunk", number)
    chance = FastChance(secret)
    runner = RefereeRunner(target)
    tally = tally or LabTally()
    left = cases
    at_a_site = min(AT_A_SITE, max(4, cases // SITES), max(1, cases // len(target.programs)))
    for site in generate_sites(target, secret, chance, target.strict if beyond is None else beyond):
        size = min(left, at_a_site)
        yield Trial(target, runner, site, Mutator(target, site, chance).cases(size), chance, tally)
        left -= size
        if not left:
            return


def chunks(
    target: Target, seed: str, size: int = CHUNK, beyond: bool | None = None
) -> Iterator[Trial]:
    """The sites of all chunks of this size, without end."""
    for number in count():
        yield from trials(target, seed, number, size, beyond=beyond)
