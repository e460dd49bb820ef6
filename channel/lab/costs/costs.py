"""The cost of a target's programs: each validator alone, and each path of the real referee.

Costs are CLVM's own, of the run alone; what a whole spend costs in a block, with its conditions
and bytes, is in `channelsim.channel.lab.costs.bundles`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import floor, log10
from statistics import mean, median

import msgspec

from channelsim.channel.lab.cases.trial import Trial
from channelsim.channel.lab.crosscheck.chunks import chunks
from channelsim.channel.lab.referee.referee_runs import LIE, Commitment, SlashResult
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.tracer import Figure
from channelsim.clsp.run import (
    MAX_COST,
    CostExceeded,
    Outcome,
    Raised,
    is_cut_off,
    run_serialized,
)
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.contract import Valid as Legal
from channelsim.games.referee import slash_solution

VALIDATOR, MOVE, TIMEOUT, SLASH = "validator", "move", "timeout", "slash"
PATHS = (VALIDATOR, MOVE, TIMEOUT, SLASH)

MOVES = 8
"""The number of moves of a site that go through the referee; a slash costs what a hundred
validators cost."""

MOST_MOJOS = 500_000_000_000
"""Coins of more than this are not made on an embedded node, whose wallet coins are finite."""

CHUNK = 2048
"""Cases are made in chunks of at most this many."""

PAYEES = (b"\x01" * 32, b"\x02" * 32)
"""The addresses to which a timeout pays the mover and the waiter."""


class Figures(msgspec.Struct, frozen=True):
    """The costs of one path: this many runs, and the least, mean, median and most of them."""

    runs: Figure
    least: Figure
    mean: Figure
    median: Figure
    most: Figure


class CostliestSpend(msgspec.Struct, frozen=True):
    """A game coin's eleven fields and a solution that spends it: the costliest of its path.

    `signature` meets the extra conditions of a slash.
    """

    cost: int
    fields: tuple[Value, ...]
    solution: Value
    signature: bytes = b""


@dataclass(slots=True)
class Costs:
    """The measured costs, by validator and path.

    `costliest` is known of the paths that spend a coin, of those coins that an embedded node can
    make; `first` is the first place of the hands. `interrupted`: only `cases` were
    measured.
    """

    target: Target
    cases: int
    seed: str
    runs: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    costliest: dict[tuple[str, str], CostliestSpend] = field(default_factory=dict)
    first: Site | None = None
    interrupted: bool = False

    def figures(self) -> dict[str, dict[str, Figures]]:
        """The figures, validators and paths in their order; no path that was never run."""
        return {
            name: {path: _figures(self.runs[name][path]) for path in PATHS if self.runs[name][path]}
            for name in self.target.programs
            if name in self.runs
        }

    def note(self, name: str, path: str, cost: int) -> None:
        """Note a run."""
        self.runs.setdefault(name, {path: [] for path in PATHS})[path].append(cost)

    def note_spend(self, name: str, path: str, amount: int, spend: CostliestSpend) -> None:
        """Note the spend of a coin that holds this amount."""
        self.note(name, path, spend.cost)
        known = self.costliest.get((name, path))
        if amount <= MOST_MOJOS and (known is None or spend.cost > known.cost):
            self.costliest[name, path] = spend


def measure(
    target: Target,
    cases: int,
    seed: str,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Costs:
    """Measure this many cases, honest and hostile; the same seed measures the same.

    A run that is cut off counts as a whole block; of that validator no other case is tried.
    A run that raises has no cost and is left out. An interrupt ends it early, with what it has;
    `on_progress` is called with the number of cases done and their total. Raises `UsageError` for
    a target without rules or honest moves.
    """
    target.check_playable()
    costs = Costs(target, cases, seed)
    done = 0
    runaway: set[str] = set()
    try:
        for trial in chunks(target, seed, min(cases, CHUNK), beyond=False):
            name = trial.site.validator
            costs.first = costs.first or trial.site
            if trial.site.natural and name not in runaway:
                _validator(costs, trial, runaway)
                if name not in runaway:
                    _referee(costs, trial)
            done += len(trial.cases)
            if done >= cases:
                break
            on_progress(done, cases)
    except KeyboardInterrupt:
        costs.cases, costs.interrupted = done, True
    return costs


def _validator(costs: Costs, trial: Trial, runaway: set[str]) -> None:
    name = trial.site.validator
    program = trial.target.programs[name].serialized
    for case in trial.cases:
        outcome = run_serialized(program, case.arguments)
        if is_cut_off(outcome):
            outcome = CostExceeded()
            runaway.add(name)
        if (cost := _cost(outcome)) is not None:
            costs.note(name, VALIDATOR, cost)
        if name in runaway:
            return


def _referee(costs: Costs, trial: Trial) -> None:
    """Run the move path of each move, and the timeout and the slash of the coin that it makes."""
    site, runner, name = trial.site, trial.runner, trial.site.validator
    before = runner.coin(site).atoms()

    def note(
        path: str,
        outcome: Outcome,
        fields: tuple[Value, ...],
        solution: Value,
        signature: bytes = b"",
    ) -> None:
        """Note a spend, unless it raised."""
        if (cost := _cost(outcome)) is not None:
            spend = CostliestSpend(cost, fields, solution, signature)
            costs.note_spend(name, path, site.amount, spend)

    for move, share, declared in _moves(trial):
        fields = runner.after(site, move, int_to_atom(share), declared)
        if not runner.passes(site, fields):
            continue
        moved = to_list((move, declared.infohash, int_to_atom(share), declared.size))
        note(MOVE, runner.move(site, fields), before, moved)
        rest = site.amount - share
        pays = to_list((PAYEES[0] if share else NIL, PAYEES[1] if rest else NIL))
        note(TIMEOUT, runner.spend(fields, serialize(pays)), fields, pays)
        for evidence in trial.site.evidence(move):
            outcome = runner.spend(fields, runner.slash_solution(site, evidence))
            if runner.ended(site, fields, outcome) is not SlashResult.FAILS:
                program = trial.target.programs[name]
                proof = slash_solution(site.state, program, evidence, PAYEES[0])
                signature = runner.signature(site, fields, outcome) or b""
                note(SLASH, outcome, fields, proof, signature)
                break


def _moves(trial: Trial) -> Iterator[tuple[bytes, int, Commitment]]:
    """A few different moves of the site that the referee may let through, the honest one first,
    with the commitment that its mover declares: the right one of a legal move, a false one of the
    first of them too, and the best one for a cheat of an illegal move."""
    site, runner = trial.site, trial.runner
    moves: dict[tuple[bytes, int], bytes] = {}
    for case in trial.cases:
        if site.fits(case.move, case.share):
            moves.setdefault((case.move, case.share), case.arguments)
    lied = False
    for (move, share), arguments in [*moves.items()][:MOVES]:
        verdict, _ = trial.site.ruling(trial.target, move, share)
        if not isinstance(verdict, Legal):
            yield move, share, runner.best_cheat(site, arguments)
            continue
        honest = runner.honest(verdict.next)
        yield move, share, honest
        if not lied:
            # A slash of it runs the validator to its end.
            yield move, share, Commitment(LIE, honest.size)
            lied = True


def _cost(outcome: Outcome) -> int | None:
    """The cost of a run, which is a whole block's of one that was cut off; None if it raised."""
    if isinstance(outcome, Raised):
        return None
    return MAX_COST if isinstance(outcome, CostExceeded) else outcome.cost


def _figures(costs: list[int]) -> Figures:
    return Figures(len(costs), min(costs), round(mean(costs)), round(median(costs)), max(costs))


def share_text(cost: int) -> str:
    """The share of a block that a cost takes, in per cent; a small one is not written as none.

    >>> share_text(1_100_000_000), share_text(15_000), share_text(3_000), share_text(0)
    ('10.00%', '0.00014%', '0.000027%', '0%')
    """
    share = 100 * share_of_block(cost)
    if share >= 0.1 or not cost:
        return f"{share:.2f}%" if cost else "0%"
    digits = 1 - floor(log10(share))
    return f"{share:.{digits}f}%"


def share_of_block(cost: int) -> float:
    """A cost as a share of what a block holds.

    >>> share_of_block(1_100_000_000)
    0.1
    """
    return cost / MAX_COST
