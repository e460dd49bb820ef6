"""Results of `channelsim prove` as text, JUnit and SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from channelsim.channel.cli.findings import details
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.findings.finding import Finding
from channelsim.channel.kit.conformance_reports import sarif
from channelsim.channel.prove.result import BROKEN, ProofResult, Undecidable
from channelsim.channel.report.junit import JUnitCase, JUnitFailure
from channelsim.channel.report.terminal import console, say
from channelsim.games.amounts import counted

PASSED_OVER = "interrupted before all of it was examined"


def print_document(printed: ProveDocument, resuming: str = "") -> None:
    """Print each proof, with what it rests on and what is left out, then the findings and a sum.

    `resuming` is the command that resumes an interrupted run.
    """
    out = console()
    common = _common(printed.proofs)
    if any(proof.verdict not in BROKEN for proof in printed.proofs):
        for line in (*common, *(f"model: {model}" for model in printed.models)):
            say(out, line)
    for number, finding in enumerate(printed.findings, 1):
        say(out)
        say(out, f"{number}. {finding.line}", "bold")
        for line in _finding_lines(finding):
            say(out, f"   {line}")
    if printed.findings:
        say(out)
    for proof in printed.proofs:
        for line in _lines(proof, common):
            say(out, line)
        say(out, proof_line(proof, printed))
    if printed.interrupted:
        say(out, "interrupted: not every size of the move was examined")
    if resuming:
        say(out, f"`{resuming}` continues")
    if len(printed.proofs) > 1:
        say(out, sum_line(printed))


def _common(proofs: tuple[ProofResult, ...]) -> list[str]:
    """The bounds that all proofs share, a line each."""
    first = proofs[0].bounds if proofs else ()
    return [bound for bound in first if all(bound in proof.bounds for proof in proofs)]


def _lines(proof: ProofResult, common: list[str]) -> Iterator[str]:
    """What one proof rests on besides, and what it leaves out."""
    if proof.verdict in BROKEN:
        return
    yield from (bound for bound in proof.bounds if bound not in common)
    yield from (f"assumes: {assumption}" for assumption in proof.assumes)
    yield from (f"lemma: {lemma}" for lemma in proof.lemmas)
    if proof.unconfirmed:
        yield f"no input was found of {counted(proof.unconfirmed, 'path', ',')}"
    if proof.bounded:
        what = "evidence or a state of which larger ones are left out"
        yield f"on {counted(proof.bounded, 'path', ',')}, a program looks at {what}"
    yield from (gap.line for gap in proof.undecided)


def _finding_lines(finding: Finding) -> Iterator[str]:
    """The lines of text below the title of a finding."""
    yield from details(finding)
    if finding.vector is not None:
        yield f"vector: {msgspec.json.encode(finding.vector).decode()}"
    else:
        yield "no conformance vector says this: it depends on other fields of the coin"
    if finding.replay:
        yield finding.replay


def proof_line(proof: ProofResult, printed: ProveDocument) -> str:
    """The result for one claim in a sentence."""
    of = f"{proof.validator} of {printed.target}"
    if printed.against is not None:
        of += f" and of {printed.against}"
    claim = "" if proof.claim == "equal" else f" ({proof.claim})"
    if proof.verdict in BROKEN:
        return f"{proof.verdict}: {of}{claim}"
    where = " on every input within the bounds" if proof.is_proved else ""
    return (
        f"{proof.verdict}: {of}{claim}{where}: {counted(proof.paths, 'path', ',')},"
        f" {proof.confirmed:,} of them run for real;"
        f" {counted(proof.samples, 'input', ',')} run besides"
    )


def sum_line(printed: ProveDocument) -> str:
    """The numbers of proofs by verdict in a sentence."""
    counts = Counter(proof.verdict for proof in printed.proofs)
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
    claims = counted(len(printed.proofs), "claim", ",")
    return f"{claims}: {verdicts}; {printed.summary}; {printed.seconds:,.1f} s"


# --- reports -----------------------------------------------------------------------------------


def junit_cases(printed: ProveDocument) -> list[JUnitCase]:
    """One test case for each claim about a validator: failed if it is broken or undecided,
    skipped if an interrupt came before."""
    return [
        JUnitCase(
            proof.name,
            [*(_failure(finding) for finding in found), *map(_open, proof.undecided)],
            PASSED_OVER if _passed_over(proof, printed) else "",
        )
        for proof, found in zip(printed.proofs, _by_proof(printed), strict=True)
    ]


def _passed_over(proof: ProofResult, printed: ProveDocument) -> bool:
    return printed.interrupted and proof.verdict == "undecided" and not proof.undecided


def _failure(finding: Finding) -> JUnitFailure:
    text = "\n".join((finding.line, *_finding_lines(finding)))
    return JUnitFailure(finding.line, text, finding.severity)


def _open(gap: Undecidable) -> JUnitFailure:
    return JUnitFailure(gap.line, gap.line, "undecided")


def _by_proof(printed: ProveDocument) -> list[list[Finding]]:
    """The finding of each proof that is broken: these are in the order of the proofs."""
    findings = iter(printed.findings)
    return [[next(findings)] if proof.verdict in BROKEN else [] for proof in printed.proofs]


def sarif_log(source: str, printed: ProveDocument) -> bytes:
    """The findings as a SARIF 2.1.0 log, each at its line, or at the target's `source`."""
    results = [
        CheckResult(proof.name, failures=tuple(found))
        for proof, found in zip(printed.proofs, _by_proof(printed), strict=True)
    ]
    abouts = {
        proof.name: f"The claim {proof.claim} about {proof.validator}." for proof in printed.proofs
    }
    return sarif(source, results, abouts)
