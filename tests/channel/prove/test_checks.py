"""Checks by real runs: lemmas, hand values and showdowns, with planted mistakes in programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from channelsim.channel.lab.mutants.kinds import Mutant
from channelsim.channel.lab.mutants.report import all_mutants
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove import proof_file
from channelsim.channel.prove.checked import BATCH, checks_of
from channelsim.channel.prove.lemma_checks import functions_named
from channelsim.channel.prove.lemma_counts import with_checks
from channelsim.channel.prove.proof import PartResult, Proof, make_question
from channelsim.channel.prove.rules.claim import claims_of_rules
from channelsim.channel.prove.showdowns import showdown_checks
from channelsim.channel.prove.survivors import is_left, named
from channelsim.clsp.programs import Program, with_symbols
from channelsim.clsp.values import int_to_atom, serialize
from tests.channel.command import channelsim


@cache
def mutants(name: str, validator: str) -> tuple[Mutant, ...]:
    return tuple(all_mutants(load(name), validator))


def changed(name: str, validator: str, function: str, change: str) -> Target:
    """A target whose program has one change, with the names of its functions."""
    target = load(name)
    program = next(
        mutant.program
        for mutant in mutants(name, validator)
        if mutant.function == function and mutant.change.startswith(change)
    )
    mutant = named(with_symbols(target.programs[validator]), Program(program))
    return replace(target, programs={**target.programs, validator: mutant})


def with_constant(validator: str, name: str, function: str, old: int, new: int) -> Target:
    """A poker game with another constant in a function of a validator, where it stands first."""
    target = load(name)
    original = with_symbols(target.programs[validator])
    ((body, _),) = functions_named(function, original, original.value)
    constant = serialize((b"\x01", int_to_atom(old)))
    assert constant in serialize(body)
    changed_body = serialize(body).replace(constant, serialize((b"\x01", int_to_atom(new))), 1)
    assert original.serialized.count(serialize(body)) == 1
    program = Program(original.serialized.replace(serialize(body), changed_body))
    return replace(target, programs={**target.programs, validator: named(original, program)})


def differences(target: Target, validator: str, inputs: int = 300) -> dict[str, str]:
    return {check.name: check.check(0).differs for check in checks_of(target, validator, inputs)}


@pytest.mark.parametrize(
    ("name", "validator"),
    [
        *(("spacepoker", "end"), ("calpoker", "c"), ("calpoker", "e"), ("omaha8", "end")),
        ("razz", "begin"),
        *(
            pytest.param(game, validator, marks=pytest.mark.long)
            for game, validator in (
                *(("chinese", "score"), ("holdem", "end"), ("lowball-27", "end"), ("razz", "end")),
            )
        ),
    ],
)
def test_functions_of_our_games_agree(name: str, validator: str) -> None:
    differs = differences(load(name), validator)
    assert differs
    assert set(differs.values()) == {""}


@pytest.mark.parametrize(
    ("name", "validator", "function", "change", "check"),
    [
        ("spacepoker", "end", "value_of_groups", "32 -> 31", "the value of five cards"),
        ("spacepoker", "end", "value_of_groups", "(f groups) -> (f (r", "the value of five cards"),
        ("spacepoker", "end", "compare", "(= (f ours) (f theirs)) -> 1", "the better of two hands"),
        ("calpoker", "c", "lift", "gone -> passed", "the deal of California Poker"),
    ],
)
def test_a_wrong_function_is_found(
    name: str, validator: str, function: str, change: str, check: str
) -> None:
    target = changed(name, validator, function, change)
    differs = [
        each.check(0).differs
        for each in checks_of(target, validator, 3000)
        if each.name == f"compared: {check}"
    ]
    assert len(differs) == 1
    # Groups are at most 30, or more than 33.
    assert differs[0].startswith("false for 0x") is not change.startswith("32 -> 31")


@pytest.mark.parametrize(
    ("game", "validator", "function", "old", "new", "name"),
    [
        ("holdem", "end", "due", 4, 3, "the share of two claims"),
        ("holdem", "end", "claim_of", -1, 5, "the claim of a selection"),
        ("razz", "begin", "weight", 16, 15, "the value of 4 open cards"),
        ("razz", "begin", "number_of", 52, 56, "the value of 2 open cards"),
    ],
)
def test_a_wrong_constant_of_poker_is_found(
    game: str, validator: str, function: str, old: int, new: int, name: str
) -> None:
    target = with_constant(validator, game, function, old, new)
    checks = checks_of(target, validator, 500)
    (check,) = (check for check in checks if check.name == f"compared: {name}")
    assert check.check(0).differs.startswith("false for 0x")


def test_a_function_that_a_program_lacks_is_not_passed_over() -> None:
    target = load("spacepoker")
    nameless = replace(target.programs["end"], symbols={"00": "another"})
    check = next(checks_of(replace(target, programs={"end": nameless}), "end", 10))
    batch = check.check(0)
    assert not batch.inputs
    assert batch.differs == "the program has no function `hand_value`"


WRONG_SHARES: dict[str, Callable[[], Target]] = {
    "spacepoker": lambda: changed("spacepoker", "end", "main", "half_pot -> "),
    "calpoker": lambda: changed("calpoker", "e", "main", "AMOUNT -> "),
}


@pytest.mark.parametrize("name", WRONG_SHARES)
def test_a_showdown_with_the_wrong_share_is_a_counterexample(name: str) -> None:
    target = load(name)
    last = list(target.game.validators)[-1]
    (check,) = showdown_checks(target, last, 1)
    batch = check.check(0)
    assert batch.counterexample is None
    assert batch.inputs
    wrong = replace(check, obeys=replace(check.obeys, target=WRONG_SHARES[name]()))
    counterexample = wrong.check(0).counterexample
    assert counterexample is not None
    assert wrong.is_broken(counterexample)


def test_every_input_is_in_one_batch() -> None:
    check = next(checks_of(load("spacepoker"), "end", 10**7))
    assert check.inputs == 2 * 13**5
    assert (check.batches - 1) * BATCH < check.inputs <= check.batches * BATCH
    assert check.check(check.batches - 1).inputs == check.inputs % BATCH


@pytest.mark.long
def test_a_proof_says_on_how_many_inputs_its_lemma_was_compared() -> None:
    target = load("calpoker")
    (rules,) = claims_of_rules(target, "c")
    proofs = [Proof(make_question(rules, (target,), "c", 0))]
    (check,) = checks_of(target, "c", 3 * BATCH)
    proofs.append(Proof(make_question(check, (target,), "c")))
    assert "compared on 5,000 inputs" in with_checks(proofs)[0].lemmas[0]
    proofs[1].parts = [PartResult(number, samples=BATCH) for number in range(3)]
    counted, checked = with_checks(proofs)
    assert checked.verdict == "checked"
    assert "compared on 60,000 inputs" in counted.lemmas[0]
    proofs[1].parts[2] = PartResult(2, samples=7, undecided=(("false for 0x05", "", 1),))
    counted, checked = with_checks(proofs)
    assert checked.verdict == counted.verdict == "undecided"
    assert counted.undecided[0].reason == "a lemma does not hold: false for 0x05"
    assert "compared on 5,000 inputs" in counted.lemmas[0]


def test_checks_by_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "checks.json"
    options = ("--validator", "c", "--checks", "--inputs", 50, "--jobs", 1)
    stored = ("--proof", file, "--out", tmp_path / "out")
    ran = channelsim(capsys, "prove", "calpoker", *options, *stored)
    assert ran.code == 0
    line = "checked, not proved: c of calpoker (compared: the deal of California Poker): 50 inputs"
    assert line in ran.out
    assert "`deal` is compared, not proved, on 50 drawn inputs" in ran.out
    (proof,) = proof_file.read(file).proofs
    assert (proof.verdict, proof.samples, proof.is_proved) == ("checked", 50, False)
    again = channelsim(capsys, "prove", "calpoker", *options, "--out", tmp_path / "out", "--resume")
    assert again.code == 0
    assert line in again.out


def test_a_check_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--inputs", 40, "--jobs", 1, "--json")
    ran = channelsim(capsys, "prove", "calpoker", "--check", "better", "--check", "deal", *options)
    assert ran.code == 0
    claims = [result["claim"] for result in json.loads(ran.out)["proofs"]]
    assert claims == ["compared: the deal of California Poker", "compared: the better of two hands"]


@pytest.mark.parametrize(
    ("target", "options", "reason"),
    [
        (
            "calpoker",
            ("--checks", "--validator", "a"),
            "there is nothing that its game has checked",
        ),
        (
            "calpoker",
            ("--check", "the key", "--validator", "e"),
            "e: no check has 'the key' in its name; known: 'compared: the value of five cards'",
        ),
        ("calpoker", ("--inputs", 5, "--law", "cost"), "leave --against and --law out"),
        ("calpoker", ("--checks", "--against", "calpoker"), "leave --against and --law out"),
    ],
)
def test_wrong_use(
    capsys: pytest.CaptureFixture[str], target: str, options: tuple[object, ...], reason: str
) -> None:
    ran = channelsim(capsys, "prove", target, *options)
    assert ran.code == 2
    assert reason in ran.err


@pytest.mark.parametrize(
    ("function", "left"), [("main", True), ("deal", False), ("lift", False), ("merge", False)]
)
def test_a_lemma_is_kept_where_a_mutant_leaves_its_function_as_it_is(
    function: str, left: bool
) -> None:
    target = load("calpoker")
    original = with_symbols(target.programs["c"])
    for mutant in [m for m in mutants("calpoker", "c") if m.function == function][::9]:
        changed_program = named(original, Program(mutant.program))
        assert is_left("deal", original, changed_program) is left, mutant.change
