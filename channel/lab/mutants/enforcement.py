"""Enforcement: each test of each rule is dropped from its program, and something has to notice.

A test is a condition in a program; a change makes it always true, or never (the mutants of the kind
`check dropped`). The changes meet known cases first: stored ones, and those that the fuzzer and the
crosscheck made. The hunt of `channel.lab.mutants.hunt` searches for a case for each of the rest.
All is bounded by work, which the validators share: what is left over was not tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from channelsim.channel.campaign.campaign import OpenPlace
from channelsim.channel.campaign.shards import Shard
from channelsim.channel.lab.cases.runs import COST, SECOND
from channelsim.channel.lab.mutants.expressions import Expression
from channelsim.channel.lab.mutants.hunt import MutantResult, hunt
from channelsim.channel.lab.mutants.judged_cases import (
    COST_FACTOR,
    JudgedCase,
    as_decided,
    cost_of,
    differs,
)
from channelsim.channel.lab.mutants.kinds import DROPPED_CHECK, TRUE, Mutant, mutants
from channelsim.channel.lab.mutants.reasons import Reasons, stored_reasons
from channelsim.channel.lab.mutants.report import hunt_configuration
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.operators import CODES
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value

A_RUN = 1.0
"""The work of a run besides its cost."""

COMPARISONS = frozenset(CODES[name] for name in ("=", ">", ">s", "not", "any", "all", "l"))
"""Operators that say yes or no."""

KNOWN = 0.5
"""The largest share of the work that goes into known cases."""


@dataclass(frozen=True)
class Enforcement:
    """The tests of a target's programs, and whether something notices that one is dropped.

    `noticed` changes differ from the rules in some case, `argued` ones have a stored reason, `open`
    ones neither. `left` counts those that were not tried, by validator. `lost` is work that crashed
    its worker.
    """

    noticed: int
    argued: int
    open: Sequence[MutantResult]
    left: Mapping[str, int] = field(default_factory=dict)
    interrupted: bool = False
    lost: Mapping[str, Sequence[Shard]] = field(default_factory=dict)

    @property
    def tried(self) -> int:
        """The number of changes that were tried, or that a reason is stored for."""
        return self.noticed + self.argued + len(self.open)


def dropped_checks(target: Target, cut_off: Collection[str] = ()) -> list[Mutant]:
    """The changes of the validators with a program and rules, one of each validator in turn; none
    of those in `cut_off`."""
    changes = [
        _dropped_checks(name, target.programs[name], target.symbols.get(name))
        for name in target.present
        if target.judge(name) is not None and name not in cut_off
    ]
    return [mutant for turn in zip_longest(*changes) for mutant in turn if mutant is not None]


def _dropped_checks(name: str, program: Program, symbols: Mapping[str, str] | None) -> list[Mutant]:
    """The changed tests of one program: conditions, numbered as `mutants` prints them, and other
    comparisons of which only the truth matters, such as the last one of several."""
    changed = [mutant for mutant in mutants(name, program, symbols) if mutant.kind == DROPPED_CHECK]
    known = {mutant.program for mutant in changed}
    others = mutants(name, program, symbols, {DROPPED_CHECK: _passed_on})
    return [*changed, *(mutant for mutant in others if mutant.program not in known)]


def _passed_on(place: Expression) -> Iterator[Value]:
    """A comparison whose truth is passed on to a condition elsewhere: always true, or never."""
    head = place.value[0] if isinstance(place.value, tuple) else NIL
    if place.tested and place.role == "value" and head in COMPARISONS:
        yield TRUE
        yield NIL


def enforcement(
    target: Target,
    known: Iterable[tuple[str, bytes]],
    seed: str,
    seconds: float,
    open_place: OpenPlace,
    cut_off: Collection[str] = (),
) -> Enforcement:
    """Try each change on the known cases, a validator and serialized arguments each, and then hunt
    those that nothing has noticed, for this many seconds of work in all.

    The program as it is gives the results of the known cases: it and the rules agree on them, or a
    finding says so. Programs in `cut_off`, which have no end, are left out: each case would take
    seconds.
    """
    changes = dropped_checks(target, cut_off)
    reasons = Reasons({}) if target.rules is None else stored_reasons(target)
    budget = seconds * SECOND
    cases = _by_program(target, known, {change.validator for change in changes})
    alive, tried, work = _on_known_cases(changes, cases, KNOWN * budget)
    argued = [change for change in alive if reasons.reason(change.mutant) is not None]
    waiting = [change for change in alive if reasons.reason(change.mutant) is None]
    noticed = tried - len(alive)
    left: dict[str, int] = {}
    for change in changes[tried:]:
        left[change.validator] = left.get(change.validator, 0) + 1
    if not waiting:
        return Enforcement(noticed, len(argued), (), left)
    # Each mutant pays its share of the cases that all meet together.
    each = (budget - work) / SECOND / len(waiting)
    hunted = [change.mutant for change in waiting]
    configuration = hunt_configuration(target, hunted, seed, each)
    done = hunt(target, hunted, configuration, each, open_place)
    before = [change.runs for change in waiting]
    for result, runs in zip(done.results, before, strict=True):
        result.runs += runs
    return Enforcement(
        noticed + sum(result.killed for result in done.results),
        len(argued),
        done.alive,
        left,
        done.interrupted,
        {unit: shards for unit, shards in done.lost.items() if shards},
    )


@dataclass(frozen=True, slots=True)
class _KnownCases:
    """The known cases of a program, each with the work of its run."""

    cases: list[tuple[JudgedCase, float]] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    limits: list[int] = field(default_factory=list)

    def add(self, target: Target, name: str, arguments: bytes) -> None:
        """Add a case, once."""
        if arguments not in self.seen:
            self.seen.add(arguments)
            cost = cost_of(target.programs[name].serialized, arguments)
            self.limits.append(COST_FACTOR * cost)
            self.cases.append((as_decided(target, name, arguments), A_RUN + cost / COST))


def _by_program(
    target: Target, known: Iterable[tuple[str, bytes]], names: set[str]
) -> dict[str, _KnownCases]:
    cases = {name: _KnownCases() for name in names}
    for name, arguments in known:
        if name in cases:
            cases[name].add(target, name, arguments)
    return cases


def _on_known_cases(
    changes: Sequence[Mutant], cases: Mapping[str, _KnownCases], budget: float
) -> tuple[list[MutantResult], int, float]:
    """The changes that no known case notices, of how many that were tried, and the work of it."""
    alive: list[MutantResult] = []
    work = 0.0
    for place, mutant in enumerate(changes):
        if work >= budget:
            return alive, place, work
        known = cases[mutant.validator]
        limit = max(known.limits, default=0)
        for case, cost in known.cases:
            work += cost
            if differs(mutant.program, case, limit):
                break
        else:
            alive.append(MutantResult(mutant, place, runs=len(known.cases)))
    return alive, len(changes), work
