"""Everything at once: each adversary, on each side, at each step, in all weathers.

A seed takes some of the steps of each adversary, and the next seeds the others, so that a few
seeds have all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from channel.adversaries.base import names
from channel.disputes.arena import Run
from channel.disputes.promises import Broken
from channel.disputes.record import played
from channel.disputes.scenario import WEATHERS, Scenario
from games import registry

STEPS = 15
"""What an adversary says from the handshake to the close of one hand, in messages."""

A_SEED = 3
"""Steps of each adversary and side that one seed takes."""

BANDS = ("opening", "deal", "early", "middle", "late")
"""Steps in the columns of the matrix, three each."""


@dataclass(slots=True)
class Cell:
    """How often an adversary deviated at a step, how often it could not, and what broke."""

    deviated: int = 0
    idle: int = 0
    broken: int = 0


@dataclass(slots=True)
class Tally:
    """What many runs covered."""

    runs: int = 0
    blocks: int = 0
    spends: int = 0
    reorgs: int = 0
    broken: list[tuple[Scenario, Broken]] = field(default_factory=list)
    exceptions: list[tuple[Scenario, str]] = field(default_factory=list)
    matrix: dict[str, dict[str, Cell]] = field(default_factory=dict)

    def cell(self, scenario: Scenario) -> Cell:
        """Where a scenario is counted."""
        band = BANDS[min(scenario.step // 3, len(BANDS) - 1)]
        row = self.matrix.setdefault(scenario.adversary or "nobody", {})
        return row.setdefault(band, Cell())

    def add(self, run: Run, broken: list[Broken]) -> None:
        """Count a run."""
        self.runs += 1
        self.blocks += run.blocks
        self.reorgs += run.reorgs
        self.spends += sum(len(end.pushed) for end in run.ends)
        self.broken += [(run.scenario, one) for one in broken]
        cell = self.cell(run.scenario)
        cell.deviated += run.deviated
        cell.idle += not run.deviated
        cell.broken += len(broken)


def scenarios(seed: str, number: int) -> Iterator[Scenario]:
    """What the seed of this number (counted from 0) runs."""
    games = registry.names()
    menus = [*((name,) for name in games), games[:2]]
    count = number
    for name in ("", *names()):
        for side in (0, 1):
            for place in range(A_SEED):
                step = (number + place * (STEPS // A_SEED)) % STEPS
                count += 1
                yield Scenario(
                    games=menus[count % len(menus)],
                    seed=f"{seed}/{count}",
                    adversary=name,
                    step=step,
                    side=side,
                    weather=WEATHERS[(count // len(menus)) % len(WEATHERS)],
                    fees=5 * (count % 5 == 0),
                )


def run_all(seed: str, seeds: int) -> Tally:
    """Run everything for so many seeds."""
    tally = Tally()
    for number in range(seeds):
        for scenario in scenarios(f"{seed}/{number}", number):
            try:
                run, broken, _ = played(scenario)
            except Exception as error:
                # Whatever it is, it is a finding: the other runs are still wanted.
                tally.runs += 1
                tally.exceptions.append((scenario, f"{type(error).__name__}: {error}"[:300]))
                continue
            tally.add(run, broken)
    return tally
