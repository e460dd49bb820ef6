"""The row "proofs" of `conform`: a file is accepted, or its claims are proved again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.campaign.campaign import here
from channelsim.channel.cli.work.prove import document
from channelsim.channel.documents.conform import CheckResult, Status
from channelsim.channel.errors import UsageError
from channelsim.channel.kit import proofs as row
from channelsim.channel.kit.conformance import Effort, Subject
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove import questions as asking
from channelsim.channel.prove.campaign import proof_campaign
from channelsim.channel.prove.claims import Claim, Equal
from channelsim.channel.prove.proof_file import ProofFile
from channelsim.channel.prove.questions import questions
from channelsim.games.vectors import Case
from tests.channel.prove.programs import assemble
from tests.channel.prove.test_campaign import OTHER, SAME, WRONG
from tests.channel.prove.test_campaign import target as write_target

PLAYED = Case(
    id="first-pay-00000",
    tag="honest",
    game="first",
    validator="pay",
    amount=100,
    mover_share=0,
    max_move_size=1,
    move="05",
    state="0x",
    evidence="0x",
    expect="valid",
)


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Target:
    """A target of one validator, about which one claim is made: it is equal to another program."""
    claim_that_it_is(OTHER, monkeypatch)
    loaded = load(str(write_target(tmp_path, "first", pay=SAME)), partial=True)
    return replace(loaded, honest=(PLAYED,))


def claim_that_it_is(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make one claim about each validator: that it is equal to this program."""

    def claims(target: Target, name: str) -> Iterator[Claim]:
        yield Equal((target.name, "another"), (target.programs[name], assemble(text)))

    monkeypatch.setattr(asking, "KINDS", (claims,))


def proved(target: Target) -> ProofFile:
    campaign = proof_campaign(questions((target,)), seconds=20)
    return document(campaign.run(here(campaign)), 20).proof_file()


def checked(target: Target, path: Path | None, seconds: float = 20.0) -> CheckResult:
    return row.proofs(Subject(target, Effort(proofs=path, seconds=seconds)))


def written(folder: Path, file: ProofFile) -> Path:
    path = folder / "proofs.json"
    path.write_bytes(file.json())
    return path


def test_without_a_file_nothing_is_checked(target: Target) -> None:
    result = checked(target, None)
    assert result.result is Status.NOT_CHECKED
    assert f"channelsim prove {target.source} --proof proofs.json" in result.unchecked


def test_a_file_of_these_programs_is_accepted(target: Target, tmp_path: Path) -> None:
    path = written(tmp_path, proved(target))
    result = checked(target, path, seconds=0.1)
    assert (result.result, result.tried) == (Status.PASSED, "1 claim proved, as the file states")
    assert row.own_proofs(target) == path


@pytest.mark.long
def test_other_programs_and_versions_are_proved_again(target: Target, tmp_path: Path) -> None:
    file = proved(target)
    (proof,) = file.proofs
    sides = proof.sides | {"program of first": "00" * 32}
    for other in (
        msgspec.structs.replace(file, versions={"channelsim": "0", "z3": "0"}),
        msgspec.structs.replace(file, proofs=()),
        msgspec.structs.replace(file, proofs=(msgspec.structs.replace(proof, sides=sides),)),
        msgspec.structs.replace(file, proofs=(msgspec.structs.replace(proof, pairs=9),)),
    ):
        result = checked(target, written(tmp_path, other))
        assert (result.result, result.tried) == (Status.PASSED, "1 claim proved again")


def test_what_is_not_proved_in_time_does_not_pass(target: Target, tmp_path: Path) -> None:
    file = msgspec.structs.replace(proved(target), proofs=())
    result = checked(target, written(tmp_path, file), seconds=0.0)
    assert result.result is Status.NOT_CHECKED
    assert "undecided: equal: pay (not in the file; the time is over)" in result.unchecked


def test_a_forged_number_of_paths_fails(target: Target, tmp_path: Path) -> None:
    """Its digest and its sums are right."""
    file = proved(target)
    (proof,) = file.proofs
    sizes = {size: paths + 1 for size, paths in proof.sizes.items()}
    more = proof.confirmed + len(sizes)
    forged = msgspec.structs.replace(proof, sizes=sizes, confirmed=more)
    result = checked(target, written(tmp_path, msgspec.structs.replace(file, proofs=(forged,))))
    (failure,) = result.failures
    assert result.result is Status.FAILED
    assert "where there are" in failure.text


def test_a_broken_claim_fails(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, msgspec.structs.replace(proved(target), proofs=()))
    claim_that_it_is(WRONG, monkeypatch)
    (failure,) = checked(target, path).failures
    assert failure.place == "pay"
    assert failure.text.startswith("not equal: ")


def test_a_bad_file_is_refused_before_the_work(target: Target, tmp_path: Path) -> None:
    path = written(tmp_path, proved(target))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UsageError, match="the file is not whole"):
        Subject(target, Effort(proofs=path))


def test_without_the_solver_nothing_is_checked(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row, "SOLVER", "no_such_solver")
    assert "pip install z3-solver" in checked(target, None).unchecked
