"""Trials, on which laws are tried, with their counts and findings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import msgspec

from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.cases.loss import loss
from channelsim.channel.lab.cases.mutator import SiteCase
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Call, Site
from channelsim.channel.lab.target.target import Target
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

THEFT = "theft"
UNSLASHABLE = "unslashable cheat"
GRIEFING = "griefing"
DISAGREEMENT = "disagreement"

RUNAWAY = 50_000_000
"""The cost limit of a validator's runs once one used up a whole block: at seconds for each case
nothing else would be found."""

SAMPLES = 24
"""The number of runs that are stored for coverage, for each outcome of a validator."""

Sample = tuple[int, bytes]
"""A run to be traced: its cost and its arguments."""

Fingerprint = tuple[str, int]
"""The outcome of a run (a rule's id, or `valid`) and its cost: nearly a path."""


SEVERITIES = (THEFT, UNSLASHABLE, GRIEFING, DISAGREEMENT)
"""All severities, the worst first."""


class LabFinding(msgspec.Struct, frozen=True):
    """A broken law. `text` is the same for all findings of one cause.

    `cause` names what is wrong, alike for all laws: a rule's id, or what is not bound.
    `vector` is a conformance case, None where the format cannot say it (evidence that is a
    pair but no list). `move`, `share` and `evidence` are the call that shows it; `run` is the
    program and the environment, serialized, where it is not the validator's run. `loss` is how
    many mojos one side loses in this case, of a theft or an unslashable cheat. `order_only`: no
    side loses, because only the order differs in which evidence and rules are looked at.
    """

    law: str
    validator: str
    severity: str
    text: str
    cause: str
    vector: dict[str, Any] | None
    move: bytes
    share: int
    evidence: Value
    run: tuple[bytes, bytes] | None = None
    loss: int = 0
    order_only: bool = False

    def believable(self) -> LabFinding:
        """Downgrade a theft if no side loses money in the case that shows it."""
        if self.severity != THEFT or self.loss:
            return self
        text = f"{self.text}; in the cases found no side loses money by it"
        return msgspec.structs.replace(self, severity=DISAGREEMENT, text=text)

    def document(self) -> dict[str, Any]:
        """The finding as JSON data."""
        return {
            "law": self.law,
            "validator": self.validator,
            "severity": self.severity,
            "text": self.text,
            "order_only": self.order_only,
            "vector": self.vector,
        }


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
    broken: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    findings: dict[tuple[str, str, str, str], LabFinding] = field(default_factory=dict)

    def found(self, finding: LabFinding) -> None:
        """Count a finding; of each cause the first with the greatest loss is kept."""
        cause = (finding.law, finding.validator, finding.severity, finding.text)
        self.broken[cause] += 1
        self._keep(cause, finding)

    def causes(self) -> list[tuple[LabFinding, int]]:
        """Each cause once, with its frequency, the most frequent first."""
        return [
            (self.findings[cause].believable(), times) for cause, times in self.broken.most_common()
        ]

    def _keep(self, cause: tuple[str, str, str, str], finding: LabFinding) -> None:
        kept = self.findings.get(cause)
        if kept is None or finding.loss > kept.loss:
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
    ) -> LabFinding:
        """A finding at this site, with the call (move, share, evidence) that shows it.

        `expect` is the result that it must have, where there are no rules; `lost` is the loss in
        mojos, where that does not follow from the cause.
        """
        move, share, evidence = call
        name = self.site.validator
        verdict = self._expected(move, share, evidence, expect)
        shown = msgspec.to_builtins(vector(self.target, self.site, call, verdict, tag=law))
        if severity not in (THEFT, UNSLASHABLE) or not self.site.natural:
            lost = 0
        elif lost is None:
            lost = loss(cause, self.site.amount, self.site.play.share, share)
        return LabFinding(law, name, severity, text, cause, shown, move, share, evidence, run, lost)

    def _expected(
        self, move: bytes, share: int, evidence: Value, expect: Verdict | None
    ) -> Verdict:
        if self.target.judge(self.site.validator) is not None:
            return self.rules_say(move, share, evidence)
        return expect or self.site.known or Slash("")
