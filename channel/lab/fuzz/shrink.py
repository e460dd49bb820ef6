"""Shrinking: make a finding as much like honest play as possible, on a plain hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import TypeGuard

from channelsim.channel.errors import InvariantError
from channelsim.channel.findings.finding import THEFT, UNSLASHABLE, Finding
from channelsim.channel.lab.cases.fields import PLACE, Field, Probe, fields, keeping
from channelsim.channel.lab.cases.guided_mutator import make_case
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
    target: Target, law: Law, probe: Probe, tally: LabTally | None = None
) -> tuple[Finding, ...]:
    """Try one law on one case. `tally` adds up the cost."""
    tally = tally or LabTally()
    runner = RefereeRunner(target)
    trial = Trial(target, runner, probe.site, [probe.case], FastChance(b"shrink"), tally)
    found = tuple(law.check(trial))
    tally.spent += runner.spent
    return found


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

    def breaks(self, probe: Probe) -> bool:
        """True if the law still finds the same cause, with a loss if there was one before; false
        once all tries are used up."""
        return self._shows(self._loss(probe))

    def _shows(self, loss: int | None) -> TypeGuard[int]:
        return loss is not None and (loss > 0 or not self._losing)

    def _loss(self, probe: Probe) -> int | None:
        """The loss by the same cause, in mojos; None where the law does not find it."""
        if self._left <= 0 or self._tally.spent > SPENT:
            return None
        self._left -= 1
        found = broken_by(self._target, self._law, probe, self._tally)
        return max((one.lost for one in found if one.cause == self._cause), default=None)

    def shrink(self, probe: Probe) -> Probe:
        """The smallest probe with the same cause, of equally small ones one with a great loss; the
        probe itself if there is none smaller."""
        if self._costly and not self._losing:
            probe = self._with_a_loss(probe)
        probe = self._plainer_values(self._fewer_fields(probe))
        plain = self._on_a_plain_hand(probe)
        if plain is not None:
            probe = self._plainer_values(self._fewer_fields(plain))
        return probe

    def _on_a_plain_hand(self, probe: Probe) -> Probe | None:
        """The same cause on small round amounts: by the same deviation, or by any."""
        found: list[tuple[int, int, Probe]] = []
        for site in self._plain:
            for moved in _moved(probe, site):
                loss = self._loss(moved)
                if self._shows(loss):
                    found.append((len(fields(moved)), -loss, moved))
                    break
        if found:
            return min(found, key=lambda one: one[:2])[2]
        return self._anew()

    def _with_a_loss(self, probe: Probe) -> Probe:
        """A case with the same cause and a loss; the same probe if there is none."""
        self._losing = True
        found = self._on_a_plain_hand(probe)
        self._losing = found is not None
        return probe if found is None else found

    def _anew(self) -> Probe | None:
        """The same cause by any deviation on a plain hand."""
        best: Probe | None = None
        for site in self._plain:
            mutator = Mutator(self._target, site, FastChance(b"shrink"))
            for case in mutator.cases(ANEW // self._law.every + 8):
                found = Probe(site, case)
                if (best is None or len(fields(found)) < len(fields(best))) and self.breaks(found):
                    best = found
        return best

    def _fewer_fields(self, probe: Probe) -> Probe:
        """Take fields back to honest play: all, halves, quarters, one by one."""
        kept: list[Field] = list(fields(probe))
        if probe.site.base is not None:
            kept.append(PLACE)
        size = len(kept)
        while size:
            at = 0
            while at < len(kept):
                fewer = kept[:at] + kept[at + size :]
                if self.breaks(keeping(probe, frozenset(fewer))):
                    kept = fewer
                else:
                    at += size
            size //= 2
        smaller = keeping(probe, frozenset(kept))
        return smaller if self.breaks(smaller) else probe

    def _plainer_values(self, probe: Probe) -> Probe:
        for plainer in self._plainer(probe):
            if plainer.case == probe.case or self.breaks(plainer):
                return self._rest(plainer)
        return probe

    def _rest(self, probe: Probe) -> Probe:
        """The bytes and the evidence of a probe whose share is settled."""
        site, case = probe.site, probe.case
        for kind, at in fields(probe):
            if kind not in ("move", "extra"):
                continue
            for byte in (0, 1):
                move = bytearray(probe.case.move)
                if move[at] <= byte:
                    break
                move[at] = byte
                plainer = Probe(
                    site, make_case(site, case.tag, bytes(move), case.share, case.evidence)
                )
                if self.breaks(plainer):
                    probe = plainer
                    case = probe.case
                    break
        return probe

    def _plainer(self, probe: Probe) -> Iterator[Probe]:
        """The probe with plainer shares and evidence, the plainest first, and at last itself."""
        site, case = probe.site, probe.case
        shares = [case.share]
        if case.share != site.play.share:
            honest = site.play.share
            shares = list(dict.fromkeys((0, honest - 1, honest + 1, site.amount, case.share)))
        held = [case.evidence] if case.evidence in site.held else [NIL, case.evidence]
        for share in shares:
            for evidence in held:
                yield Probe(site, make_case(site, case.tag, case.move, share, evidence))


def _moved(probe: Probe, site: Site) -> Iterator[Probe]:
    """The same deviation from honest play, at another place of the same validator."""
    case, honest, there = probe.case, probe.site.play, site.play
    changed = set(fields(probe))
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
        yield Probe(site, make_case(site, case.tag, bytes(move), share, evidence))


def as_probe(site: Site, finding: Finding) -> Probe:
    """The case that a finding names."""
    if finding.call is None:
        raise InvariantError(f"{finding.rule}: a finding of a law without its call")
    call = finding.call
    move, evidence = bytes.fromhex(call.move), deserialize(bytes.fromhex(call.evidence))
    return Probe(site, make_case(site, finding.rule, move, call.share, evidence))
