"""Random programs with functions, one word of which changes: "equal" has to survive real runs."""

from __future__ import annotations

from collections import Counter
from time import thread_time

import pytest

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.concrete_runs import differ
from channelsim.channel.prove.modular.mutant import Original, is_equal
from channelsim.channel.prove.modular.state import Unsupported
from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramValid, run
from tests.channel.prove.modular.programs import program
from tests.channel.prove.programs import FORMS
from tests.channel.prove.test_random_programs import changed, environment, expression

RUNS = 60
SECONDS = 2.0

ARGUMENTS = {"MOVE": "$0", "SHARE": "$1", "AMOUNT": "$2", "STATE": "$0", "EVIDENCE": "$1"}
COUNT = "(if (l $0) (+ 1 (call count (r $0))) 0)"


def drawn(chance: FastChance) -> dict[str, list[str]]:
    """The words of a program and of its functions, by their names."""
    main = ["(", "call", "outer", *_operands(chance, 3), ")"]
    outer = expression(chance, 2)
    calls = ["(", "call", "inner", *_operands(chance, 2), ")"]
    if chance.random() < 0.3:
        calls = ["(", "+", *calls, "(", "call", "count", "EVIDENCE", ")", ")"]
    test = expression(chance, 1)
    outer = ["(", "if", *test, *(outer + calls if chance.random() < 0.5 else calls + outer), ")"]
    return {"main": main, "outer": outer, "inner": expression(chance, 2)}


def _operands(chance: FastChance, number: int) -> list[str]:
    return [word for _ in range(number) for word in expression(chance, 1)]


def made(words: dict[str, list[str]]) -> Program:
    """The program of these words; those of a function are about its own arguments."""
    main = " ".join(f"${word}" if word in ARGUMENTS else word for word in words["main"])
    functions = {
        name: " ".join(ARGUMENTS.get(word, word) for word in words[name])
        for name in ("outer", "inner")
    }
    return program(main, {**functions, "count": COUNT})


def check(seed: int) -> str:
    """Compare a random program with a changed one; the verdict."""
    chance = FastChance(seed.to_bytes(4, "big"))
    words = drawn(chance)
    name = chance.pick(tuple(words))
    original, mutant = made(words), made({**words, name: changed(chance, words[name])})
    if original == mutant:
        return "no change"
    try:
        reason = is_equal(Original(original, FORMS["number"]), mutant, thread_time() + SECONDS)
    except Unsupported:
        return "unknown"
    if not reason:
        return "unknown"
    returns = False
    for _ in range(RUNS):
        arguments = environment(chance, chance.below(4))
        ends = [run(each, arguments) for each in (original, mutant)]
        assert not differ(*ends), (words, name, mutant.serialized.hex())
        returns = returns or isinstance(ends[0], ProgramValid)
    return "equal" if returns else "raises"


@pytest.mark.long
def test_programs_that_are_called_equal_agree_in_real_runs() -> None:
    verdicts = Counter(check(seed) for seed in range(200))
    assert verdicts["equal"] >= 20


@pytest.mark.long
def test_many_programs_that_are_called_equal_agree_in_real_runs() -> None:
    verdicts = Counter(check(seed) for seed in range(1000, 21000))
    assert verdicts["equal"] >= 2000
