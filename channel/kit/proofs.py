"""The check of proofs: those in a file are of these programs, or the claims are proved again.

A file is taken at its word where it belongs to what is at hand: the same programs, rules, bounds
and versions. So that an edited file shows itself, a size of the move of each proof is examined
again, and has to have as many paths as the file says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from time import thread_time
from typing import TYPE_CHECKING

from channelsim.channel import __version__
from channelsim.channel.documents.conform import CheckResult
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.kit.conformance import Subject, failed_check
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove import proof_file
from channelsim.channel.prove.result import COMPARED, NO_SOLVER, ProofResult
from channelsim.games.amounts import counted
from channelsim.games.registry import package_of

if TYPE_CHECKING:
    from channelsim.channel.prove.proof import Question

PROOFS = "proofs"
"""The name of the check."""

SOLVER = "z3"

SHORT = 1.0
"""Seconds of work for the size of a move that is examined again, of each proof."""


def own_proofs(target: Target) -> Path | None:
    """The file of proofs in an installed game's package, or beside a target's file; None where
    there is none."""
    if target.rules is not None and target.rules == target.source:
        package = package_of(target.rules)
        path = files(package) / proof_file.NAME if package else None
    else:
        path = Path(target.source).parent / proof_file.NAME
    return path if isinstance(path, Path) and path.is_file() else None


@dataclass
class _Tally:
    """The claims that were proved before, and again, and what is wrong or open with the others."""

    stated: int = 0
    again: int = 0
    open: list[str] = field(default_factory=list)
    failures: list[Finding] = field(default_factory=list)


def proofs(subject: Subject) -> CheckResult:
    """Every claim about the programs is proved, by a file of these programs or once more."""
    target, path = subject.target, subject.effort.proofs
    if find_spec(SOLVER) is None:
        return CheckResult(PROOFS, unchecked=NO_SOLVER)
    if not target.present:
        return CheckResult(PROOFS, unchecked=f"needs a program of {', '.join(target.missing)}")
    if path is None:
        command = f"channelsim prove {target.source or target.name} --proof {proof_file.NAME}"
        return CheckResult(PROOFS, unchecked=f"no file of proofs; `{command}` makes one")
    return _checked(target, path, subject.effort.seconds)


def _checked(target: Target, path: Path, seconds: float) -> CheckResult:
    """Check the file at this path; so many seconds of work for what is proved again."""
    from channelsim.channel.prove.counterexample import Counterexample
    from channelsim.channel.prove.in_play import in_play
    from channelsim.channel.prove.proof import prove
    from channelsim.channel.prove.questions import questions

    file, tally = proof_file.read(path), _Tally()
    deadline = thread_time() + seconds
    try:
        asked = questions((target,))
    except UsageError as error:
        return CheckResult(PROOFS, unchecked=str(error))
    for question in asked:
        shape = "" if question.shape is None else question.shape.name
        stored = file.proof(question.validator, question.claim.name, shape)
        why = _reason_not_to_accept(file, stored, question)
        if not why and stored is not None:
            edited = _edited(stored, question)
            if edited:
                text = f"{path}: {stored.name}: {edited}"
                tally.failures.append(failed_check(PROOFS, text, question.validator))
            else:
                tally.stated += 1
            continue
        proof = prove(question, max(0.0, deadline - thread_time()))
        if proof.interrupted:
            raise KeyboardInterrupt
        if proof.broken:
            tally.failures.append(in_play(Counterexample.of(proof)))
        elif proof.verdict == "undecided":
            reasons = dict.fromkeys(gap.reason for gap in proof.undecided)
            tally.open.append(f"{proof.name} ({why}; {', '.join(reasons)})")
        else:
            tally.again += 1
    if tally.open and not tally.failures:
        return CheckResult(PROOFS, unchecked="; ".join(_tried(tally)))
    return CheckResult(PROOFS, "; ".join(_tried(tally)), tuple(tally.failures))


def _tried(tally: _Tally) -> Iterator[str]:
    """The parts of the row's text."""
    if tally.stated:
        yield f"{counted(tally.stated, 'claim')} proved, as the file states"
    if tally.again:
        yield f"{counted(tally.again, 'claim')} proved again"
    if tally.open:
        yield f"undecided: {', '.join(tally.open)}"


def _reason_not_to_accept(
    file: proof_file.ProofFile, stored: ProofResult | None, question: Question
) -> str:
    """The reason why the file does not decide a question; "" if it does."""
    import z3

    from channelsim.channel.prove.claims import lemmas_used
    from channelsim.channel.prove.result import MODELS
    from channelsim.channel.prove.sides import side_digests

    if stored is None:
        return "not in the file"
    if not stored.is_proved:
        return f"{stored.verdict} in the file"
    if file.versions != {"channelsim": __version__, "z3": z3.get_version_string()}:
        return "proved by other versions"
    sides = side_digests(question.targets, question.validator)
    changed = [
        name for name in {**sides, **stored.sides} if sides.get(name) != stored.sides.get(name)
    ]
    if changed:
        return f"not of this {changed[0]}"
    claim = question.claim
    mine = (question.longest, question.pairs, question.atom, question.bounds)
    theirs = (stored.longest, stored.pairs, stored.atom, stored.bounds)
    rests = (claim.assumes, _uncounted(lemmas_used(claim)), MODELS)
    if mine != theirs or rests != (stored.assumes, _uncounted(stored.lemmas), file.models):
        return "proved within other bounds"
    return ""


def _uncounted(lemmas: tuple[str, ...]) -> tuple[str, ...]:
    """The lemmas without the number of inputs on which each was compared."""
    return tuple(lemma.partition(COMPARED)[0] for lemma in lemmas)


def _edited(stored: ProofResult, question: Question) -> str:
    """The difference between a proof and one of its sizes, examined again; "" for none.

    The size with the fewest paths that has any: the answer takes a moment.
    """
    from channelsim.channel.prove.proof import examine
    from channelsim.channel.prove.solver import LATE

    size = min(question.sizes, key=lambda size: (not stored.sizes[size], stored.sizes[size], size))
    part = examine(question, size, thread_time() + SHORT)
    if any(reason == LATE for reason, _, _ in part.undecided):
        return ""
    if part.counterexample:
        return f"an input breaks it, with a move of {counted(size, 'byte')}"
    if part.undecided:
        return f"undecided for moves of {counted(size, 'byte')}: {part.undecided[0][0]}"
    if part.paths != stored.sizes[size]:
        return (
            f"{counted(stored.sizes[size], 'path')} for moves of {counted(size, 'byte')},"
            f" where there are {part.paths}"
        )
    return ""
