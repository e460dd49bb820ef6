"""A program without an end fails its first case, and the others are not run at full cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.kit import checks
from channelsim.channel.kit.conformance import Effort, Subject
from channelsim.channel.lab.cases.corpus import CaseRuns, not_run
from channelsim.channel.lab.crosscheck.vectors import make
from channelsim.channel.lab.mutants.enforcement import dropped_checks
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.clsp.run import MAX_COST, CostExceeded, observed, run_serialized
from channelsim.games import registry
from channelsim.games.vectors import Case
from tests.channel.lab.broken import ENDLESS, target_file

CASES = 60

pytestmark = pytest.mark.usefixtures("early_cut_offs")


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = tmp_path_factory.mktemp("endless")
    path = target_file(folder, "calpoker")
    (folder / "tree" / "calpoker" / "d.clsp").write_text(ENDLESS)
    return load(str(path))


@pytest.fixture(scope="module")
def cases() -> tuple[Case, ...]:
    made = make(of_game(registry.get("calpoker")), CASES, "endless")
    return tuple(case for case in made if case.validator in ("c", "d"))


@pytest.mark.long
def test_the_first_case_fails_and_the_others_are_not_run(
    target: Target, cases: tuple[Case, ...]
) -> None:
    runs = CaseRuns(target)
    stored = [runs.stored(case) for case in cases]
    of_d = [case for case in stored if case.program == "d"]
    assert len(of_d) > 3
    assert not of_d[0].stopped
    assert "got cost exceeded" in (of_d[0].differs or "")
    assert all(case.stopped and case.differs for case in of_d[1:])
    assert not any(case.differs for case in stored if case.program == "c")
    assert not_run(runs.stopped) == f"{len(of_d) - 1} cases of d, which was cut off before"
    assert not_run({}) == ""


@pytest.mark.parametrize("body", ["(concat x x)", "(c x x)"], ids=["doubles bytes", "shares parts"])
def test_what_fills_the_memory_is_found_out_as_well(body: str, tmp_path: Path) -> None:
    path = target_file(tmp_path, "calpoker")
    (tmp_path / "tree" / "calpoker" / "d.clsp").write_text(f"""
(mod (H A) (defun go (n x) (if n (go (- n 1) {body}) x)) (go 40 (sha256 H)))
""")
    subject = Subject(load(str(path)), Effort(cases=10 * CASES, seconds=0.1))
    assert "d" in subject.crosschecked.tally.runaway


def test_the_row_fails_and_counts_them(target: Target) -> None:
    subject = Subject(target, Effort(cases=10 * CASES, seconds=0.1))
    result = checks.vectors(subject)
    (failure,) = result.failures
    assert failure.place == "d"
    assert "of d, which was cut off before" in result.tried


def test_no_tests_are_dropped_in_a_program_that_was_cut_off(target: Target) -> None:
    changed = {mutant.validator for mutant in dropped_checks(target)}
    assert {"c", "e"} <= changed
    assert {mutant.validator for mutant in dropped_checks(target, {"c"})} == changed - {"c"}


def test_a_run_that_was_cut_off_is_not_run_twice(target: Target, cases: tuple[Case, ...]) -> None:
    first = CaseRuns(target).stored(next(case for case in cases if case.validator == "d"))
    program = target.programs["d"].serialized
    asked: list[bytes] = []
    with observed(lambda _, arguments: asked.append(arguments)):
        assert run_serialized(program, first.arguments) == CostExceeded()
        assert run_serialized(program, first.arguments, MAX_COST // 1000) == CostExceeded()
    assert asked == [first.arguments] * 2
