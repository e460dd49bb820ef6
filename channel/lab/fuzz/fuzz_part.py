"""The result of one fuzzer as JSON: counts, findings, coverage and cases."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.case import SiteCase
from channelsim.channel.lab.cases.corpus import PLAY, STATE
from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.sites.honest_play import legal_result
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.tracer import Coverage
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games.contract import Raise, Slash, Verdict


class CorpusCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A case that reached something new: its arguments, serialized, and itself as a conformance
    case; None where the format cannot express it."""

    validator: str
    tag: str
    arguments: bytes
    case: dict[str, Any] | None


class FuzzPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The result of a fuzzer. `coverage` is by program; `stopped`: before its work was done, and
    `failed`: by which failure of the author's functions, if by one."""

    runs: int
    stopped: bool
    tally: LabTally
    findings: list[Finding]
    corpus: list[CorpusCase]
    coverage: dict[str, Coverage]
    failed: str = ""

    def json(self) -> bytes:
        """The part as JSON, the same bytes for the same part."""
        coverage = {
            name: {"nodes": sorted(covered.nodes), "branches": sorted(covered.branches)}
            for name, covered in self.coverage.items()
        }
        ordered = msgspec.structs.replace(self, tally=self.tally.ordered(), coverage=coverage)
        return msgspec.json.encode(ordered)


def corpus_case(target: Target, case: SiteCase) -> CorpusCase:
    """A case as the corpus has it."""
    site = case.site
    tag = f"{PLAY if site.natural else STATE} {case.tag}"
    verdict = _verdict(target, case)
    written = None
    if verdict is not None:
        written_case = vector(target, site, case.call, verdict, tag)
        short = sha256(case.arguments).hexdigest()[:10]
        name = f"{written_case.game}-{site.validator}-{short}"
        written = msgspec.to_builtins(msgspec.structs.replace(written_case, id=name))
    return CorpusCase(site.validator, case.tag, case.arguments, written)


def _verdict(target: Target, case: SiteCase) -> Verdict | None:
    """The expected verdict: the rules', or, without rules, the program's own; None for a result
    that no case can express."""
    site = case.site
    if target.judge(site.validator) is not None:
        return site.rules_say(target, *case.call)
    program = target.programs[site.validator].serialized
    match run_serialized(program, case.arguments):
        case ProgramSlash():
            return Slash("")
        case ProgramValid() as outcome:
            return legal_result(target, outcome.value)
        case _:
            return Raise("")
