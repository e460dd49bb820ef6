"""Results of `channelsim prove` as text, JUnit and SARIF.

A claim that is proved shape by shape has a row in a table for each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

import msgspec

from channelsim.channel.cli.check_reports import Checked, CheckReport
from channelsim.channel.cli.findings import details
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.findings.finding import FAILED_CHECK, Finding
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.result import BROKEN, CHECKED, ProofResult, Undecidable
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, say
from channelsim.clsp.run import MAX_COST
from channelsim.games.amounts import counted

PASSED_OVER = "interrupted before all of it was examined"

SHAPES = "validator", "shape", "claim", "result", "paths", "run for real", "undecided", "seconds"
"""The headings of the table of proofs shape by shape; the seconds are of processor time."""


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
    said = set(common)
    for proof in printed.proofs:
        for line in _lines(proof, said):
            say(out, line)
        if proof.shape:
            said.update(_grounds(proof))  # those of all shapes are the same
        if not (proof.shape and proof.is_proved):
            say(out, proof_line(proof, printed))
    show_table(out, SHAPES, list(_rows(printed)), left=4)
    if printed.interrupted:
        say(out, "interrupted: not every size of the move was examined")
    if len(printed.proofs) > 1:
        say(out, sum_line(printed))


def _common(proofs: tuple[ProofResult, ...]) -> list[str]:
    """The bounds that all proofs share, a line each."""
    first = proofs[0].bounds if proofs else ()
    return [bound for bound in first if all(bound in proof.bounds for proof in proofs)]


def _rows(printed: ProveDocument) -> Iterator[tuple[str, ...]]:
    """A row for each proof about states of one shape."""
    works = printed.work or (0.0,) * len(printed.proofs)
    for proof, work in zip(printed.proofs, works, strict=True):
        if proof.shape:
            gaps = sum(gap.times for gap in proof.undecided)
            counts = proof.paths, proof.confirmed, gaps
            words = proof.validator, proof.shape, proof.claim, proof.verdict
            yield *words, *(f"{count:,}" for count in counts), f"{work:,.0f}"


def _grounds(proof: ProofResult) -> Iterator[str]:
    """The bounds, assumptions and lemmas of a proof."""
    yield from proof.bounds
    yield from (f"assumes: {assumption}" for assumption in proof.assumes)
    yield from (f"lemma: {lemma}" for lemma in proof.lemmas)


def _lines(proof: ProofResult, said: Collection[str]) -> Iterator[str]:
    """The grounds of a proof that were not said before, and the parts that it leaves out."""
    if proof.verdict in BROKEN:
        return
    yield from (line for line in _grounds(proof) if line not in said)
    if proof.is_proved and proof.claim == "cost":
        yield f"a run costs at most {proof.cost:,} of {MAX_COST:,}"
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
