"""Everything at once: each adversary, on each side, wherever in a hand it can deviate.

A seed is a few hands of each menu of games. An adversary that is to deviate from a step on does so
at the first thing that it can change; the next run begins behind that, so that each of its
deviations is run once. Weather and fees go round, and other seeds put them elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from channel.adversaries.base import Adversary, names
from channel.crypto import bls
from channel.simulation.arena import Arena
from channel.simulation.promises.checker import BrokenPromise, check
from channel.simulation.run import Run
from channel.simulation.run_results import outcome, place
from channel.simulation.scenario import WEATHERS, Scenario
from channel.system.interrupt import held
from channel.system.workers import Work, WorkerPool
from games import registry

FEES = 5
"""What the honest side offers at first in every fifth run, in mojos; nothing in the others."""

HANDS = 2
"""Hands of each menu in one seed, with other cards, other seats and another course."""

RANDOM = ("random", "random")
"""Both players' policy in some menus: it bets, raises and folds. A game without it has its own."""

MOST_STEPS = 100
"""Messages that nobody says in one session."""


@dataclass(slots=True)
class Cell:
    """How often an adversary deviated in one part of a session, what came of it, what broke."""

    runs: int = 0
    broken: int = 0
    results: Counter[str] = field(default_factory=Counter)

    def merge(self, other: Cell) -> None:
        """Add another count."""
        self.runs += other.runs
        self.broken += other.broken
        self.results += other.results


@dataclass(slots=True)
class SweepTotals:
    """What many runs covered. `idle`: runs in which the adversary found nothing to change.

    `spends` are those of coins that the chain holds in the end. `interrupted`: before all was run.
    """

    runs: int = 0
    idle: int = 0
    blocks: int = 0
    spends: int = 0
    reorgs: int = 0
    broken: list[tuple[Scenario, BrokenPromise]] = field(default_factory=list)
    exceptions: list[tuple[Scenario, str]] = field(default_factory=list)
    matrix: dict[str, dict[str, Cell]] = field(default_factory=dict)
    interrupted: bool = False

    def cell(self, adversary: str, where: str) -> Cell:
        """The cell of an adversary and a part of the session."""
        return self.matrix.setdefault(adversary or "nobody", {}).setdefault(where, Cell())

    def add(self, run: Run, broken: list[BrokenPromise]) -> None:
        """Count a run."""
        self.runs += 1
        self.blocks += run.blocks
        self.reorgs += run.reorgs
        self.spends += run.spends
        self.broken += [(run.scenario, one) for one in broken]
        deviated = run.deviated or not run.scenario.adversary
        self.idle += not deviated
        if deviated or broken:
            cell = self.cell(run.scenario.adversary, place(run))
            cell.runs += 1
            cell.results[outcome(run).value] += 1
            cell.broken += len(broken)

    def merge(self, other: SweepTotals) -> None:
        """Add what other runs covered."""
        self.runs += other.runs
        self.idle += other.idle
        self.blocks += other.blocks
        self.spends += other.spends
        self.reorgs += other.reorgs
        self.broken += other.broken
        self.exceptions += other.exceptions
        for adversary, row in other.matrix.items():
            for where, cell in row.items():
                self.cell(adversary, where).merge(cell)


def run_all(
    seed: str,
    seeds: int,
    jobs: int = 1,
    tell: Callable[[int, int, int], None] = lambda runs, begun, of: None,
) -> SweepTotals:
    """Run everything for so many seeds, in so many processes; an interrupt ends it early.

    `tell` hears of the runs that are done, and how many adversaries of all seeds have had theirs.
    """
    parts = [SweepTotals() for _ in range(seeds)]
    begun = [0] * seeds
    each = [(f"{seed}/{number}", number) for number in range(seeds)]
    total = sum(len(list(beginnings(*one))) for one in each)
    interrupted = False
    try:
        with WorkerPool(_runner, min(jobs, seeds)) as crew:
            for number, (part, over) in crew.run(each):
                with held():
                    parts[number].merge(part)
                    begun[number] = over
                tell(sum(one.runs for one in parts), sum(begun), total)
    except KeyboardInterrupt:
        interrupted = True
    tally = SweepTotals(interrupted=interrupted)
    for part in parts:
        tally.merge(part)
    return tally


def _runner() -> Work[tuple[str, int], tuple[SweepTotals, int]]:
    return lambda one: run_seed(*one)


def run_seed(seed: str, number: int) -> Iterator[tuple[SweepTotals, int]]:
    """Everything, for the seed of this number (counted from 0): run by run, with how many
    adversaries have had all of theirs before."""
    runs = 0
    # The runs begin alike: what two peers sign before somebody deviates, they sign in all.
    with bls.remembered():
        for over, first in enumerate(beginnings(seed, number)):
            for part in everywhere(first, runs):
                runs += part.runs
                yield part, over


def beginnings(seed: str, number: int) -> Iterator[Scenario]:
    """For each adversary its run from the first step on, on one side and with one menu.

    Side and menu go round with the number, so that as many seeds as there are pairs of them
    have them all.
    """
    every = menus()
    for count, name in enumerate(("", *names()), number):
        turn = count // 2 % len(every)
        hand = count // 2 // len(every) % HANDS
        yield replace(every[turn], seed=f"{seed}/{turn}/{hand}", adversary=name, side=count % 2)


def menus() -> tuple[Scenario, ...]:
    """What is played: each game alone, all at once, in different phases, and hand after hand."""
    games = registry.names()
    return (
        *(Scenario((name,), "") for name in games),
        Scenario(games[:2], ""),
        Scenario(games[:2], "", staggered=True, policies=RANDOM),
        Scenario(games[:1], "", hands=2, policies=RANDOM),
    )


def everywhere(first: Scenario, before: int = 0) -> Iterator[SweepTotals]:
    """Run a scenario, and again from behind the place where its adversary deviated, run by run.

    So many runs `before` have had their weather and fees.
    """
    step: int | None = 0
    while step is not None and step < MOST_STEPS:
        scenario = replace(
            first,
            step=step,
            weather=WEATHERS[before % len(WEATHERS)],
            fees=FEES * (before % 5 == 0),
        )
        before += 1
        tally = SweepTotals()
        try:
            run = Arena(scenario).run()
            broken = check(run)
        except Exception as error:
            # Whatever it is, it is a finding: the other runs are still wanted.
            tally.runs += 1
            tally.exceptions.append((scenario, f"{type(error).__name__}: {error}"[:300]))
            step += 1
        else:
            tally.add(run, broken)
            step = next_step(run)
        yield tally


def next_step(run: Run) -> int | None:
    """The first step at which this adversary does something else; None if there is none."""
    actor, step = run.parties[run.scenario.side].actor, run.scenario.step
    if not isinstance(actor, Adversary) or actor.said <= step:
        return None
    if actor.deviated_at is not None:
        return max(step + 1, actor.deviated_at)
    # Who would have deviated at the first thing that let it found nothing, and will not later.
    return None if actor.at_once else max(step + 1, actor.said)
