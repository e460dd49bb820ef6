"""Chunks of generated cases, each of which depends on the seed and its own number alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws import applies, laws_for
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


def run_chunk(
    target: Target,
    seed: str,
    number: int,
    cases: int,
    most: Callable[[int], int] = lambda done: CHUNK,
) -> LabTally:
    """Try all laws on one chunk of cases.

    `most` is asked before each site, and once all are done, with the number of cases done. It
    returns how many more may be tried at most; 0 ends the chunk early.
    """
    tally = LabTally()
    every_law = laws_for(target)
    chance = FastChance(derive(seed.encode(), "laws", number))
    new = set() if number else set(target.programs)
    done = 0
    for trial in trials(target, seed, number, cases, tally):
        if not (more := most(done)):
            return tally
        del trial.cases[more:]
        done += len(trial.cases)
        reached = trial.site.natural and not trial.site.guessed
        first = reached and trial.site.validator in new
        new.discard(trial.site.validator if first else "")
        for law in every_law:
            if not applies(law, target, trial.site.validator):
                continue
            if law.every > 1 and trial.site.guessed:
                continue
            if law.every > 1 and trial.site.validator in tally.runaway:
                continue  # its slashes would take seconds each, and it is found out already
            often = 1 if number else SOONER
            if first or chance.random() * law.every < often:
                for finding in law.check(trial):
                    tally.found(finding)
    most(done)
    return tally


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
