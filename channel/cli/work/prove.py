"""The work of `channelsim prove`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from channelsim.channel.cli.campaigns import (
    Ending,
    run_campaign,
)
from channelsim.channel.cli.commands.prove import ProveOptions
from channelsim.channel.cli.proofs import check_report, print_document
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.documents.results import lost_work
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import FindingFiles, command_line
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove.result import NO_SOLVER
from channelsim.channel.report.progress import progress
from channelsim.channel.system.output import opened, write_whole
from channelsim.games.amounts import counted
from channelsim.games.names import nearest_or_all

if TYPE_CHECKING:
    from channelsim.channel.prove.campaign import ProofReport

SOLVER = "z3"

INPUTS = 10_000_000
"""The inputs of each check, where no number is named."""


def prove(options: ProveOptions) -> int:
    """Prove claims about programs on every input, or show an input that breaks one."""
    campaign = options.campaign
    with progress("prove", shown=not campaign.quiet):
        targets = _targets(options.target, options.against, options.validator)
        if find_spec(SOLVER) is None:
            raise UsageError(f"prove: {NO_SOLVER}")
        from channelsim.channel.prove.campaign import proof_campaign
        from channelsim.channel.prove.inputs import ATOM, PAIRS
        from channelsim.channel.prove.proof_file import NAME
        from channelsim.channel.prove.questions import Bounds, questions

        only_checks = options.checks or bool(options.check)
        pairs = PAIRS if options.evidence_pairs is None else options.evidence_pairs
        bounds = Bounds(
            options.move_bytes,
            pairs,
            options.evidence_bytes or ATOM,
            options.shape,
            options.inputs or (INPUTS if only_checks else 0),
            only_checks,
            tuple(options.check or ()),
        )
        proofs = proof_campaign(
            questions(targets, options.validator, bounds, options.law or ()), options.seconds
        )
    with opened("--proof", options.proof) as proof_output:

        def store(printed: ProveDocument) -> None:
            """Write the proofs."""
            if printed.interrupted:
                return
            data = printed.proof_file().json()
            proof_output.write(data)
            proof_output.finish()
            if campaign.out is not None:
                write_whole("--out", campaign.out / NAME, data)

        return run_campaign(
            proofs,
            campaign,
            "prove",
            lambda report: Ending(
                name=targets[0].name,
                document=lambda: document(report, options.seconds, campaign.out),
                show=print_document,
                store=store,
                report=lambda printed: check_report(targets[-1], printed),
                untried=lambda: _undecided(report),
            ),
        )


def _undecided(report: ProofReport) -> str:
    """The number of claims that are neither proved nor broken, with what may help; "" for none."""
    left = len(report.left_open)
    return f"undecided: {counted(left, 'claim')}; more --seconds may decide" if left else ""


def _targets(target: str, against: str | None, validator: str | None) -> tuple[Target, ...]:
    """The targets, which have a program of this validator. Raises `UsageError`."""
    names = [target] if against is None else [target, against]
    targets = tuple(load(name, partial=True) for name in names)
    for loaded in targets:
        if validator is not None and validator not in loaded.present:
            near = nearest_or_all(validator, loaded.present)
            raise UsageError(f"{loaded.name}: has no program of {validator!r}{near}")
    return targets


def document(report: ProofReport, seconds: float, out: Path | None = None) -> ProveDocument:
    """The report as a document, with the commands that try its findings again."""
    import z3

    from channelsim.channel import __version__
    from channelsim.channel.campaign.directory import FINDINGS
    from channelsim.channel.prove.result import MODELS

    target, *others = report.targets
    files = FindingFiles(None if out is None else out / FINDINGS)
    return ProveDocument(
        target=target.name,
        dealer=target.dealer,
        against=others[0].name if others else None,
        seed=None,
        limit=seconds,
        models=MODELS,
        versions={"channelsim": __version__, "z3": z3.get_version_string()},
        proofs=report.results,
        parts=report.parts,
        seconds=round(report.seconds, 1),
        findings=_replayed(report.findings, files),
        interrupted=report.interrupted,
        digest=report.digest,
        lost=lost_work(report.lost),
        work=tuple(round(proof.work, 1) for proof in report.proofs),
    )


def _replayed(findings: Sequence[Finding], files: FindingFiles) -> tuple[Finding, ...]:
    """The findings, each with the command that tries its file again, if it has one."""
    paths = files.paths(findings)
    if not paths:
        return tuple(findings)
    return tuple(
        msgspec.structs.replace(finding, replay=finding.replay or command_line("replay", path))
        for finding, path in zip(findings, paths, strict=True)
    )
