"""Trials, on which laws are tried, with their counts and findings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import msgspec

from channelsim.channel.findings.finding import THEFT, UNSLASHABLE, Finding, Loss
from channelsim.channel.lab.cases.describe import described_call, described_run, vector
from channelsim.channel.lab.cases.loss import loss, sides
from channelsim.channel.lab.cases.mutator import SiteCase
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import (
    MAX_COST,
    Outcome,
    ProgramSlash,
    ProgramValid,
    run_serialized,
)
from channelsim.clsp.values import Value
from channelsim.games.contract import Slash, Valid, Verdict
from channelsim.games.evidence import met
from channelsim.games.judge import program_conditions

RUNAWAY = 50_000_000
"""The cost limit of a validator's runs once one used up a whole block: at seconds for each case
nothing else would be found."""

SAMPLES = 24
"""The number of runs that are stored for coverage, for each outcome of a validator."""

Sample = tuple[int, bytes]
"""A run to be traced: its cost and its arguments."""

Fingerprint = tuple[str, int]
"""The outcome of a run (a rule's id, or `valid`) and its cost: nearly a path."""

CauseKey = tuple[str, str, str, str]
"""Rule, place, severity and text of a finding: findings of one cause have the same."""


def cause_key(finding: Finding) -> CauseKey:
    """The key of a finding's cause."""
    return finding.rule, finding.place, finding.severity, finding.text


@dataclass(slots=True)
class LabTally:
    """Counts of the lab; `merge` adds them up, so that the order of work does not matter."""

    outcomes: dict[str, Counter[str]] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)
    costs: dict[str, int] = field(default_factory=dict)
    samples: dict[str, dict[str, list[Sample]]] = field(default_factory=dict)
    prints: dict[str, set[Fingerprint]] = field(default_factory=dict)
    runaway: set[str] = field(default_factory=set)
    spent: int = 0
    broken: Counter[CauseKey] = field(default_factory=Counter)
    findings: dict[CauseKey, Finding] = field(default_factory=dict)

    def found(self, finding: Finding) -> None:
        """Count a finding; of each cause the first with the greatest loss is kept."""
        cause = cause_key(finding)
        self.broken[cause] += finding.times
        self._keep(cause, finding)

    def causes(self) -> list[Finding]:
        """Each cause once, with its frequency, the most frequent first."""
        return [
            msgspec.structs.replace(self.findings[cause].believable(), times=times)
            for cause, times in self.broken.most_common()
        ]

    def _keep(self, cause: CauseKey, finding: Finding) -> None:
        kept = self.findings.get(cause)
        if kept is None or finding.lost > kept.lost:
            self.findings[cause] = finding

    def costs_at_most(self, path: str, cost: int) -> None:
        """Note the cost of a run on this path."""
        if cost > self.costs.get(path, 0):
            self.costs[path] = cost

    def merge(self, other: LabTally) -> None:
        """Add the counts of another part of the work."""
        for name, counts in other.outcomes.items():
            self.outcomes.setdefault(name, Counter()).update(counts)
        self.tried.update(other.tried)
        self.broken.update(other.broken)
        self.runaway |= other.runaway
        self.spent += other.spent
        for path, cost in other.costs.items():
            self.costs_at_most(path, cost)
        for cause, finding in other.findings.items():
            self._keep(cause, finding)
        for name, prints in other.prints.items():
            self.prints.setdefault(name, set()).update(prints)
        for name, by_end in other.samples.items():
            mine = self.samples.setdefault(name, {})
            for end, runs in by_end.items():
                kept = mine.setdefault(end, [])
                kept += runs[: SAMPLES - len(kept)]

    def limit_samples(self, most: int) -> None:
        """Keep only the first `most` runs of each outcome for coverage."""
        for by_end in self.samples.values():
            for runs in by_end.values():
                del runs[most:]


@dataclass(frozen=True)
class Trial:
    """A site of a target and its cases, for laws to be tried on.

    `fresh` gathers the cases that ended in a way which was not seen before.
    """

    target: Target
    runner: RefereeRunner
    site: Site
    cases: list[SiteCase]
    chance: FastChance
    tally: LabTally
    fresh: list[SiteCase] = field(default_factory=list)

    def evidence(self, move: bytes) -> tuple[Value, ...]:
        """The evidence that the receiver's own logic holds against this move, `()` first."""
        return self.site.evidence(move)

    def rules_say(self, move: bytes, share: int, evidence: Value) -> Verdict:
        """The rules' verdict at this site."""
        return self.site.rules_say(self.target, move, share, evidence)

    def ruling(self, move: bytes, share: int) -> tuple[Slash | Valid | None, Value]:
        """True if the move is legal to a challenger with its own evidence.

        None where the rules raise on all of it, or where there are no rules and no record says
        that this move is legal. With the evidence that decides it.
        """
        site = self.site
        if self.target.judge(site.validator) is None:
            honest = (move, share) == (site.play.move, site.play.share)
            return (site.known if honest else None), site.play.evidence
        return site.ruling(self.target, move, share)

    def rule(self, rule: str) -> str:
        """A rule's id and its sentence."""
        sentence = self.target.sentence(rule)
        return f"{rule} ({sentence})" if sentence else rule

    def run(self, move: bytes, share: int, evidence: Value) -> Outcome:
        """Run the target's program on one call at this site."""
        site = self.site
        program = self.target.programs[site.validator].serialized
        limit = RUNAWAY if site.validator in self.tally.runaway else MAX_COST
        return run_serialized(program, site.environment(move, share, evidence), limit)

    def slashes(self, move: bytes, share: int, evidence: Value) -> bool:
        """True if the program slashes a move: by `()`, or under conditions that are met."""
        outcome = self.run(move, share, evidence)
        if isinstance(outcome, ProgramValid):
            asked = program_conditions(outcome.value)
            return any(met(asked, one) for one in self.site.signatures(move)) if asked else False
        return isinstance(outcome, ProgramSlash)

    def finding(
        self,
        law: str,
        severity: str,
        text: str,
        cause: str,
        call: Call,
        expect: Verdict | None = None,
        run: tuple[bytes, bytes] | None = None,
        lost: int | None = None,
    ) -> Finding:
        """A finding at this site, with the call (move, share, evidence) that shows it.

        `expect` is the result that it must have, where there are no rules; `lost` is the loss in
        mojos, where that does not follow from the cause.
        """
        move, share, evidence = call
        site = self.site
        verdict = self._expected(move, share, evidence, expect)
        shown = msgspec.to_builtins(vector(self.target, site, call, verdict, tag=law))
        return Finding(
            rule=law,
            place=site.validator,
            severity=severity,
            text=text,
            cause=cause,
            loss=self._loss(severity, cause, share, lost),
            vector=shown,
            call=described_call(call),
            brun={} if run is None else described_run(*run),
        )

    def _loss(self, severity: str, cause: str, share: int, lost: int | None) -> Loss | None:
        if severity not in (THEFT, UNSLASHABLE) or not self.site.natural:
            return None
        if lost is None:
            lost = loss(cause, self.site.amount, self.site.play.share, share)
        return Loss(*sides(cause), lost) if lost else None

    def _expected(
        self, move: bytes, share: int, evidence: Value, expect: Verdict | None
    ) -> Verdict:
        if self.target.judge(self.site.validator) is not None:
            return self.rules_say(move, share, evidence)
        return expect or self.site.known or Slash("")
