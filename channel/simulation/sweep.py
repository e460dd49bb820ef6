"""Sweeps of disputes: where each adversary begins, and the totals of all runs.

A seed is a few hands of each menu of games.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from channelsim.channel.findings.finding import Finding
from channelsim.channel.simulation.promises.fee_offers import spends_with_fee
from channelsim.channel.simulation.run import Run, result_of
from channelsim.channel.simulation.scenario import (
    Scenario,
    adversaries_for,
    reason_against,
)
from channelsim.channel.simulation.terms import Proposals, Terms
from channelsim.games import registry

HANDS = 2
"""Hands of each menu in one seed, with other cards and seats."""

STAGGERED = Terms(proposals=Proposals.STAGGERED)
"""The terms of one menu."""

RANDOM = ("random", "random")
"""The policy of both players in some menus; a game without it uses its default."""


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
    a fee for. `interrupted`: not everything was run.
    """

    runs: int = 0
    idle: int = 0
    blocks: int = 0
    spends: int = 0
    paid: int = 0
    reorgs: int = 0
    found: list[Finding] = field(default_factory=list)
    matrix: dict[str, dict[str, Cell]] = field(default_factory=dict)
    interrupted: bool = False

    def cell(self, row: str, where: str) -> Cell:
        """The cell of a row and a part of the session."""
        return self.matrix.setdefault(row, {}).setdefault(where, Cell())

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
        self.found += other.found
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
        Scenario(games[:2], "", policies=RANDOM, terms=STAGGERED),
    )
    return (
        *(Scenario((name,), "") for name in games),
        *(pairs if len(games) > 1 else ()),
        Scenario(games[:1], "", hands=2, policies=RANDOM),
    )


def dealer_of_menus(games: tuple[str, ...] = ()) -> str | None:
    """The dealer of the games on the menus, as outputs name it; None if none has a deck."""
    return next(filter(None, (menu.dealer for menu in menus(games))), None)
