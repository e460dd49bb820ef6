"""The campaign of `attack`: many sessions under drawn faults, and what they broke."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from channelsim.channel import __version__
from channelsim.channel.adversaries.rules.breaker import name_of
from channelsim.channel.attack.actions import FORMAT, KINDS, Attack, adversaries_in, check, draw
from channelsim.channel.attack.defences import DEFENCES
from channelsim.channel.attack.monitors import MONITORS
from channelsim.channel.attack.shrinking import shrunk
from channelsim.channel.attack.world import Session, run
from channelsim.channel.campaign.campaign import Place, run_shards
from channelsim.channel.campaign.job import (
    Counts,
    Reporter,
    ShardWork,
    check_plugins,
    decoded,
    plugin_inputs,
)
from channelsim.channel.campaign.shards import Configuration, Plan, Shard, in_order
from channelsim.channel.crypto import bls
from channelsim.channel.crypto.keyed_hash import WARNING, fast_signatures
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, THEFT, Finding
from channelsim.channel.protocol.rules import RULES
from channelsim.games import registry

SESSIONS_PER_SHARD = 10
"""Sessions of one shard."""

NOT_CONFIRMED = "not confirmed"
"""Counts what was broken in fast mode, and is not broken with real signatures."""

FOUND_FAST = " (found in fast mode, confirmed with real signatures)"

EXCEPTIONS = "exception"
"""The rule of a session that could not be run to its end."""


class Broken(msgspec.Struct, frozen=True):
    """A script, shrunk, and what it breaks."""

    attack: Attack
    monitor: str
    text: str


class AttackTotals(msgspec.Struct):
    """Totals of many sessions; `goals` counts the ends of sessions, `actions` what took place.

    `counts` are sessions, those of them that were `attacked` (an action took place) or `funded`,
    restarts, and blocks. `deviated` counts sessions by the adversary that deviated, and `answered`
    those whose adversary breaks one rule, by the rule that it was accused of. `digests` is the
    SHA-256 of all logs in order.
    """

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    actions: Counter[str] = msgspec.field(default_factory=Counter)
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
        self.goals.update(goals_of(session))
        self.deviated.update({action.name for action in session.done if action.name})
        self.answered.update(answers_of(session))
        self._digest(session.digest)

    def merge(self, other: AttackTotals) -> None:
        """Add the totals of later sessions."""
        self.counts.update(other.counts)
        self.actions.update(other.actions)
        self.goals.update(other.goals)
        self.deviated.update(other.deviated)
        self.answered.update(other.answered)
        self.broken += other.broken
        self._digest(other.digests)

    def _digest(self, digest: str) -> None:
        self.digests = sha256((self.digests + digest).encode()).hexdigest()


GOALS = (
    *("the opening failed", "closed by both", "settled on chain"),
    *("killed in its restart", "killed three times", "watched while it was down"),
    *DEFENCES,
)
"""What a campaign should reach, beside each kind of action."""


def goals_of(session: Session) -> list[str]:
    """The goals that one session reached."""
    reached = {
        "the opening failed": not session.funded,
        "closed by both": session.funded and not session.on_chain,
        "settled on chain": session.on_chain,
        "killed in its restart": session.died_in_restart,
        "killed three times": max(session.lives) > 3,
        "watched while it was down": session.attack.watched and max(session.lives) > 1,
    }
    return [goal for goal in GOALS if reached.get(goal) or goal in session.defences]


def answers_of(session: Session) -> list[str]:
    """The rule that a session's adversary broke, if it was accused of that one; or none."""
    broken = {name_of(rule): rule for rule in RULES}
    rules = {broken[action.name] for action in session.done if action.name in broken}
    accused = session.accused
    # Games have rules of their own under CH-MOVE-4.
    rule = accused if accused.startswith("CH-") or not accused else "CH-MOVE-4"
    return [rule] if rule in rules else []


@dataclass(frozen=True)
class AttackReport:
    """The results of a campaign, and the work that crashed its workers (`lost`)."""

    configuration: Configuration
    totals: AttackTotals
    interrupted: bool = False
    lost: tuple[Shard, ...] = ()

    @cached_property
    def digest(self) -> str | None:
        """The SHA-256 of configuration and totals; None if it was interrupted."""
        if self.interrupted:
            return None
        data = msgspec.json.encode(self.totals, order="deterministic")
        return sha256(self.configuration.digest.encode() + data).hexdigest()

    @cached_property
    def findings(self) -> list[Finding]:
        """Each mistake once, by the first script that shows it."""
        return findings(self.totals.broken)


@dataclass(frozen=True)
class Attacks:
    """The campaign: so many sessions of these games; `fast` searches with a keyed hash for BLS."""

    configuration: Configuration
    games: tuple[str, ...]
    runs: int
    fast: bool = False

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

    def decode(self, data: bytes) -> AttackTotals:
        """The totals in the JSON of a shard."""
        return decoded(data, AttackTotals)

    def _run(self, shard: Shard) -> bytes:
        totals, stops = AttackTotals(), Reporter()
        for number in shard.seeds:
            with bls.remembered():
                attack = draw(self.games, f"{self.configuration.seed}/{number}")
                (attack_fast if self.fast else attack_one)(attack, totals)
            counts = {"findings": len(totals.broken)}
            if stops(totals.counts["sessions"], counts.copy):
                break
        return msgspec.json.encode(totals, order="deterministic")

    def run(self, place: Place) -> AttackReport:
        """Run all sessions; an interrupt ends it early, with the totals so far."""
        so_far: list[Broken] = []

        def count(part: AttackTotals) -> tuple[Counts, Iterable[Finding]]:
            """Count the different findings so far."""
            so_far.extend(part.broken)
            mistakes = findings(so_far)
            return {"findings": len(mistakes)}, mistakes

        done = run_shards(self, place, count)
        totals = AttackTotals()
        for part in in_order({**done.partial, **done.results}):
            totals.merge(part)
        return AttackReport(self.configuration, totals, done.interrupted, tuple(done.lost))


def attack_one(attack: Attack, totals: AttackTotals) -> None:
    """Run a script, count it, and shrink it for each monitor that it breaks."""
    try:
        session = run(attack)
    except Exception as error:
        # Any exception is a result of this session; the others go on.
        totals.counts["sessions"] += 1
        totals.broken.append(Broken(attack, EXCEPTIONS, _described(error)))
        return
    totals.add(session)
    for monitor in dict.fromkeys(violation.monitor for violation in session.violations):
        plainest = shrunk(attack, partial(_breaks, monitor))
        totals.broken.append(Broken(plainest, monitor, broken_by(plainest)[monitor]))


def attack_fast(attack: Attack, totals: AttackTotals) -> None:
    """Run a script with a keyed hash for BLS, and what it breaks again with real signatures.

    What real signatures do not confirm is counted, and no finding.
    """
    before = len(totals.broken)
    with fast_signatures():
        attack_one(attack, totals)
    suspects = totals.broken[before:]
    del totals.broken[before:]
    for case in suspects:
        text = broken_by(case.attack).get(case.monitor)
        if text is None:
            totals.counts[NOT_CONFIRMED] += 1
        else:
            totals.broken.append(replace(case, text=f"{text}{FOUND_FAST}"))


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
        broken[EXCEPTIONS] = _described(error)
    return broken


def replayed(path: Path, scenario: dict[str, Any]) -> dict[str, str]:
    """The monitors that the script of a finding breaks now. Raises `UsageError`, with the path."""
    try:
        attack = check(msgspec.convert(scenario, Attack))
    except (msgspec.ValidationError, UsageError) as error:
        raise UsageError(f"{path}: no script of an attack: {error}") from None
    return broken_by(attack)


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def attacks(runs: int, seed: str, games: tuple[str, ...], *, fast: bool = False) -> Attacks:
    """The campaign of so many sessions of these games."""
    options: dict[str, Any] = {"runs": runs, **({"signatures": WARNING} if fast else {})}
    inputs = {
        **{
            f"game {name}": sha256(
                b"".join(program.hash for _, program in sorted(registry.get(name).programs.items()))
            ).hexdigest()
            for name in games
        },
        "actions": ",".join(KINDS),
        **plugin_inputs(lambda group, name: group in ("games", "policies")),
    }
    configuration = Configuration("attack", __version__, ", ".join(games), seed, inputs, options)
    return Attacks(configuration, games, runs, fast)


def adversaries(games: Iterable[str]) -> tuple[str, ...]:
    """The adversaries that can do something in one of these games, by name."""
    return tuple(sorted({name for game in games for name in adversaries_in(game)}))


def default_games() -> tuple[str, ...]:
    """All installed games that a channel can be played with."""
    return tuple(game.name for game in registry.channel_games())


SEVERITY = {"money": THEFT, EXCEPTIONS: EXCEPTION}
"""The severity of what a monitor finds, if it is no broken promise."""


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
    actions = ", then ".join(action.text for action in case.attack.actions) or "no fault"
    return Finding(
        rule=case.monitor,
        place=f"{', '.join(case.attack.games)}, {actions}",
        severity=SEVERITY.get(case.monitor, BROKEN_PROMISE),
        text=f"{case.text} ({MONITORS.get(case.monitor, 'A session runs to its end.')})",
        times=times,
        scenario=msgspec.to_builtins(case.attack),
        mistake=mistake,
    )


def _without_numbers(text: str) -> str:
    """A text without what differs between two cases of one mistake."""
    return re.sub(r"(0x)?[0-9a-f]*[0-9][0-9a-f]*", "N", text)[:120]
