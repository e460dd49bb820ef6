"""Each kind of mutation, and that a program's mutants are all different."""

from __future__ import annotations

import pytest

from channelsim.channel.lab.mutants.kinds import KINDS, mutants
from channelsim.channel.lab.targets.target import REFEREE, of_game
from channelsim.clsp.programs import Program
from channelsim.clsp.values import deserialize
from channelsim.games import registry
from tests.channel.lab.mutants.programs import Written, module, program, q
from tests.menu import each_game

COMPARED: Written = (2, (3, (21, 5, q(31)), q(q(4)), q((8,))), 1)


def made(written: Program, kind: str) -> list[str]:
    found = [mutant for mutant in mutants("v", written) if mutant.kind == kind]
    return [f"{mutant.old} -> {mutant.new}" for mutant in found]


EXPECTED: dict[str, tuple[Program, set[str]]] = {
    "operator": (program(COMPARED), {"(> @5 31) -> (= @5 31)", "(> @5 31) -> (>s @5 31)"}),
    "operator dropped": (program((13, 5)), {"(strlen @5) -> @5"}),
    "f for r": (program((5, 2)), {"(f @2) -> (r @2)"}),
    "constant": (program(COMPARED), {"31 -> 32", "31 -> 30", "4 -> 5", "4 -> 3"}),
    "check dropped": (program(COMPARED), {"(> @5 31) -> 1", "(> @5 31) -> ()"}),
    "branches swapped": (program((3, 2, 5, q(1))), {"(i @2 @5 1) -> (i @2 1 @5)"}),
    "field": (program(11), {"@11 -> @15", "@11 -> @23", "@11 -> @5"}),
    "operands swapped": (program((17, 2, 5)), {"(- @2 @5) -> (- @5 @2)"}),
    "raise dropped": (program(COMPARED), {"(x) -> ()", "(x) -> 1"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind(kind: str) -> None:
    written, expected = EXPECTED[kind]
    assert set(made(written, kind)) == expected


def test_items_of_a_list_are_swapped() -> None:
    pairs = made(program((4, 2, (4, 5, 0))), "operands swapped")
    assert "(list @2 @5) -> (list @5 @2)" in pairs


def test_hashes_are_changed_by_a_bit_and_by_a_byte() -> None:
    from channelsim.clsp.values import serialize

    long = bytes(range(32))
    written = Program(serialize((b"\x01", long)))
    found = [deserialize(mutant.program)[1] for mutant in mutants("v", written)]
    assert found == [
        *(long[:-1] + b"\x1e", b"\x80" + long[1:]),
        *(long[:-1], long + b"\x00"),
    ]


def test_what_commutes_is_left_alone() -> None:
    assert made(program((16, 2, 5)), "operands swapped") == []
    assert made(program((9, 2, 5)), "operands swapped") == []


def test_data_is_left_alone_and_code_is_not() -> None:
    data = made(program((4, q((16, 2, 5)), 0)), "operator")
    assert data == []
    assert made(module((2, 2, (4, 2, (4, 5, 0))), (16, 5, 5)), "operator") != []


@each_game
def test_every_mutant_is_another_program_with_a_name_of_its_own(game: str) -> None:
    target = of_game(registry.get(game))
    kinds = set()
    for name, original in (*target.programs.items(), (REFEREE, target.referee)):
        found = mutants(name, original, target.symbols.get(name))
        blobs = {mutant.program for mutant in found}
        assert len(blobs) == len(found)
        assert original.serialized not in blobs
        assert len({(mutant.function, mutant.change) for mutant in found}) == len(found)
        kinds |= {mutant.kind for mutant in found}
    assert kinds == set(KINDS)
