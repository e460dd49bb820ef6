"""Mistakes planted in the programs of poker are refuted, and the programs themselves are not."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree
from time import thread_time

import pytest

from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.prove import lemma_checks, shapes
from channelsim.channel.prove.proof import PartResult, Question, examine
from channelsim.channel.prove.questions import Bounds, questions
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import SOURCE
from tests.sampling import one_in

LIMITS, FOLLOWING, MID = "limits.clinc", "following.clinc", "mid.clsp"

RIVER, TURN, FLOP = ("mid", 1), ("mid", 3), ("mid", 5)
"""Validators with numbers of shapes: the button does not move, with one street left or more."""

PLANTED = {
    "a least raise of one more": (RIVER, 2, LIMITS, "(not (> full x))", "(> x full)"),
    "a long raise beyond the stake": (RIVER, 3, LIMITS, "(+ x put) stake))", "x stake))"),
    "a wrong share of the pot": (RIVER, 2, MID, "(- stake put)", "(- stake mover_put)"),
    "a seat that stays": (RIVER, 2, MID, "(turned known) (swapped seats)", "(turned known) seats"),
    "a bet of a player that is all-in": (
        *(TURN, 33, FOLLOWING),
        "(if streets (= put stake) 1)",
        "(not streets)",
    ),
    "a street too early": (FLOP, 33, MID, "(after_round later", "(after_round (r later)"),
}
"""The shape, the first size of the moves, the source, and what its text is replaced by."""


@pytest.fixture(autouse=True)
def fewer_hands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for shapes in fewer hands: those of the tests are common ones."""
    monkeypatch.setattr(shapes, "QUIET", 100)


@cache
def holdem() -> Target:
    return load("holdem")


@cache
def question(validator: str, shape: int) -> Question:
    """The claim that the program obeys its rules in states of a shape."""
    obeys, _ = questions((holdem(),), validator, Bounds(shape=shape))
    return obeys


def examined(asked: Question, size: int) -> PartResult:
    return examine(asked, size, thread_time() + 30)


def about(asked: Question, target: Target) -> Question:
    """The same question about another target with the same rules."""
    claim = replace(asked.claim, target=target)  # type: ignore[type-var]
    return replace(asked, targets=(target,), claim=claim)


@pytest.mark.long
@pytest.mark.parametrize("name", one_in(6, PLANTED))
def test_a_mistake_in_a_program_is_refuted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lemma_checks, "CHECKS", 5)
    (validator, shape), size, file, text, instead = PLANTED[name]
    sources = tmp_path / "source"
    copytree(SOURCE, sources)
    changed = sources / "poker" / file
    assert text in changed.read_text()
    changed.write_text(changed.read_text().replace(text, instead))
    target = holdem()
    others = {f"poker/{other}": program for other, program in target.programs.items()}
    others["poker/draw"] = load("five-draw").programs["draw"]
    program = compile_source(sources / "poker" / f"{validator}.clsp", [sources], others)
    mutant = replace(target, programs={**target.programs, validator: program})
    assert examined(about(question(validator, shape), mutant), size).counterexample


@pytest.mark.long
def test_a_program_of_poker_is_not_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises of any length up to that of an amount are one part of a proof."""
    monkeypatch.setattr(lemma_checks, "CHECKS", 5)
    asked = question(*RIVER)
    assert asked.ranges[3] >= 10
    part = examined(asked, 3)
    assert (part.counterexample, part.undecided, part.unconfirmed) == ("", (), 0)
    assert min(part.endings["valid"], part.endings["slash"]) > 0
