"""The prover asked about mutants that survived."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from channelsim.channel.campaign.campaign import here
from channelsim.channel.cli.work.mutants import survivor_text
from channelsim.channel.lab.mutants.hunt import MutantResult
from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.report import MutantProof
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import REFEREE
from channelsim.channel.prove.survivors import survivor_proofs
from tests.channel.command import channelsim
from tests.channel.prove.test_proof import COMMIT_B, rewritten
from tests.channel.written_documents import mutants, survivor

WRONG = {"(= (strlen MOVE) 32)": "(= (strlen MOVE) (if (= AMOUNT 98765432100) 31 32))"}


def mutant(validator: str, program: bytes, place: int) -> MutantResult:
    changed = Mutant(validator, "main", 1, "constant", "32", "31", "", program)
    return MutantResult(changed, place)


@pytest.mark.long
def test_equal_and_different_mutants_are_told_apart(tmp_path: Path) -> None:
    target = load("spacepoker")
    programs = []
    for name, changes in (("equal", COMMIT_B), ("wrong", WRONG)):
        folder = tmp_path / name
        folder.mkdir()
        other = load(str(rewritten(folder, "commitB", changes)))
        programs.append(other.programs["commitB"].serialized)
    results = [
        mutant(REFEREE, target.referee.serialized, 3),
        mutant("commitB", programs[0], 5),
        mutant("commitB", programs[1], 7),
    ]
    campaign, places = survivor_proofs(target, results, seconds=30)
    assert campaign is not None
    assert list(places) == [5, 7]
    proofs, interrupted = campaign.run(here(campaign))
    assert not interrupted
    equal, different = proofs[0], proofs[1]
    assert (equal.verdict, equal.text) == ("equal", "equivalent, proved")
    assert different.verdict == "different"
    assert "of 98,765,432,100" in different.text


def test_without_time_nothing_is_proved() -> None:
    target = load("spacepoker")
    results = [mutant("mid_round", target.programs["mid_round"].serialized + b"", 0)]
    campaign, _ = survivor_proofs(target, results, seconds=0.0)
    assert campaign is not None
    (proof,) = campaign.run(here(campaign))[0].values()
    assert proof.verdict == "undecided"
    assert "the time is over" in proof.text


@pytest.mark.long
def test_a_proof_takes_the_place_of_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--validator", "mid_round", "--seconds", 0.1, "--jobs", 1, "--quiet", "--argued")
    asked = channelsim(capsys, "mutants", "spacepoker", *options, "--prove-seconds", 20)
    assert "2 proved, 0 argued, 0 open" in asked.out
    assert "equivalent, proved: mid_round, main" in asked.out


def test_a_survivor_is_open_without_a_reason_or_a_proof() -> None:
    plain = survivor()
    equal = msgspec.structs.replace(plain, proof=MutantProof("equal"))
    shown = msgspec.structs.replace(plain, proof=MutantProof("different", ("share: 1 of 2",)))
    assert [each.is_open for each in (plain, equal, shown, survivor("argued"))] == [
        *(True, False, True, False)
    ]
    assert mutants(equal).every_finding() == ()
    (finding,) = mutants(shown).every_finding()
    assert finding.differs == ("an input shows it: share: 1 of 2",)
    assert survivor_text(equal).startswith("equivalent, proved: ")
    assert survivor_text(shown).endswith("; an input shows it: share: 1 of 2")
