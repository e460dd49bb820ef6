"""The result of one fuzzer as JSON: counts, findings, coverage and cases."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.corpus import PLAY, STATE
from channelsim.channel.lab.cases.describe import vector
from channelsim.channel.lab.cases.fields import Probe
from channelsim.channel.lab.cases.tally_record import TallyRecord, tally_of, tally_record
from channelsim.channel.lab.fuzz.fuzzer import FuzzerResult
from channelsim.channel.lab.sites.honest_play import legal_result
from channelsim.channel.lab.targets.target import REFEREE, Target
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


class Covered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ids of the nodes and branches of a program that were reached, sorted."""

    nodes: list[int]
    branches: list[int]


class FuzzPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of a fuzzer. `coverage` is by program; `stopped`: before its work was done."""

    runs: int
    stopped: bool
    tally: TallyRecord
    findings: list[Finding]
    corpus: list[CorpusCase]
    coverage: dict[str, Covered]


def fuzz_part(target: Target, result: FuzzerResult) -> FuzzPart:
    """The part that a fuzzer adds to the whole."""
    covered = {**result.corpus.coverage, REFEREE: result.referee}
    tally = tally_record(result.tally)
    return FuzzPart(
        runs=result.runs,
        stopped=result.stopped,
        # Its coverage is traced already, so that there is no need of samples.
        tally=msgspec.structs.replace(tally, samples={}),
        findings=result.found,
        corpus=[
            corpus_case(target, probe)
            for probes in result.corpus.probes.values()
            for probe in probes
        ],
        coverage={
            name: Covered(sorted(covered[name].nodes), sorted(covered[name].branches))
            for name in target.traceable
            if name in covered
        },
    )


def decode_part(data: bytes) -> FuzzPart:
    """Read a part. Raises `ValueError`."""
    part = msgspec.json.decode(data, type=FuzzPart)
    tally_of(part.tally)
    return part


def coverage_of(part: FuzzPart, name: str) -> Coverage:
    """What a part covers of a program."""
    covered = part.coverage.get(name)
    return Coverage() if covered is None else Coverage(set(covered.nodes), set(covered.branches))


def corpus_case(target: Target, probe: Probe) -> CorpusCase:
    """A probe as a case of the corpus."""
    site, case = probe.site, probe.case
    tag = f"{PLAY if site.natural else STATE} {case.tag}"
    verdict = _verdict(target, probe)
    written = None
    if verdict is not None:
        made = vector(target, site, case.call, verdict, tag)
        short = sha256(case.arguments).hexdigest()[:10]
        named = msgspec.structs.replace(made, id=f"{made.game}-{site.validator}-{short}")
        written = msgspec.to_builtins(named)
    return CorpusCase(site.validator, case.tag, case.arguments, written)


def _verdict(target: Target, probe: Probe) -> Verdict | None:
    """The expected verdict: the rules', or, without rules, the program's own; None for a result
    that no case can express."""
    site, case = probe.site, probe.case
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
