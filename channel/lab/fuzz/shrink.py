"""Shrinking: make a finding as much like honest play as possible, on a plain hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from operator import itemgetter
from typing import TypeGuard

from channelsim.channel.errors import InvariantError
from channelsim.channel.findings.finding import THEFT, UNSLASHABLE, Finding
from channelsim.channel.lab.cases.case import PLACE, Field, SiteCase, fields, keeping, make_case
from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws import Law
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.values import NIL, deserialize

TRIES = 6000
"""The most attempts for one finding of a law that is tried on every case; fewer for costly
laws."""

SPENT = 20_000_000_000
"""The most CLVM cost of all attempts for one finding."""

ANEW = 400
"""Cases at each place of a plain hand, where the deviation itself does not show the cause there."""


def broken_by(
    target: Target, law: Law, case: SiteCase, tally: LabTally | None = None
) -> tuple[Finding, ...]:
    """Try one law on one case. `tally` adds up the cost."""
    tally = tally or LabTally()
    runner = RefereeRunner(target)
    trial = Trial(target, runner, case.site, [case], FastChance(b"shrink"), tally)
    findings = tuple(law.check(trial))
    tally.spent += runner.spent
    return findings


class Shrinker:
    """Shrinks one finding. `plain` are places of plain hands, at the finding's validator."""

    def __init__(
        self,
        target: Target,
        law: Law,
        finding: Finding,
        plain: Sequence[Site],
        runaway: Set[str] = frozenset(),
    ) -> None:
        self._target, self._law, self._cause, self._plain = target, law, finding.cause, plain
        self._losing = finding.lost > 0
        self._costly = finding.severity in (THEFT, UNSLASHABLE)
        self._tally = LabTally(runaway=set(runaway))
        self._left = TRIES // min(law.every, 16)

    def breaks(self, case: SiteCase) -> bool:
        """True if the law still finds the same cause, with a loss if there was one before; false
        once all tries are used up."""
        return self._shows(self._loss(case))

    def _shows(self, loss: int | None) -> TypeGuard[int]:
        return loss is not None and (loss > 0 or not self._losing)

    def _loss(self, case: SiteCase) -> int | None:
        """The loss by the same cause, in mojos; None where the law does not find it."""
        if self._left <= 0 or self._tally.spent > SPENT:
            return None
        self._left -= 1
        findings = broken_by(self._target, self._law, case, self._tally)
        return max(
            (finding.lost for finding in findings if finding.cause == self._cause), default=None
        )

    def shrink(self, case: SiteCase) -> SiteCase:
        """The smallest case with the same cause, of equally small ones one with a great loss; the
        case itself if there is none smaller."""
        if self._costly and not self._losing:
            case = self._with_a_loss(case)
        case = self._plainer_values(self._fewer_fields(case))
        plain = self._on_a_plain_hand(case)
        if plain is not None:
            case = self._plainer_values(self._fewer_fields(plain))
        return case

    def _on_a_plain_hand(self, case: SiteCase) -> SiteCase | None:
        """The same cause on small round amounts: by the same deviation, or by any; None where
        neither shows it."""
        candidates: list[tuple[int, int, SiteCase]] = []
        for site in self._plain:
            for moved in deviating(case, site):
                loss = self._loss(moved)
                if self._shows(loss):
                    candidates.append((len(fields(moved)), -loss, moved))
                    break
        if candidates:
            return min(candidates, key=itemgetter(0, 1))[2]
        return self._anew()

    def _with_a_loss(self, case: SiteCase) -> SiteCase:
        """A case with the same cause and a loss; the same case if there is none."""
        self._losing = True
        losing = self._on_a_plain_hand(case)
        self._losing = losing is not None
        return losing or case

    def _anew(self) -> SiteCase | None:
        """The same cause by any deviation on a plain hand; None where none shows it."""
        best: SiteCase | None = None
        for site in self._plain:
            mutator = Mutator(self._target, site, FastChance(b"shrink"))
            for case in mutator.cases(ANEW // self._law.every + 8):
                if (best is None or len(fields(case)) < len(fields(best))) and self.breaks(case):
                    best = case
        return best

    def _fewer_fields(self, case: SiteCase) -> SiteCase:
        """Take fields back to honest play: all, halves, quarters, one by one."""
        kept: list[Field] = list(fields(case))
        if case.site.base is not None:
            kept.append(PLACE)
        size = len(kept)
        while size:
            at = 0
            while at < len(kept):
                fewer = kept[:at] + kept[at + size :]
                if self.breaks(keeping(case, frozenset(fewer))):
                    kept = fewer
                else:
                    at += size
            size //= 2
        smaller = keeping(case, frozenset(kept))
        return smaller if self.breaks(smaller) else case

    def _plainer_values(self, case: SiteCase) -> SiteCase:
        for plainer in _plainer(case):
            if plainer.arguments == case.arguments or self.breaks(plainer):
                return self._plainer_bytes(plainer)
        return case

    def _plainer_bytes(self, case: SiteCase) -> SiteCase:
        """A case whose share and evidence are settled, with plainer bytes in its move."""
        for kind, at in fields(case):
            if kind not in ("move", "extra"):
                continue
            for byte in (0, 1):
                move = bytearray(case.move)
                if move[at] <= byte:
                    break
                move[at] = byte
                plainer = make_case(case.site, case.tag, bytes(move), case.share, case.evidence)
                if self.breaks(plainer):
                    case = plainer
                    break
        return case


def _plainer(case: SiteCase) -> Iterator[SiteCase]:
    """The case with plainer shares and evidence, the plainest first, and at last itself."""
    site, shares, evidences = case.site, [case.share], [case.evidence]
    if case.share != site.play.share:
        honest = site.play.share
        shares = list(dict.fromkeys((0, honest - 1, honest + 1, site.amount, case.share)))
    if case.evidence not in site.held:
        evidences = [NIL, case.evidence]
    for share in shares:
        for evidence in evidences:
            yield make_case(site, case.tag, case.move, share, evidence)


def deviating(case: SiteCase, site: Site) -> Iterator[SiteCase]:
    """The same deviation from honest play, at another place of the same validator."""
    honest, there = case.site.play, site.play
    changed = set(fields(case))
    move = bytearray()
    for at in range(max(len(case.move), len(honest.move), len(there.move))):
        if ("move", at) in changed or ("extra", at) in changed:
            move += case.move[at : at + 1]
        elif ("short", at) not in changed:
            move += there.move[at : at + 1]
    shares = [there.share]
    if ("share", 0) in changed:
        less = there.share - 1 if case.share < honest.share else there.share + 1
        shares = [0, less, there.share + case.share - honest.share, case.share]
        shares = [share for share in shares if share != there.share]
    evidence = case.evidence if ("evidence", 0) in changed else site.held[0]
    for share in dict.fromkeys(shares):
        yield make_case(site, case.tag, bytes(move), share, evidence)


def case_of(site: Site, finding: Finding) -> SiteCase:
    """The case that a finding names."""
    if finding.call is None:
        raise InvariantError(f"{finding.rule}: a finding of a law without its call")
    call = finding.call
    move, evidence = bytes.fromhex(call.move), deserialize(bytes.fromhex(call.evidence))
    return make_case(site, finding.rule, move, call.share, evidence)
