"""Search for a run in which an adversary makes a planted fault break a promise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

import msgspec

from channelsim.channel import __version__
from channelsim.channel.adversaries.registry import names
from channelsim.channel.campaign.campaign import Place, run_shards
from channelsim.channel.campaign.job import ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto import bls
from channelsim.channel.errors import InvariantError
from channelsim.channel.findings.finding import UNNOTICED, Finding
from channelsim.channel.peer.interface import BrokenOff, Effect, Event, Tell
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.faults.kinds import React
from channelsim.channel.simulation.faults.planted_fault import PlantedFault
from channelsim.channel.simulation.faults.table import ARGUED, faults
from channelsim.channel.simulation.parties import actor_of
from channelsim.channel.simulation.promises.checker import check
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep import menus

STEPS = (0, 9, 5, 13, 2, 7, 17, 3)
"""The steps at which an adversary deviates, in the order in which they are tried."""

MOST_RUNS = 288
"""Runs in which a fault has to show, at the most."""

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

    fault: str
    about: tuple[str, ...]
    what: str
    outcome: FaultStatus
    runs: int
    reached: int
    scenario: Scenario | None = None
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
                return self.fault not in ARGUED


class FaultyPeer:
    """The honest side's peer, with a fault planted in its engine."""

    def __init__(self, peer: Peer, fault: PlantedFault, actor: Actor) -> None:
        self.planted = fault.plant(peer)
        self.refused = False
        self._actor = actor
        self._is_check = fault.is_check

    def start(self, peak: int) -> list[Effect]:
        """Begin, with the fault."""
        return self._react(None, lambda event: self._actor.start(peak))

    def handle(self, event: Event) -> list[Effect]:
        """React to an event, with the fault."""
        return self._react(event, lambda event: self._actor.handle(event) if event else [])

    def _react(self, event: Event | None, react: React) -> list[Effect]:
        effects = self.planted.react(event, react)
        accused = any(
            isinstance(effect, Tell) and isinstance(effect.news, BrokenOff) for effect in effects
        )
        stands_in = self._is_check and self.planted.reached and accused
        self.refused = self.refused or stands_in
        return effects


class FaultyArena:
    """An arena in which the honest side's peer has a fault. Call `run` once."""

    def __init__(self, scenario: Scenario, fault: PlantedFault) -> None:
        def wrap(peer: Peer) -> Actor:
            actor = actor_of(scenario, peer)
            return FaultyPeer(peer, fault, actor) if peer.config.side == scenario.honest else actor

        arena = Arena(scenario, wrap=wrap)
        faulty = arena.parties[scenario.honest].actor
        if not isinstance(faulty, FaultyPeer):
            raise InvariantError("the honest side has no fault")
        self.faulty = faulty
        self.run = arena.run


def scenarios(fault: PlantedFault, seed: str) -> Iterator[Scenario]:
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


def examine(fault: PlantedFault, seed: str) -> FaultReport:
    """Run a fault against its adversaries until a promise breaks, and report that."""
    runs = reached = covered = 0

    def report(status: FaultStatus, shown_in: Scenario | None = None) -> FaultReport:
        """The report on the runs so far, the last of which broke a promise in this scenario."""
        broken = (promise, how) if shown_in is not None else ("", "")
        described = fault.name, fault.about, fault.what
        return FaultReport(*described, status, runs, reached, shown_in, *broken)

    for scenario in scenarios(fault, seed):
        runs += 1
        promise = how = ""
        arena = FaultyArena(scenario, fault)
        try:
            broken = check(arena.run())
            if broken:
                promise, how = broken[0].promise, broken[0].how
        except Exception as error:
            promise, how = "exception", f"{type(error).__name__}: {error}"[:200]
        if not arena.faulty.planted.reached:
            if promise:
                return report(FaultStatus.WITHOUT, scenario)
            continue
        reached += 1
        covered += arena.faulty.refused
        if promise:
            return report(FaultStatus.NOTICED, scenario)
        if reached == covered == ENOUGH:
            break
    if not reached:
        return report(FaultStatus.UNREACHED)
    return report(FaultStatus.COVERED if covered == reached else FaultStatus.UNNOTICED)


@dataclass(frozen=True)
class FaultsReport:
    """The results for faults, in their order, and the shards that crashed their workers."""

    results: list[FaultReport]
    interrupted: bool = False
    lost: tuple[Shard, ...] = ()

    @property
    def findings(self) -> list[Finding]:
        """The open faults."""
        return [
            Finding(
                rule=", ".join(report.about),
                place=report.fault,
                severity=UNNOTICED,
                text=f"{report.outcome.value}: {report.what}",
            )
            for report in self.results
            if report.is_open
        ]


@dataclass(frozen=True)
class Faults:
    """The campaign: the search for each of the faults with these names."""

    configuration: Configuration
    names: tuple[str, ...]

    returns_early = False
    unit, units = "fault", "faults"

    @property
    def plan(self) -> Plan:
        """A shard for each fault."""
        return Plan(self.configuration.digest, len(self.names), 1)

    def run(self, place: Place) -> FaultsReport:
        """Examine the faults; an interrupt ends it early."""
        run = run_shards(self, place, lambda report: ({}, ()))
        results = list(in_order({**run.partial, **run.results}))
        return FaultsReport(results, run.interrupted, tuple(run.lost))

    def worker(self) -> ShardWork:
        """Find the faults by their names."""
        by_name = {fault.name: fault for fault in faults()}

        def work(shard: Shard) -> bytes:
            """Examine the fault of a shard."""
            # Its runs begin alike: no message is signed twice.
            with bls.remembered():
                fault = by_name[self.names[shard.first]]
                return msgspec.json.encode(examine(fault, self.configuration.seed))

        return work

    def decode(self, data: bytes) -> FaultReport:
        """The report in the JSON of a shard."""
        return msgspec.json.decode(data, type=FaultReport)


def faults_campaign(seed: str, which: Iterable[str] = ()) -> Faults:
    """The search for all faults, or those with these names."""
    only = set(which)
    names = tuple(fault.name for fault in faults() if not only or fault.name in only)
    inputs = {"faults": ",".join(names)}
    return Faults(Configuration("dispute faults", __version__, "the engine", seed, inputs), names)
