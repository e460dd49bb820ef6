"""Random programs against a random change of each: "equal" has to survive many real runs."""

from __future__ import annotations

from collections import Counter
from time import thread_time

import pytest

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.prove.claims import Equal
from channelsim.channel.prove.comparison import examine_size
from channelsim.channel.prove.concrete_runs import differ, outcomes
from channelsim.channel.prove.inputs import Domain
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.programs import Program
from channelsim.clsp.values import Value, int_to_atom, to_list
from tests.channel.prove.programs import FORMS, assemble

UNARY = ("strlen", "sha256", "not", "lognot", "l", "f", "r")
BINARY = (
    *("+", "-", "*", "/", "%", "divmod", "=", ">", ">s", "logand", "logior", "logxor"),
    *("concat", "any", "all", "c", "ash", "lsh", "substr"),
)
LEAVES = ("MOVE", "SHARE", "AMOUNT", "STATE", "EVIDENCE", "MOVE", "SHARE", "()")
CONSTANTS = ("1", "2", "3", "7", "-1", "127", "128", "255", "256", "0x00", "0x0080", "0xff")
RUNS = 300


def expression(chance: FastChance, depth: int) -> list[str]:
    """The words of a random expression."""
    lot = chance.random()
    if depth == 0 or lot < 0.15:
        leaf = chance.pick(LEAVES) if chance.random() < 0.65 else chance.pick(CONSTANTS)
        return ["(", ")"] if leaf == "()" else [leaf]
    if lot < 0.3:
        return ["(", "if", *(w for _ in range(3) for w in expression(chance, depth - 1)), ")"]
    if lot < 0.5:
        return ["(", chance.pick(UNARY), *expression(chance, depth - 1), ")"]
    right = expression(chance, depth - 1)
    name = chance.pick(BINARY)
    if name in ("ash", "lsh", "substr"):
        right = [chance.pick(("0", "1", "2", "-1", "9"))]
    return ["(", name, *expression(chance, depth - 1), *right, ")"]


def changed(chance: FastChance, words: list[str]) -> list[str]:
    """The same with one word changed to another of its kind."""
    kinds = (UNARY, BINARY, LEAVES[:-1] + CONSTANTS)
    places = [n for n, word in enumerate(words) if any(word in kind for kind in kinds)]
    if not places:
        return words
    at = chance.pick(places)
    kind = next(kind for kind in kinds if words[at] in kind)
    return [*words[:at], chance.pick(kind), *words[at + 1 :]]


def environment(chance: FastChance, size: int) -> Value:
    """Random arguments, with values at edges."""
    numbers = (0, 1, 2, 3, 7, 127, 128, 129, 255, 256, 1000, (1 << 63) - 1)
    amount = chance.pick(numbers) if chance.random() < 0.7 else chance.below(1 << 63)
    share = min(amount, chance.pick(numbers))
    state = chance.pick(numbers) if chance.random() < 0.7 else chance.below(1 << 63)
    first = chance.pick((b"\x00", b"\x01", b"\x7f", b"\x80", b"\xff", chance.bytes(1)))
    move = b"" if not size else (first + chance.bytes(size - 1))
    atoms = (b"", b"\x00", b"\x01", b"\x80", b"\xff", b"\x00\x80", b"abc", chance.bytes(5))
    pair = (chance.pick(atoms), chance.pick(atoms))
    choices: tuple[Value, ...] = (*atoms, pair, (pair, chance.pick(atoms)))
    evidence = chance.pick(choices)
    coin = to_list(
        [
            *(b"\xaa" * 48, b"\xbb" * 48, b"\x0f", int_to_atom(amount), bytes(32), b"\x04"),
            *(move, b"\x20", b"", int_to_atom(share), b"x"),
        ]
    )
    return to_list([b"\x01" * 32, coin, int_to_atom(state), b"", evidence, b""])


def check(seed: int, seconds: float) -> str:
    """Compare a random program with a changed one; the verdict."""
    chance = FastChance(seed.to_bytes(4, "big"))
    words = expression(chance, 3)
    programs = [assemble(" ".join(text)) for text in (words, changed(chance, words))]
    size = chance.pick((0, 1, 2, 3))
    domain = Domain(
        (programs[0].hash, programs[1].hash, b"\x01" * 32), FORMS["number"], 3, pairs=2, atom=5
    )
    claim = Equal(("left", "right"), (programs[0], programs[1]))
    with deep():
        report = examine_size(claim, domain, size, thread_time() + seconds)
    if report.broken:
        assert report.counterexample is not None
        assert differ(*outcomes(programs, report.counterexample))
        return "different"
    if report.gaps:
        return "undecided"
    agree(programs, chance, size)
    return "equal"


def agree(programs: list[Program], chance: FastChance, size: int) -> None:
    for _ in range(RUNS):
        arguments = environment(chance, size)
        real = outcomes(programs, arguments)
        assert not differ(*real), (programs[0].serialized.hex(), programs[1].serialized.hex())


@pytest.mark.long
def test_equal_programs_agree_in_real_runs() -> None:
    # What takes longer is undecided here: three of these programs.
    verdicts = Counter(check(seed, 0.3) for seed in range(24))
    assert verdicts["equal"] >= 2
    assert verdicts["different"] >= 8


@pytest.mark.long
def test_many_equal_programs_agree_in_real_runs() -> None:
    verdicts = Counter(check(seed, 5.0) for seed in range(1000, 3000))
    assert verdicts["equal"] >= 100
    assert verdicts["different"] >= 500
