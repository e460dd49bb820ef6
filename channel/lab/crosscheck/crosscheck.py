"""Every law on generated cases, in chunks that any number of processes can share.

A chunk depends on the seed and its own number alone, and chunks are added up in their order:
the same seed gives the same counts for any number of processes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from time import perf_counter

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws import applies, laws_for
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import generate_sites
from channelsim.channel.lab.target.target import Target
from channelsim.channel.system.interrupt import held
from channelsim.channel.system.workers import Work, WorkerPool

CHUNK = 4096
"""Cases that are made from one run of hands."""

AT_A_SITE = 64
"""Cases that are made at one site; fewer in a small chunk, so that it still reaches the end."""

SITES = 64
"""A chunk has at least this many sites, if it has the cases for them."""

SOONER = 16
"""The expensive laws come this many times as often in the first chunk, so that a short run tries
them; and each is tried at the first place of every validator."""


@dataclass(frozen=True, slots=True)
class CrosscheckReport:
    """The counts and findings of a crosscheck, and its duration in seconds.

    `interrupted`: before it had tried all that it should.
    """

    target: Target
    seed: str
    cases: int
    seconds: float
    tally: LabTally
    interrupted: bool = False

    @property
    def disagreements(self) -> int:
        """The number of cases on which rules and program disagreed."""
        return sum(n for (law, *_), n in self.tally.broken.items() if law == "verdicts agree")

    @property
    def compared(self) -> int:
        """The number of cases on which a program ran: all, unless programs are missing."""
        if not self.target.missing:
            return self.cases
        return sum(counts.total() for counts in self.tally.outcomes.values())

    @property
    def broken(self) -> int:
        """The number of findings, of all laws."""
        return self.tally.broken.total()


def crosscheck(
    target: Target,
    cases: int,
    seed: str,
    jobs: int,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> CrosscheckReport:
    """Try every law on this many cases; an interrupt ends it early and keeps the results so far.

    `on_progress` is called with the number of cases done and their total. Raises `UsageError` for a
    target without rules or honest moves.
    """
    target.check_playable()
    sizes = [CHUNK] * (cases // CHUNK) + [cases % CHUNK] * (cases % CHUNK > 0)
    start = perf_counter()
    tally = LabTally()
    waiting: dict[int, LabTally] = {}
    done = merged = 0
    interrupted = False
    try:
        with WorkerPool(partial(_checker, target, seed), min(jobs, len(sizes))) as crew:
            for number, part in crew.run(list(enumerate(sizes))):
                with held():
                    waiting[number] = part
                    done += sizes[number]
                    while merged in waiting:
                        tally.merge(waiting.pop(merged))
                        merged += 1
                on_progress(done, cases)
    except KeyboardInterrupt:
        interrupted = True
    for number in sorted(waiting):
        tally.merge(waiting[number])
    return CrosscheckReport(target, seed, done, perf_counter() - start, tally, interrupted)


def _checker(target: Target, seed: str) -> Work[tuple[int, int], LabTally]:
    return lambda chunk: [run_chunk(target, seed, *chunk)]


def run_chunk(target: Target, seed: str, number: int, cases: int) -> LabTally:
    """Try all laws on one chunk of cases."""
    tally = LabTally()
    every_law = laws_for(target)
    chance = FastChance(derive(seed.encode(), "laws", number))
    new = set() if number else set(target.programs)
    for trial in trials(target, seed, number, cases, tally):
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
