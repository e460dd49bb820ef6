"""`channelsim prove`."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from channelsim.channel.cli.options import (
    DAY,
    Jobs,
    Json,
    NoProgress,
    TargetName,
    processes,
    real,
    whole,
)
from channelsim.channel.documents.prove import ProveDocument
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.prove.result import MODELS
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.games.amounts import counted

if TYPE_CHECKING:
    from channelsim.channel.prove.proof import Proof

SOLVER = "z3"
LONGEST, MOST_PAIRS = 1024, 100
"""The longest move or atom in bytes, and the most pairs, that can be named."""


def command(
    target: TargetName,
    validator: Annotated[
        str, typer.Option(metavar="NAME", help="The validator whose programs are compared.")
    ],
    against: Annotated[
        str, typer.Option(metavar="TARGET", help="The target with the other program of this name.")
    ],
    move_bytes: Annotated[
        int | None, whole(0, LONGEST, "The longest move in bytes (as play allows).")
    ] = None,
    evidence_pairs: Annotated[
        int | None, whole(0, MOST_PAIRS, "The most pairs inside each other in evidence (4).")
    ] = None,
    evidence_bytes: Annotated[
        int | None, whole(1, LONGEST, "The longest atom of evidence in bytes (33).")
    ] = None,
    seconds: Annotated[float, real(0.1, DAY, "How long to work at most, in seconds.")] = 300.0,
    jobs: Jobs = None,
    json: Json = False,
    quiet: NoProgress = False,
) -> int:
    """Prove that two programs are equal on every input, or show an input that tells them apart.

    Exit code 1: the programs differ, or it is undecided whether they do.

    Example: channelsim prove {game} --validator NAME --against my-validators.toml
    """
    if find_spec(SOLVER) is None:
        raise UsageError("prove: needs z3-solver; pip install 'channelsim[prove]'")
    with progress("prove", "size of a move", shown=not quiet) as bar:
        from channelsim.channel.prove.inputs import ATOM, PAIRS
        from channelsim.channel.prove.proof import compare, prove

        question = compare(
            load(target, partial=True),
            load(against, partial=True),
            validator,
            move_bytes,
            PAIRS if evidence_pairs is None else evidence_pairs,
            evidence_bytes or ATOM,
        )
        proof = prove(question, seconds, processes(jobs), bar)
    with finishing():
        printed = document(proof)
        if json:
            print_json(printed)
        else:
            _print(printed)
    return exit_code(proof.interrupted, failed=proof.broken or _left_open(proof))


def _left_open(proof: Proof) -> bool:
    """True if it is undecided for another reason than an interrupt."""
    return proof.verdict == "undecided" and (bool(proof.undecided) or not proof.interrupted)


def document(proof: Proof) -> ProveDocument:
    """The result as a document."""
    from channelsim.channel.prove.counterexample import counterexample

    question = proof.question
    shown = proof.counterexample
    return ProveDocument(
        target=question.targets[0].name,
        against=question.targets[1].name,
        validator=question.validator,
        verdict=proof.verdict,
        programs=(question.programs[0].hash.hex(), question.programs[1].hash.hex()),
        bounds=proof.bounds,
        models=MODELS,
        paths=proof.paths,
        confirmed=proof.confirmed,
        unconfirmed=proof.unconfirmed,
        bounded=proof.bounded,
        samples=proof.samples,
        undecided=proof.undecided,
        seconds=round(proof.seconds, 1),
        findings=() if shown is None else (counterexample(question, shown),),
        interrupted=proof.interrupted,
    )


def _print(printed: ProveDocument) -> None:
    out = console()
    for finding in printed.findings:
        say(out, finding.line)
        for line in finding.differs:
            say(out, f"  {line}")
        for part in finding.compared:
            say(out, f"  {printed.target}: {part.expected}; {printed.against}: {part.actual}")
        if finding.vector is not None:
            say(out, f"  vector: {msgspec.json.encode(finding.vector).decode()}")
        else:
            say(out, "  no conformance vector says this: it depends on other fields of the coin")
    if printed.verdict != "different":
        for line in (*printed.bounds, *(f"model: {model}" for model in printed.models)):
            say(out, line)
    if printed.unconfirmed:
        say(out, f"no input was found of {counted(printed.unconfirmed, 'path', ',')}")
    if printed.bounded:
        what = "evidence or a state of which larger ones are left out"
        say(out, f"on {counted(printed.bounded, 'path', ',')}, a program looks at {what}")
    for gap in printed.undecided:
        say(out, gap.line)
    if printed.interrupted:
        say(out, "interrupted: not every size of the move was compared")
    say(out, last_line(printed))


def last_line(printed: ProveDocument) -> str:
    """The result in one sentence."""
    what = f"{printed.validator} of {printed.target} and of {printed.against}"
    if printed.verdict == "different":
        return f"different: {what}; {printed.summary}"
    runs = f"{counted(printed.paths, 'path', ',')}, {printed.confirmed:,} of them run for real"
    where = "" if printed.verdict == "undecided" else " on every input within the bounds"
    return (
        f"{printed.verdict}: {what}{where}: {runs};"
        f" {counted(printed.samples, 'input', ',')} run besides; {printed.seconds:,.1f} s"
    )
