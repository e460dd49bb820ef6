"""The campaign of `attack`: many sessions under drawn faults, and what they broke."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

import msgspec

from channelsim.channel import __version__
from channelsim.channel.adversaries.rules.breaker import name_of
from channelsim.channel.attack.actions import FORMAT, Attack, check
from channelsim.channel.attack.drawing import adversaries_in
from channelsim.channel.attack.fast_mode import fast_mode
from channelsim.channel.attack.generations import GENERATION, Discovery, Pool, discovery, script
from channelsim.channel.attack.goals import reached
from channelsim.channel.attack.kinds import KINDS
from channelsim.channel.attack.monitors import MONITORS, Violation
from channelsim.channel.attack.remembering import remembered
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.shrinking import shrunk
from channelsim.channel.attack.world import run
from channelsim.channel.campaign import engine
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.engine import CampaignRun
from channelsim.channel.campaign.executors import Workers
from channelsim.channel.campaign.job import (
    Counts,
    Reporter,
    ShardWork,
    check_plugins,
    decoded,
    plugin_inputs,
)
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto.keyed_hash import WARNING
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, Finding
from channelsim.channel.findings.finding_files import stored_findings
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.simulation.promises.checker import SEVERITY
from channelsim.games import registry

SESSIONS_PER_SHARD = 10
"""Sessions of one shard."""

NOT_CONFIRMED = "not confirmed"
"""Counts what was broken in fast mode, and is not broken with real signatures."""

FOUND_FAST = " (found in fast mode, confirmed with real signatures)"


class Broken(msgspec.Struct, frozen=True):
    """A script, shrunk, and what it breaks."""

    attack: Attack
    monitor: str
    text: str


class AttackTotals(msgspec.Struct):
    """Totals of many sessions: `actions` counts what took place, `phases` and `goals` the sessions
    that reached each.

    `counts` are sessions, those of them that were `attacked` (an action took place) or `funded`,
    restarts, and blocks. `deviated` counts sessions by the adversary that deviated, and `answered`
    those whose adversary breaks one rule, by the rule that it was accused of. `digests` is the
    SHA-256 of all logs in order.
    """

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    actions: Counter[str] = msgspec.field(default_factory=Counter)
    phases: Counter[str] = msgspec.field(default_factory=Counter)
    goals: Counter[str] = msgspec.field(default_factory=Counter)
    deviated: Counter[str] = msgspec.field(default_factory=Counter)
    answered: Counter[str] = msgspec.field(default_factory=Counter)
    broken: list[Broken] = msgspec.field(default_factory=list)
    digests: str = ""

    def add(self, session: Session) -> None:
        """Count a session."""
        counts = {
            "sessions": 1,
            "attacked": int(bool(session.done)),
            "funded": int(session.funded),
            "restarts": sum(session.lives) - 2,
            "blocks": session.blocks,
        }
        self.counts.update(counts)
        self.actions.update(action.kind for action in session.done)
        self.phases.update({name.partition(" ")[0] for name in session.situations})
        self.goals.update(reached(session))
        self.deviated.update({action.name for action in session.done if action.name})
        self.answered.update(answers_of(session))
        self._digest(session.digest)

    def merge(self, other: AttackTotals) -> None:
        """Add the totals of later sessions."""
        self.counts.update(other.counts)
        self.actions.update(other.actions)
        self.phases.update(other.phases)
        self.goals.update(other.goals)
        self.deviated.update(other.deviated)
        self.answered.update(other.answered)
        self.broken += other.broken
        self._digest(other.digests)

    def _digest(self, digest: str) -> None:
        self.digests = sha256((self.digests + digest).encode()).hexdigest()


def answers_of(session: Session) -> list[str]:
    """The rule that a session's adversary broke, if it was accused of that one; or none."""
    broken = {name_of(rule): rule for rule in RULES}
    rules = {broken[action.name] for action in session.done if action.name in broken}
    accused = session.accused
    # Games have rules of their own under CH-MOVE-4.
    rule = accused if accused.startswith("CH-") or not accused else "CH-MOVE-4"
    return [rule] if rule in rules else []


class AttackPart(msgspec.Struct):
    """The result of a shard: its totals, and the scripts that reached something new.

    `stopped`: its time was over before all its sessions were run.
    """

    totals: AttackTotals = msgspec.field(default_factory=AttackTotals)
    discoveries: list[Discovery] = msgspec.field(default_factory=list)
    stopped: bool = False


@dataclass(frozen=True, slots=True)
class TriedAgain:
    """Stored findings that still happen, the files of those that do not, and of those that cannot
    be tried, with the reasons."""

    unmended: list[Finding] = field(default_factory=list)
    mended: list[Path] = field(default_factory=list)
    untried: list[tuple[Path, str]] = field(default_factory=list)


@dataclass(frozen=True)
class AttackReport:
    """The results of a campaign, and the work that crashed its workers (`lost`).

    `situations` are those that were reached, and `scripts` the number of those kept for them.
    `stopped`: by the clock.
    """

    configuration: Configuration
    totals: AttackTotals
    situations: int = 0
    scripts: int = 0
    interrupted: bool = False
    stopped: bool = False
    lost: tuple[Shard, ...] = ()
    tried_again: TriedAgain = field(default_factory=TriedAgain)

    @cached_property
    def digest(self) -> str | None:
        """The SHA-256 of configuration and totals; None if it was interrupted or stopped."""
        if self.interrupted or self.stopped:
            return None
        data = msgspec.json.encode(self.totals, order="deterministic")
        return sha256(self.configuration.digest.encode() + data).hexdigest()

    @cached_property
    def findings(self) -> list[Finding]:
        """Each mistake once, by the plainest script that shows it."""
        new = findings(self.totals.broken)
        known = {finding.mistake for finding in new}
        stored = self.tried_again.unmended
        return [*(finding for finding in stored if finding.mistake not in known), *new]


@dataclass(frozen=True)
class Attacks:
    """The campaign: so many sessions of these games, with actions of these kinds.

    Where it has so many `seconds`, it ends with them. Findings that are stored in its folder are
    tried first. `fast` searches with a keyed hash for BLS. `pool` and `until` (seconds since 1970)
    are those of the generation that is under way.
    """

    configuration: Configuration
    games: tuple[str, ...]
    runs: int
    kinds: tuple[str, ...] = tuple(KINDS)
    seconds: float | None = None
    folder: Path | None = None
    fast: bool = False
    pool: Pool = field(default=Pool())
    until: float | None = None

    returns_early = True
    unit, units = "session", "sessions"

    @property
    def plan(self) -> Plan:
        """The work in sessions."""
        return Plan(
            self.configuration.digest, self.runs, unit=1, seeds_per_shard=SESSIONS_PER_SHARD
        )

    def worker(self) -> ShardWork:
        """Get ready to run sessions. Raises `UsageError` where a plug-in is another one."""
        check_plugins(self.configuration.inputs)
        return self._run

    def decode(self, data: bytes) -> AttackPart:
        """The result in the JSON of a shard."""
        return decoded(data, AttackPart)

    def _run(self, shard: Shard) -> bytes:
        part, stops, known = AttackPart(), Reporter(), {*self.pool.known}
        for number in shard.seeds:
            if self.until is not None and time() > self.until:
                part.stopped = True
                break
            attack = script(self.pool, self.games, self.configuration.seed, number, self.kinds)
            with remembered():
                session = (attack_fast if self.fast else attack_one)(attack, part.totals)
            if session is not None:
                new = discovery(attack, session.done, session.situations, known)
                part.discoveries += [] if new is None else [new]
            counts = {"findings": len(part.totals.broken)}
            if stops(part.totals.counts["sessions"], counts.copy):
                break
        return msgspec.json.encode(part, order="deterministic")

    def run(self, place: Place) -> AttackReport:
        """Run all sessions; an interrupt or the clock ends it early, with the totals so far."""
        workers = place.workers()
        with engine.closing_at_end(workers):
            return self._run_with(workers, place)

    def _run_with(self, workers: Workers, place: Place) -> AttackReport:
        again = tried_again(self.folder)
        until = None if self.seconds is None else time() + self.seconds
        counter, pool = _Counter(place), Pool()
        done: CampaignRun[AttackPart] = CampaignRun()
        lost: list[Shard] = []
        stopped = False
        for first in range(0, self.runs, GENERATION):
            seeds = range(first, min(first + GENERATION, self.runs))
            # One that is ended by the clock has no use for a plan of what is never run.
            runs = self.runs if until is None else seeds.stop
            campaign = replace(self, pool=pool, until=until, runs=runs)
            done = engine.run(
                campaign,
                campaign.plan,
                workers,
                place.directory,
                counter,
                place.on_status,
                done.results,
                seeds,
                lasting=True,
            )
            lost += done.lost
            results = {**done.partial, **done.results}
            parts = in_order({one: results[one] for one in results if one.first in seeds})
            for part in parts:
                pool = pool.adding(part.discoveries)
                stopped = stopped or part.stopped
            if done.interrupted or stopped:
                break
        totals = AttackTotals()
        for part in in_order({**done.partial, **done.results}):
            totals.merge(part.totals)
        return AttackReport(
            self.configuration,
            totals,
            len(pool.known),
            len(pool.parents),
            done.interrupted,
            stopped,
            tuple(lost),
            again,
        )


class _Counter:
    """Counts the different findings so far, and stores them as they come."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._shards: set[Shard] = set()
        self._broken: list[Broken] = []
        self._findings: list[Finding] = []

    def __call__(self, shard: Shard, part: AttackPart) -> Counts:
        """Count the result of a shard, once: each generation brings those before along."""
        if shard not in self._shards:
            self._shards.add(shard)
            if part.totals.broken:
                self._broken += part.totals.broken
                self._findings = findings(self._broken)
                self._place.files.write(self._findings)
        return {"findings": len(self._findings)}


def tried_again(folder: Path | None) -> TriedAgain:
    """Try the stored findings of a folder again, those of attacks."""
    again = TriedAgain()
    for path, finding in () if folder is None else stored_findings(folder):
        if isinstance(finding, UsageError):
            again.untried.append((path, str(finding)))
            continue
        try:
            attack = script_of(path, finding)
        except UsageError as error:
            again.untried.append((path, str(error)))
            continue
        if attack is None:
            continue
        if finding.rule in broken_by(attack):
            again.unmended.append(finding)
        else:
            again.mended.append(path)
    return again


def attack_one(attack: Attack, totals: AttackTotals) -> Session | None:
    """Run a script, count it, and shrink it for each monitor that it breaks.

    Returns the session; None if it could not be run to its end.
    """
    try:
        session = run(attack)
    except Exception as error:
        # Any exception is a result of this session; the others go on.
        totals.counts["sessions"] += 1
        totals.broken.append(Broken(attack, EXCEPTION, described(error)))
        return None
    totals.add(session)
    totals.broken += shrunk_violations(attack, session)
    return session


def shrunk_violations(attack: Attack, session: Session) -> Iterator[Broken]:
    """Shrink a script for each monitor that its session breaks."""
    first: dict[str, Violation] = {}
    for violation in session.violations:
        first.setdefault(violation.monitor, violation)
    for violation in first.values():
        breaks = partial(_breaks, violation.monitor)
        alone = msgspec.structs.replace(attack, actions=session.done)
        plainest = shrunk(alone if breaks(alone) else attack, breaks)
        # What depends on the sessions before this one in its process does not break it again.
        text = broken_by(plainest).get(violation.monitor, violation.text)
        yield Broken(plainest, violation.monitor, text)


def attack_fast(attack: Attack, totals: AttackTotals) -> Session | None:
    """Run a script with a keyed hash for BLS, and what it breaks again with real signatures.

    What real signatures do not confirm is counted, and no finding.
    """
    before = len(totals.broken)
    with fast_mode():
        session = attack_one(attack, totals)
    suspects = totals.broken[before:]
    del totals.broken[before:]
    for case in suspects:
        text = broken_by(case.attack).get(case.monitor)
        if text is None:
            totals.counts[NOT_CONFIRMED] += 1
        else:
            totals.broken.append(msgspec.structs.replace(case, text=f"{text}{FOUND_FAST}"))
    return session


def is_script(scenario: dict[str, Any] | None) -> bool:
    """True if the scenario of a finding is a script of an attack."""
    return scenario is not None and scenario.get("format") == FORMAT


def _breaks(monitor: str, attack: Attack) -> bool:
    return monitor in broken_by(attack)


def broken_by(attack: Attack) -> dict[str, str]:
    """The monitors that a script breaks, each with the first line about it."""
    broken: dict[str, str] = {}
    try:
        for violation in run(attack).violations:
            broken.setdefault(violation.monitor, violation.text)
    except Exception as error:
        broken[EXCEPTION] = described(error)
    return broken


def script_of(path: Path, finding: Finding) -> Attack | None:
    """The script of a finding in this file; None if it has another scenario, or none.

    Raises `UsageError`, with the path.
    """
    if not is_script(finding.scenario):
        return None
    try:
        return check(msgspec.convert(finding.scenario, Attack))
    except (msgspec.ValidationError, UsageError) as error:
        raise UsageError(f"{path}: no script of an attack: {error}") from None


def described(error: Exception) -> str:
    """An exception that ended a session, in a line."""
    return f"{type(error).__name__}: {error}"[:300]


def attacks(
    runs: int,
    seed: str,
    games: tuple[str, ...],
    kinds: tuple[str, ...] = tuple(KINDS),
    seconds: float | None = None,
    folder: Path | None = None,
    *,
    fast: bool = False,
) -> Attacks:
    """The campaign of so many sessions of these games, or as many as so many seconds allow."""
    options: dict[str, Any] = {"runs": runs} if seconds is None else {"seconds": seconds}
    options |= {"signatures": WARNING} if fast else {}
    inputs = {
        **{
            f"game {name}": sha256(
                b"".join(program.hash for _, program in sorted(registry.get(name).programs.items()))
            ).hexdigest()
            for name in games
        },
        "actions": ",".join(kinds),
        **plugin_inputs(lambda group, name: group in ("games", "policies")),
    }
    configuration = Configuration("attack", __version__, ", ".join(games), seed, inputs, options)
    return Attacks(configuration, games, runs, kinds, seconds, folder, fast)


def adversaries(games: Iterable[str]) -> tuple[str, ...]:
    """The adversaries that can do something in one of these games, by name."""
    return tuple(sorted({name for game in games for name in adversaries_in(game)}))


def default_games() -> tuple[str, ...]:
    """All installed games that a channel can be played with."""
    return tuple(game.name for game in registry.channel_games())


def findings(broken: Iterable[Broken]) -> list[Finding]:
    """Each mistake once, in the script with the fewest actions, with its frequency."""
    first: dict[str, tuple[Broken, int]] = {}
    for case in broken:
        mistake = f"{case.monitor}: {_without_numbers(case.text)}"
        known, times = first.get(mistake, (case, 0))
        fewest = min(known, case, key=lambda one: len(one.attack.actions))
        first[mistake] = fewest, times + 1
    return [_finding(mistake, case, times) for mistake, (case, times) in first.items()]


def _finding(mistake: str, case: Broken, times: int) -> Finding:
    return Finding(
        rule=case.monitor,
        place=case.attack.text,
        severity=SEVERITY.get(case.monitor, BROKEN_PROMISE),
        text=f"{case.text} ({MONITORS.get(case.monitor, 'A session runs to its end.')})",
        times=times,
        scenario=msgspec.to_builtins(case.attack),
        mistake=mistake,
    )


def _without_numbers(text: str) -> str:
    """A text without what differs between two cases of one mistake."""
    return re.sub(r"(0x)?[0-9a-f]*[0-9][0-9a-f]*", "N", text)[:120]
