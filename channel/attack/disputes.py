"""Disputes of `dispute run` as scripts of attacked sessions, and their transcripts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from channelsim.channel.attack.actions import Action, Attack, check, hostile_side
from channelsim.channel.attack.campaign import Broken, shrunk_violations
from channelsim.channel.attack.drawing import arranged
from channelsim.channel.attack.kinds import KINDS, OLD_COPY, WEATHERS
from channelsim.channel.attack.session import NOBODY, Observer, Session
from channelsim.channel.attack.side_processes import SideProcesses
from channelsim.channel.attack.weathers import weather as weather_of
from channelsim.channel.attack.world import run_observed
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, Finding
from channelsim.channel.session.session_events import Listener, SessionEvent
from channelsim.channel.session.transcript import Lines, Record, Sink, record_of
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.promises.checker import SEVERITY, BrokenPromise, with_loss
from channelsim.channel.simulation.promises.old_copies import restored
from channelsim.channel.simulation.run import HANDSHAKE, Run, part_of, part_of_message
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.terms import Proposals
from channelsim.games.chance import Chance
from channelsim.games.names import printable

ATTACKED_DISPUTE = "channelsim dispute 4"
"""The format of the transcript of a dispute that is a script."""

EARLIER_DISPUTES = frozenset(f"channelsim dispute {number}" for number in (1, 2, 3))
"""The formats of earlier versions, which drove both peers in another way."""


def dispute_script(scenario: Scenario, old_copy: int = 0) -> Attack:
    """The script of a dispute. The scenario's `side` is the adversary's, if it has one.

    Before the event `old_copy` of its peer, the other side goes on from a copy of its files that is
    some events older (0: it never does). The sides then play hands that they agreed on.
    """
    name, side, weather = scenario.adversary, scenario.side, scenario.weather
    chance = Chance(
        derive(scenario.seed.encode(), "dispute", name, scenario.step, weather, old_copy)
    )
    actions: list[Action] = []
    terms = scenario.terms
    if name:
        amount = chance.below(KINDS["deviate"].most + 1)
        actions.append(Action("deviate", side, scenario.step, amount, name=name))
    if old_copy:
        amount = min(old_copy, chance.between(8, KINDS[OLD_COPY].most))
        actions.append(Action(OLD_COPY, 1 - side, old_copy, amount))
        terms = msgspec.structs.replace(terms, proposals=Proposals.AGREED)
    actions += weather_of(weather, 1 - side, chance)
    attack = Attack(
        scenario.games,
        scenario.seed,
        tuple(actions),
        scenario.hands,
        scenario.policies,
        mixed=scenario.mixed,
        terms=terms,
    )
    return arranged(attack, chance)


@dataclass(frozen=True, slots=True)
class Dispute:
    """A script that was run: its session, and the run as promises are checked by."""

    attack: Attack
    session: Session
    run: Run

    @property
    def broken(self) -> list[BrokenPromise]:
        """The violations, by promise, or else by monitor; with what was lost by some of them."""
        whom = f"to the {self.run.party.name}: " if self.run.scenario.adversary else ""
        broken = [
            BrokenPromise(violation.promise or violation.monitor, violation.text.removeprefix(whom))
            for violation in self.session.violations
        ]
        return with_loss(self.run, conversation(self.run), broken) if broken else []

    @property
    def is_checked(self) -> bool:
        """True if the adversary deviated, or the old copy lacked a state."""
        if self.is_copied:
            return restored(self.run) is not None
        return self.run.deviated or not self.run.scenario.adversary

    @property
    def is_copied(self) -> bool:
        """True if a side is to go on from an old copy."""
        return any(action.kind == OLD_COPY for action in self.attack.actions)

    @property
    def part(self) -> str:
        """The part of the session in which the copy was restored, or the adversary deviated.

        Empty if nothing was checked or broken.
        """
        if not self.is_checked and not self.session.violations:
            return ""
        copy = restored(self.run)
        if copy is None:
            return part_of(self.run)
        return part_of_message(copy.last, self.run.party.peer) if copy.last else HANDSHAKE

    def findings(self, row: str = "", command: str = "") -> list[Finding]:
        """Each broken promise once, of a row of a sweep, with the script shrunk for its monitor.

        The `command` runs the dispute again.
        """
        monitors = {
            violation.promise or violation.monitor: violation
            for violation in self.session.violations
        }
        shrunk = {case.monitor: case for case in shrunk_violations(self.attack, self.session)}
        found: dict[str, Finding] = {}
        for promise in self.broken:
            case = shrunk[monitors[promise.promise].monitor]
            found.setdefault(promise.promise, script_finding(case, promise, row, command))
        return [*found.values()]


def script_finding(
    case: Broken, promise: BrokenPromise, row: str = "", command: str = ""
) -> Finding:
    """A broken promise, with the script that shows it.

    Those of one row of a sweep with the same games and promise are one mistake, and so are
    exceptions with the same text.
    """
    what = promise.how if promise.promise == EXCEPTION else promise.promise
    return Finding(
        rule=promise.promise,
        place=", ".join(filter(None, (row, case.attack.text))),
        severity=SEVERITY.get(promise.promise, BROKEN_PROMISE),
        text=promise.how if promise.promise == EXCEPTION else f"{promise.promise}: {promise.how}",
        loss=promise.loss,
        scenario=msgspec.to_builtins(case.attack),
        mistake=f"{row} {' '.join(case.attack.games)} {what}",
        replay=command,
    )


def honest_side(attack: Attack) -> int:
    """The side that the promises of a dispute are to: the one that is restored, or not hostile."""
    hostile = hostile_side(attack.actions)
    if hostile is not None:
        return 1 - hostile
    return next((action.side for action in attack.actions if action.kind == OLD_COPY), 0)


def scenario_in(attack: Attack) -> Scenario | None:
    """The scenario of which this is the script, without an old copy; None for another script."""
    deviation = next((action for action in attack.actions if action.name), None)
    usual = Scenario(
        attack.games,
        attack.seed,
        hands=attack.hands,
        policies=attack.policies,
        mixed=attack.mixed,
        terms=attack.terms,
    )
    if deviation is not None:
        usual = replace(usual, adversary=deviation.name, step=deviation.at, side=deviation.side)
    sides = (usual,) if deviation else (replace(usual, side=side) for side in (1, 0))
    for scenario in sides:
        for weather in WEATHERS:
            under = replace(scenario, weather=weather)
            if dispute_script(under) == attack:
                return under
    return None


def play(
    attack: Attack,
    observer: Observer = NOBODY,
    real: SideProcesses | None = None,
    on: FarmableChain | None = None,
) -> Dispute:
    """Run a script. Its run has the names of its adversary, weather and honest side.

    `real` and `on` are as in `run_observed`.
    """
    session, run = run_observed(attack, observer, real, on)
    scenario = scenario_in(attack)
    if scenario is None:
        scenario = replace(run.scenario, side=1 - honest_side(attack))
        deviation = next((action for action in attack.actions if action.name), None)
        if deviation is not None:
            scenario = replace(scenario, adversary=deviation.name, step=deviation.at)
    return Dispute(attack, session, replace(run, scenario=scenario))


def script_in(path: Path, header: Record) -> Attack:
    """Read the script in the first line of a transcript. Raises `UsageError`."""
    try:
        return check(msgspec.convert(header, _Header).script)
    except (msgspec.ValidationError, UsageError) as error:
        raise UsageError(
            f"{path}: line 1: not the head of a dispute: {printable(str(error))}"
        ) from None


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    script: Attack


def recorded(
    attack: Attack,
    sink: Sink,
    *listeners: Listener,
    on_fault: Callable[[int | None, str], None] = lambda side, text: None,
    head: Record | None = None,
    real: SideProcesses | None = None,
) -> tuple[Dispute, str]:
    """Run a script and write its transcript; also returns the digest of that.

    `on_fault` is as in `Observer`, `real` as in `play`, and `head` the first record of a transcript
    that is played again: older scripts lack fields.
    """
    lines = Lines(sink)
    lines.write(head or {"format": ATTACKED_DISPUTE, "script": msgspec.to_builtins(attack)})

    def hear(event: SessionEvent) -> None:
        """Write an event, and tell the listeners."""
        record = record_of(event)
        if record is not None:
            lines.write(record)
        for listener in listeners:
            listener(event)

    dispute = play(attack, Observer(hear, on_fault), real)
    broken = [[promise.promise, promise.how] for promise in dispute.broken]
    end = {
        "blocks": dispute.session.blocks,
        "reorgs": dispute.run.reorgs,
        "deviated": dispute.run.deviated,
        "broken": broken,
    }
    lines.write({"end": end})
    return dispute, lines.digest()
