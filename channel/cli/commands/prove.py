"""`channelsim prove`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from channelsim.channel.cli.campaigns import (
    CampaignOptions,
    Cluster,
    Ending,
    Out,
    Resume,
    run_campaign,
)
from channelsim.channel.cli.check_reports import NO_REPORTS, ReportFiles
from channelsim.channel.cli.options import (
    DAY,
    Jobs,
    Json,
    NoProgress,
    TargetName,
    file_option,
    processes,
    real,
    whole,
)
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
LONGEST, MOST_PAIRS, MOST_SHAPES = 1024, 100, 10_000
"""The longest move or atom in bytes, the most pairs, and the last shape, that can be named."""

WORK = 120.0
"""Seconds of work for each part, unless `--seconds` says otherwise."""


def command(
    target: TargetName,
    validator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only claims about this validator (all).")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="TARGET", help="Prove that the programs of this target do the same instead."
        ),
    ] = None,
    law: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Prove this law instead, or all (repeatable)."),
    ] = None,
    move_bytes: Annotated[
        int | None, whole(0, LONGEST, "The longest move in bytes (as play allows).")
    ] = None,
    evidence_pairs: Annotated[
        int | None, whole(0, MOST_PAIRS, "The most pairs inside each other in evidence (4).")
    ] = None,
    shape: Annotated[
        int | None, whole(1, MOST_SHAPES, "Only states of the shape with this number (all).")
    ] = None,
    evidence_bytes: Annotated[
        int | None, whole(1, LONGEST, "The longest atom of evidence in bytes (33).")
    ] = None,
    seconds: Annotated[
        float,
        real(0.1, DAY, "How long to work at most on each size of a move, in processor seconds."),
    ] = WORK,
    jobs: Jobs = None,
    proof: Annotated[
        Path | None, file_option("Write the proofs to this file, which `conform --proofs` checks.")
    ] = None,
    json: Json = False,
    reports: ReportFiles = NO_REPORTS,
    out: Out = None,
    resume: Resume = False,
    cluster: Cluster = None,
    quiet: NoProgress = False,
) -> int:
    """Prove claims about programs on every input, or show an input that breaks one.

    Without --against, a program is held against its rules; where there are none, or with --law,
    against laws that need none. Exit code 0: all is proved; 1: a claim is broken, or undecided.

    Example: channelsim prove my-validators.toml --against {game} --proof proofs.json
    """
    with progress("prove", shown=not quiet):
        targets = _targets(target, against, validator)
        if find_spec(SOLVER) is None:
            raise UsageError(f"prove: {NO_SOLVER}")
        from channelsim.channel.prove.campaign import proof_campaign
        from channelsim.channel.prove.inputs import ATOM, PAIRS
        from channelsim.channel.prove.proof_file import NAME
        from channelsim.channel.prove.questions import Bounds, questions

        pairs = PAIRS if evidence_pairs is None else evidence_pairs
        bounds = Bounds(move_bytes, pairs, evidence_bytes or ATOM, shape)
        campaign = proof_campaign(questions(targets, validator, bounds, law or ()), seconds)
    options = CampaignOptions(
        jobs=processes(jobs),
        json=json,
        out=out,
        resume=resume,
        cluster=cluster,
        quiet=quiet,
        reports=reports,
    )
    with opened("--proof", proof) as proof_output:

        def store(printed: ProveDocument) -> None:
            """Write the proofs."""
            if printed.interrupted:
                return
            data = printed.proof_file().json()
            proof_output.write(data)
            proof_output.finish()
            if out is not None:
                write_whole("--out", out / NAME, data)

        return run_campaign(
            campaign,
            options,
            "prove",
            lambda report: Ending(
                name=targets[0].name,
                document=lambda: document(report, seconds, out),
                show=print_document,
                store=store,
                report=lambda printed: check_report(targets[-1], printed),
                untried=lambda: _undecided(report),
            ),
        )


def _undecided(report: ProofReport) -> str:
    """The number of claims that are neither proved nor broken, with what may help; "" for none."""
    left = len(report.left_open)
    return f"undecided: {counted(left, 'claim', ',')}; more --seconds may decide" if left else ""


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
