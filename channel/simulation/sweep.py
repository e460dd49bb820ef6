"""Run every adversary, on both sides, wherever in a hand it can deviate.

A seed is a few hands of each menu of games. Each run begins behind the place at which the adversary
deviated in the one before, so that each of its deviations is run once. Weather and fees alternate,
in another order with each seed and adversary, and in one run of three only about one block in three
carries transactions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.findings.finding import Finding
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.bounds import WEATHERS
from channelsim.channel.simulation.promises.checker import BrokenPromise, check
from channelsim.channel.simulation.promises.fee_offers import spends_with_fee
from channelsim.channel.simulation.run import Run, part_of, result_of
from channelsim.channel.simulation.scenario import (
    FEES,
    MIXED,
    Scenario,
    adversaries_for,
    reason_against,
)
from channelsim.games import registry

HANDS = 2
"""Hands of each menu in one seed, with other cards and seats."""

RANDOM = ("random", "random")
"""The policy of both players in some menus; a game without it uses its default."""

MOST_STEPS = 100
"""A bound on the messages of one session."""


ONE_MIXED_IN = 3
"""One run of so many has blocks without transactions."""


@dataclass(slots=True)
class Cell:
    """Counts of the runs in which an adversary deviated in one part of a session, by result."""

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
    """Totals over many runs.

    `idle` counts runs in which the adversary found nothing to change or the old copy lacked no
    state, `spends` the coins that are spent in the end, and `paid` those that the honest side paid
    a fee for. `attacked` are the findings of scripts. `interrupted`: not everything was run.
    """

    runs: int = 0
    idle: int = 0
    blocks: int = 0
    spends: int = 0
    paid: int = 0
    reorgs: int = 0
    broken: list[tuple[Scenario, BrokenPromise]] = field(default_factory=list)
    exceptions: list[tuple[Scenario, str]] = field(default_factory=list)
    attacked: list[Finding] = field(default_factory=list)
    matrix: dict[str, dict[str, Cell]] = field(default_factory=dict)
    interrupted: bool = False

    def cell(self, row: str, where: str) -> Cell:
        """The cell of a row and a part of the session."""
        return self.matrix.setdefault(row, {}).setdefault(where, Cell())

    def add(self, run: Run, broken: list[BrokenPromise]) -> None:
        """Count a run of a scenario."""
        self.broken += [(run.scenario, promise) for promise in broken]
        checked = run.deviated or not run.scenario.adversary
        self.count(
            run, row_of(run.scenario), part_of(run) if checked or broken else "", len(broken)
        )

    def count(self, run: Run, row: str, part: str, broken: int) -> None:
        """Count a run in a row and in this part of the session; in none, nothing was checked."""
        self.runs += 1
        self.blocks += run.blocks
        self.reorgs += run.reorgs
        self.spends += run.spends
        self.paid += spends_with_fee(run)
        self.idle += not part
        if part:
            cell = self.cell(row, part)
            cell.runs += 1
            cell.results[result_of(run).value] += 1
            cell.broken += broken

    def merge(self, other: SweepTotals) -> None:
        """Add the totals of other runs."""
        self.runs += other.runs
        self.idle += other.idle
        self.blocks += other.blocks
        self.spends += other.spends
        self.paid += other.paid
        self.reorgs += other.reorgs
        self.broken += other.broken
        self.exceptions += other.exceptions
        self.attacked += other.attacked
        for adversary, row in other.matrix.items():
            for where, cell in row.items():
                self.cell(adversary, where).merge(cell)


def row_of(scenario: Scenario) -> str:
    """The row of a scenario in the matrix: its adversary."""
    return scenario.adversary or "nobody"


def beginnings(seed: str, number: int, games: tuple[str, ...] = ()) -> Iterator[Scenario]:
    """Each adversary's first scenario, at the first step, on one side and with one menu of these
    games, or of all.

    Side and menu alternate with the number: as many seeds as there are pairs have them all.
    """
    all_menus = menus(games)
    able = adversaries_for(menu.games for menu in all_menus)
    for count, name in enumerate(("", *able), number):
        apt = [menu for menu in all_menus if not name or not reason_against(name, menu.games)]
        menu = apt[count // 2 % len(apt)]
        turn = all_menus.index(menu)
        hand = count // 2 // len(all_menus) % HANDS
        yield replace(menu, seed=f"{seed}/{turn}/{hand}", adversary=name, side=count % 2)


def menus(games: tuple[str, ...] = ()) -> tuple[Scenario, ...]:
    """The menus of these games, or of all: each game alone, two at once, staggered, and hand after
    hand."""
    games = games or tuple(game.name for game in registry.channel_games())
    pairs = (
        Scenario(games[:2], ""),
        Scenario(games[:2], "", staggered=True, policies=RANDOM),
    )
    return (
        *(Scenario((name,), "") for name in games),
        *(pairs if len(games) > 1 else ()),
        Scenario(games[:1], "", hands=2, policies=RANDOM),
    )


def dealer_of_menus(games: tuple[str, ...] = ()) -> str | None:
    """The dealer of the games on the menus, as outputs name it; None if none has a deck."""
    return next(filter(None, (menu.dealer for menu in menus(games))), None)


def everywhere(first: Scenario, before: int = 0) -> Iterator[SweepTotals]:
    """Run a scenario again and again, each time from behind the place of the last deviation.

    It begins at the scenario's step. `before` decides on the weather, the blocks and the fees of
    the first run; those of the others follow in turn. There is no run with an adversary that can do
    nothing in these games.
    """
    if first.adversary and reason_against(first.adversary, first.games):
        return
    step: int | None = first.step
    while step is not None and step < MOST_STEPS:
        scenario = replace(
            first,
            step=step,
            weather=WEATHERS[before % len(WEATHERS)],
            fees=FEES * (before % 5 == 0),
            **_blocks(before),
        )
        before += 1
        run, tally = _run(scenario)
        step = step + 1 if run is None else next_step(run)
        yield tally


def _blocks(number: int) -> Mapping[str, Any]:
    """The fields of the run with this number that say which blocks carry transactions."""
    return MIXED if number % ONE_MIXED_IN == 0 else {}


def _run(scenario: Scenario) -> tuple[Run | None, SweepTotals]:
    """Run a scenario; None for one that raised an exception, a result like any other."""
    tally = SweepTotals()
    try:
        run = Arena(scenario).run()
        broken = check(run)
    except Exception as error:
        tally.runs += 1
        tally.exceptions.append((scenario, f"{type(error).__name__}: {error}"[:300]))
        return None, tally
    tally.add(run, broken)
    return run, tally


def next_step(run: Run) -> int | None:
    """The next step at which this adversary can do something else; None if there is none."""
    actor, step = run.parties[run.scenario.side].actor, run.scenario.step
    if not isinstance(actor, Adversary) or actor.sent_count <= step:
        return None
    if actor.deviated_at is not None:
        return max(step + 1, actor.deviated_at)
    # One that deviates at the first opportunity has found none, and will not find one later.
    return None if actor.at_once else max(step + 1, actor.sent_count)
