"""What a sweep of disputes finds: each broken promise and exception of an adversary once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from shlex import quote

import msgspec

from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, THEFT, Finding
from channelsim.channel.session.setup import NAMES
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import SweepTotals, row_of

MONEY = "money"
"""The promise whose breach costs the honest peer money."""


def findings(totals: SweepTotals) -> list[Finding]:
    """Each mistake once, in the first dispute that shows it, with its frequency."""
    found: dict[str, Finding] = {}
    times: dict[str, int] = {}
    for scenario, promise in _violations(totals):
        mistake = _mistake(scenario, promise)
        times[mistake] = times.get(mistake, 0) + 1
        if mistake not in found:
            found[mistake] = _finding(scenario, promise, mistake)
    return [msgspec.structs.replace(one, times=times[key]) for key, one in found.items()]


def of_run(run: Run, broken: Iterable[BrokenPromise]) -> list[Finding]:
    """The broken promises of one dispute, each once."""
    return findings(SweepTotals(broken=[(run.scenario, promise) for promise in broken]))


def mistakes(totals: SweepTotals) -> int:
    """The number of different findings."""
    return len({_mistake(scenario, promise) for scenario, promise in _violations(totals)})


def _violations(totals: SweepTotals) -> Iterable[tuple[Scenario, BrokenPromise]]:
    yield from totals.broken
    for scenario, text in totals.exceptions:
        yield scenario, BrokenPromise(EXCEPTION, text)


def _mistake(scenario: Scenario, promise: BrokenPromise) -> str:
    """The adversary, the games and the promise; of an exception, its text."""
    what = promise.how if promise.promise == EXCEPTION else promise.promise
    return f"{row_of(scenario)} {' '.join(scenario.games)} {what}"


def _finding(scenario: Scenario, promise: BrokenPromise, mistake: str) -> Finding:
    severities = {EXCEPTION: EXCEPTION, MONEY: THEFT}
    return Finding(
        rule=promise.promise,
        place=f"{row_of(scenario)}, {', '.join(scenario.games)}",
        severity=severities.get(promise.promise, BROKEN_PROMISE),
        text=promise.how if promise.promise == EXCEPTION else f"{promise.promise}: {promise.how}",
        scenario=asdict(scenario),
        mistake=mistake,
        replay=_command(scenario),
    )


def _command(scenario: Scenario) -> str:
    """The command that runs a dispute again; "" without an adversary."""
    if not scenario.adversary:
        return ""
    return (
        f"channelsim dispute run {scenario.adversary}@{scenario.step}"
        f" --game {','.join(scenario.games)} --side {NAMES[scenario.side]}"
        f" --seed {quote(scenario.seed)} --weather {scenario.weather} --fees {scenario.fees}"
    )
