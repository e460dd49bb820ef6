"""Results of `channelsim prove` as text, JUnit and SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec

from channelsim.channel.cli.check_reports import Checked, CheckReport
from channelsim.channel.cli.findings import details
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.findings.finding import FAILED_CHECK, Finding
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.result import BROKEN, CHECKED, ProofResult, Undecidable
from channelsim.channel.report.terminal import console, say
from channelsim.clsp.run import MAX_COST
from channelsim.games.amounts import counted

PASSED_OVER = "interrupted before all of it was examined"


def print_document(printed: ProveDocument) -> None:
    """Print the findings, then each proof with what it rests on and what is left out, and a sum."""
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
    if len(printed.proofs) > 1:
        say(out, sum_line(printed))


def _common(proofs: tuple[ProofResult, ...]) -> list[str]:
    """The bounds that all proofs share, a line each."""
    first = proofs[0].bounds if proofs else ()
    return [bound for bound in first if all(bound in proof.bounds for proof in proofs)]


def _lines(proof: ProofResult, common: list[str]) -> Iterator[str]:
    """The other bounds and assumptions of a proof, and the parts that it leaves out."""
    if proof.verdict in BROKEN:
        return
    yield from (bound for bound in proof.bounds if bound not in common)
    if proof.is_proved and proof.claim == "cost":
        yield f"a run costs at most {proof.cost:,} of {MAX_COST:,}"
    yield from (f"assumes: {assumption}" for assumption in proof.assumes)
    yield from (f"lemma: {lemma}" for lemma in proof.lemmas)
    if proof.unconfirmed:
        yield f"no input was found of {counted(proof.unconfirmed, 'path')}"
    if proof.bounded:
        what = "evidence or a state of which larger ones are left out"
        yield f"on {counted(proof.bounded, 'path')}, a program looks at {what}"
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
    if proof.shape:
        of += f" with {proof.shape}"
    if printed.against is not None:
        of += f" and of {printed.against}"
    claim = "" if proof.claim == "equal" else f" ({proof.claim})"
    if proof.verdict in BROKEN:
        return f"{proof.verdict}: {of}{claim}"
    if proof.verdict == CHECKED:
        return f"checked, not proved: {of}{claim}: {counted(proof.samples, 'input')} run"
    where = " on every input within the bounds" if proof.is_proved else ""
    return (
        f"{proof.verdict}: {of}{claim}{where}: {counted(proof.paths, 'path')},"
        f" {proof.confirmed:,} of them run for real;"
        f" {counted(proof.samples, 'input')} run besides"
    )


def sum_line(printed: ProveDocument) -> str:
    """The numbers of proofs by verdict in a sentence."""
    counts = Counter(proof.verdict for proof in printed.proofs)
    verdicts = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items())
    claims = counted(len(printed.proofs), "claim")
    return f"{claims}: {verdicts}; {printed.summary}; {printed.seconds:,.1f} s"


# --- reports -----------------------------------------------------------------------------------


def check_report(target: Target, printed: ProveDocument) -> CheckReport:
    """A check for each claim about a validator: failed if it is broken or undecided, skipped if an
    interrupt came before."""
    findings_by_proof = _by_proof(printed)
    checks = [
        Checked(
            proof.name,
            [*findings, *(_open(proof, gap) for gap in proof.undecided)],
            PASSED_OVER if _passed_over(proof, printed) else "",
            f"The claim {proof.claim} about {proof.validator}.",
        )
        for proof, findings in zip(printed.proofs, findings_by_proof, strict=True)
    ]
    mistakes = [
        (proof.name, finding)
        for proof, findings in zip(printed.proofs, findings_by_proof, strict=True)
        for finding in findings
    ]
    return CheckReport(
        command="prove",
        target=target.name,
        source=target.source,
        checks=checks,
        summary=printed.summary,
        mistakes=mistakes,
        seconds=printed.seconds,
    )


def _passed_over(proof: ProofResult, printed: ProveDocument) -> bool:
    return printed.interrupted and proof.verdict == "undecided" and not proof.undecided


def _open(proof: ProofResult, gap: Undecidable) -> Finding:
    return Finding(rule=proof.claim, place=proof.validator, severity=FAILED_CHECK, text=gap.line)


def _by_proof(printed: ProveDocument) -> list[list[Finding]]:
    """The finding of each proof that is broken: these are in the order of the proofs."""
    findings = iter(printed.findings)
    return [[next(findings)] if proof.verdict in BROKEN else [] for proof in printed.proofs]
