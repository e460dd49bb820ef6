"""Search for a run in which an adversary makes a planted fault break a promise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain

from channelsim.channel.adversaries.registry import names
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.world import run as run_script
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import BrokenOff, Effect, Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.promises.checker import BrokenPromise, check
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import menus
from channelsim.games import registry
from scripts.tools.attack_faults.planting import Planting, Reach
from scripts.tools.dispute_faults.dispute_fault import DisputeFault
from scripts.tools.dispute_faults.table import ARGUED, faults

STEPS = (0, 9, 5, 13, 2, 7, 17, 3)
"""The steps at which an adversary deviates, in the order in which they are tried."""

MOST_RUNS = 288
"""Runs in which a fault has to show, at the most."""

MOST_SESSIONS = 12
"""The same in attacked sessions, which are those that show a fault."""

MOST_OPENINGS = 160
"""The same for a fault of the opening."""

ENOUGH = 12
"""Runs in which another check refuses all that a fault lets through, before the search ends."""


class FaultStatus(Enum):
    """The result of the search for one fault."""

    NOTICED = "noticed"
    COVERED = "refused by another check"
    UNNOTICED = "not noticed"
    UNREACHED = "not reached"
    WITHOUT = "a promise breaks without it"


@dataclass(frozen=True, slots=True)
class FaultReport:
    """The result for one fault: the first scenario that noticed it, and how.

    `reached` counts the runs in which the fault made a difference.
    """

    fault: DisputeFault
    outcome: FaultStatus
    runs: int
    reached: int
    scenario: Scenario | Attack | None = None
    promise: str = ""
    how: str = ""

    @property
    def is_open(self) -> bool:
        """True if a fault went unnoticed or was not reached, without a stored reason, or the
        engine broke a promise without it."""
        match self.outcome:
            case FaultStatus.NOTICED | FaultStatus.COVERED:
                return False
            case FaultStatus.WITHOUT:
                return True
            case FaultStatus.UNNOTICED | FaultStatus.UNREACHED:
                return self.fault.name not in ARGUED


@dataclass(frozen=True, slots=True)
class FaultyActor:
    """A peer, or what is in its place, with a fault in the engine whenever it does something."""

    actor: Actor
    plant: Planting
    reach: Reach

    def start(self, peak: int) -> list[Effect]:
        """Begin, with the fault."""
        with ExitStack() as stack:
            self.plant(stack, self.reach)
            return self.actor.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        """React to an event, with the fault."""
        with ExitStack() as stack:
            self.plant(stack, self.reach)
            return self.actor.handle(event)


def faulty_run(scenario: Scenario, plant: Planting, reach: Reach) -> Run:
    """Run a scenario in which the honest side's peer, and no other, has a fault."""

    def wrap(peer: Peer) -> Actor:
        return FaultyActor(peer, plant, reach) if peer.config.side == scenario.honest else peer

    return Arena(scenario, wrap=wrap).run()


def faulty_session(attack: Attack, plant: Planting, reach: Reach) -> Session:
    """Run a script in which both sides have a fault."""
    with ExitStack() as stack:
        plant(stack, reach)
        return run_script(attack)


def scripts(fault: DisputeFault, seed: str) -> Iterator[Attack]:
    """The attacked sessions in which a fault should show."""
    games = fault.given.get("games", (registry.DEFAULT,))
    for number in range(MOST_SESSIONS if fault.script is not None else 0):
        actions = fault.script(number) if fault.script is not None else ()
        yield Attack(games, f"{seed}/{number}", actions)


def scenarios(fault: DisputeFault, seed: str) -> Iterator[Scenario]:
    """The runs in which a fault should show: each of its adversaries, with many menus."""
    adversaries = [name for name in fault.seen_by if name in ("", *names())]
    opening = all(rule.startswith("CH-OPEN") for rule in fault.about)
    # Runs of an opening are short, and differ by chance only.
    played = menus()[:1] if opening else (*menus(), *tight())
    most = MOST_OPENINGS if opening else MOST_RUNS
    for number in range(most if adversaries else 0):
        pair, which = divmod(number, len(adversaries))
        turn, side = divmod(pair, 2)
        yield replace(
            played[turn % len(played)],
            **fault.given,
            seed=f"{seed}/{number}",
            adversary=adversaries[which],
            step=0 if opening else STEPS[(turn + turn // len(played)) % len(STEPS)],
            side=1 - side,
        )


def tight() -> tuple[Scenario, ...]:
    """Menus in which the balances cover just one stake."""
    return tuple(
        replace(menu, contribution=menu.unit * menu.stack) for menu in menus() if menu.staggered
    )


def examine(fault: DisputeFault, seed: str) -> FaultReport:
    """Run a fault against its adversaries until a promise breaks, and report that."""
    runs = reached = covered = 0

    def report(status: FaultStatus, shown_in: Scenario | Attack | None = None) -> FaultReport:
        """The report on the runs so far, the last of which broke a promise in this scenario."""
        broken = (promise, how) if shown_in is not None else ("", "")
        return FaultReport(fault, status, runs, reached, shown_in, *broken)

    shows_in: Iterator[Scenario | Attack] = chain(scripts(fault, seed), scenarios(fault, seed))
    for scenario in shows_in:
        runs += 1
        promise = how = ""
        refused, reach = False, Reach()
        try:
            if isinstance(scenario, Attack):
                session = faulty_session(scenario, fault.plant, reach)
                broken = [BrokenPromise(one.monitor, one.text) for one in session.violations]
            else:
                run = faulty_run(scenario, fault.plant, reach)
                refused = any(isinstance(news, BrokenOff) for news in run.party.news)
                broken = check(run)
            if broken:
                promise, how = broken[0].promise, broken[0].how
        except Exception as error:
            promise, how = "exception", f"{type(error).__name__}: {error}"[:200]
        if not reach.reached:
            if promise:
                return report(FaultStatus.WITHOUT, scenario)
            continue
        reached += 1
        covered += fault.is_check and refused
        if promise:
            return report(FaultStatus.NOTICED, scenario)
        if reached == covered == ENOUGH:
            break
    if not reached:
        return report(FaultStatus.UNREACHED)
    return report(FaultStatus.COVERED if covered == reached else FaultStatus.UNNOTICED)


def examined(name: str, seed: str) -> tuple[FaultStatus, bool, str]:
    """The result for the fault of this name, as processes send it: if it is open, and its line."""
    (fault,) = (fault for fault in faults() if fault.name == name)
    # Its runs begin alike: no message is signed twice.
    with bls.remembered():
        report = examine(fault, seed)
    return report.outcome, report.is_open, _line(report)


def _line(report: FaultReport) -> str:
    fault, scenario = report.fault, report.scenario
    line = f"{report.outcome.value}: {fault.name} ({', '.join(fault.about)}), {fault.what}"
    if scenario is not None:
        who = scenario.text if isinstance(scenario, Attack) else "honest play"
        if isinstance(scenario, Scenario) and scenario.adversary:
            who = f"{scenario.adversary}@{scenario.step}"
        return f"{line}: by {who}: {report.promise}: {report.how}"
    return f"{line}: {ARGUED[fault.name]}" if fault.name in ARGUED else line
