"""Trials, on which laws are tried, with their counts and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import msgspec

from channelsim.channel.findings.finding import MOVER, OPPONENT, THEFT, UNSLASHABLE, Finding, Loss
from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.describe import described_call, described_run, vector
from channelsim.channel.lab.cases.sides import named, names_at
from channelsim.channel.lab.referee.referee_runs import RefereeRunner, SlashResult
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.honest_play import Recorded
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
from channelsim.games.contract import Slash, Verdict
from channelsim.games.evidence import met
from channelsim.games.judge import program_conditions

LEGAL_SLASHED = "a legal move is slashed"
LEADS_ELSEWHERE = "leads elsewhere"
FORGED = "forged"
MISDECLARED = "misdeclared"
NOT_BOUND = "not bound"

_AGAINST_THE_MOVER = (LEGAL_SLASHED, LEADS_ELSEWHERE, FORGED)
"""Causes by which an honest mover loses what it keeps."""

_ON_LEGAL_MOVES = (LEGAL_SLASHED, LEADS_ELSEWHERE, FORGED, MISDECLARED)
"""Causes that appear on moves with a legal share."""

RUNAWAY = 50_000_000
"""The cost limit of a validator's runs once one used up a whole block: at seconds for each case
nothing else would be found."""

SAMPLES = 24
"""The number of runs that are stored for coverage, for each outcome of a validator."""

Sample = tuple[int, bytes]
"""A run to be traced: its cost and its arguments."""

Fingerprint = tuple[str, int]
"""The outcome of a run (a rule's id, or `valid`) and its cost: nearly a path."""


class LabTally(msgspec.Struct, forbid_unknown_fields=True):
    """Counts of the lab, by validator where that is a key; in memory and in the results of shards.

    `merge` adds them up, so that the order of work does not matter. `findings` has each cause once,
    with its frequency, in the order in which they came. `unreached` counts the cases in which rules
    and program differ, but in a state that no play is known to reach: no finding is made of them.
    """

    outcomes: dict[str, Counter[str]] = {}
    tried: Counter[str] = msgspec.field(default_factory=Counter)
    costs: dict[str, int] = {}
    samples: dict[str, dict[str, list[Sample]]] = {}
    prints: dict[str, set[Fingerprint]] = {}
    runaway: set[str] = set()
    spent: int = 0
    unreached: int = 0
    findings: list[Finding] = []

    def found(self, finding: Finding) -> None:
        """Count a finding; of each cause the first with the greatest loss is kept, and one by which
        a side may lose rather than one of order only."""
        for at, kept in enumerate(self.findings):
            if _cause(kept) == _cause(finding):
                # `max` keeps the first of equals.
                worst = max(kept, finding, key=lambda some: (not some.order_only, some.lost))
                times = kept.times + finding.times
                self.findings[at] = msgspec.structs.replace(worst, times=times)
                return
        self.findings.append(finding)

    def causes(self) -> list[Finding]:
        """Each cause once, the most frequent first."""
        by_frequency = sorted(self.findings, key=lambda finding: finding.times, reverse=True)
        return [finding.believable() for finding in by_frequency]

    def broken(self, law: str) -> int:
        """The number of times that a law was broken."""
        return sum(finding.times for finding in self.findings if finding.rule == law)

    def costs_at_most(self, path: str, cost: int) -> None:
        """Note the cost of a run on this path."""
        if cost > self.costs.get(path, 0):
            self.costs[path] = cost

    def merge(self, other: LabTally, samples: int = SAMPLES) -> None:
        """Add the counts of another part of the work; keep so many runs of each outcome."""
        for name, counts in other.outcomes.items():
            self.outcomes.setdefault(name, Counter()).update(counts)
        self.tried.update(other.tried)
        self.runaway |= other.runaway
        self.spent += other.spent
        self.unreached += other.unreached
        for path, cost in other.costs.items():
            self.costs_at_most(path, cost)
        for finding in other.findings:
            self.found(finding)
        for name, prints in other.prints.items():
            self.prints.setdefault(name, set()).update(prints)
        for name, by_end in other.samples.items():
            mine = self.samples.setdefault(name, {})
            for end, runs in by_end.items():
                kept = mine.setdefault(end, [])
                kept += runs[: samples - len(kept)]

    def ordered(self) -> LabTally:
        """The same counts with their sets in order, so that they are the same bytes as JSON.

        The order of outcomes, samples and findings is that of the work, which decides on what is
        shown and traced.
        """
        prints = {name: sorted(prints) for name, prints in self.prints.items()}
        return msgspec.structs.replace(self, prints=prints, runaway=sorted(self.runaway))


def _cause(finding: Finding) -> tuple[str, str, str, str]:
    """The fields that all findings of one cause have in common."""
    return finding.text, finding.place, finding.rule, finding.severity


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

    @property
    def honest(self) -> Call:
        """The call of honest play: its move and share, with evidence of the receiver's."""
        play = self.site.play
        return play.move, play.share, play.evidence

    def at(self, site: Site) -> Trial:
        """The same trial at another site, without cases."""
        return replace(self, site=site, cases=[])

    def pays(self, fields: tuple[Value, ...], evidence: Iterable[Value]) -> bool:
        """True if the slash of the coin with these fields pays, by any of this evidence."""
        slashes = (self.runner.slash(self.site, fields, value) for value in evidence)
        return SlashResult.PAYS in slashes

    def forbidden(self, move: bytes, share: int, evidence: Value) -> bool:
        """True if there are rules, and they slash the move by this evidence."""
        if self.target.judge(self.site.validator) is None:
            return False
        return isinstance(self.site.rules_say(self.target, move, share, evidence), Slash)

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
            return (
                any(met(asked, signature) for signature in self.site.signatures(move))
                if asked
                else False
            )
        return isinstance(outcome, ProgramSlash)

    def finding(
        self,
        law: str,
        severity: str,
        text: str,
        cause: str,
        call: Call | None = None,
        expect: Verdict | None = None,
        run: tuple[bytes, bytes] | None = None,
        lost: int | None = None,
    ) -> Finding:
        """A finding at this site, with the call that shows it, by default that of honest play.

        `expect` is the result that it must have, where there are no rules; `lost` is the loss in
        mojos, where that does not follow from the cause.
        """
        call = call or self.honest
        site, share = self.site, call[1]
        if self.target.judge(site.validator) is not None:
            expect = site.rules_say(self.target, *call)
        verdict = expect or site.known or Slash("")
        losing = severity in (THEFT, UNSLASHABLE) and site.natural
        if lost is None:
            lost = loss(cause, site.amount, site.play.share, share)
        return Finding(
            rule=law,
            place=site.validator,
            severity=severity,
            text=text,
            cause=cause,
            reach=site.reach,
            loss=self._named(Loss(*sides(cause), lost)) if losing and lost else None,
            vector=msgspec.to_builtins(vector(self.target, site, call, verdict, tag=law)),
            call=described_call(call),
            brun={} if run is None else described_run(*run),
        )

    def _named(self, loss: Loss) -> Loss | None:
        """The loss with names; not at a place that was read from a record, as that takes long."""
        known = not isinstance(self.site.receiver, Recorded)
        return named(names_at(self.target, self.site), loss) if known else loss


def loss(cause: str, amount: int, honest: int, share: int) -> int:
    """The victim's loss, in mojos, in a case that declares this share of an amount.

    An honest mover that is slashed loses what it keeps. A cheat's opponent may claim everything,
    and is left with the share; that is no loss where the share is more than honest play leaves it.

    >>> loss(LEGAL_SLASHED, 1000, 300, 300), loss("SP-END-2", 1000, 300, 0)
    (700, 1000)
    >>> loss(LEGAL_SLASHED, 1000, 1000, 1000), loss("SP-END-2", 1000, 300, 400)
    (0, 0)
    """
    legal = cause.partition(":")[0] in _ON_LEGAL_MOVES
    if not 0 <= share <= amount or (share > honest and not legal):
        return 0
    return amount - share


def sides(cause: str) -> tuple[str, str]:
    """The side that takes and the side that loses, by this cause.

    >>> sides("forged: another state"), sides("SP-END-2")
    (('its opponent', 'the mover'), ('the mover', 'its opponent'))
    """
    against = cause.partition(":")[0] in _AGAINST_THE_MOVER
    return (OPPONENT, MOVER) if against else (MOVER, OPPONENT)
