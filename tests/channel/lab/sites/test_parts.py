"""Parts of moves: filled with one byte, and moved by constants of a program or its state."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.parts import with_changed_part
from channelsim.channel.lab.sites.program_words import GROUP_ORDER, constants, lengths
from channelsim.channel.lab.sites.values import moved
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.compiler import compile_set
from channelsim.clsp.programs import Program
from channelsim.clsp.values import atom_to_int, int_to_atom
from channelsim.games import registry

LIMIT = 0x0BADC0DE55

PROGRAM = f"""
(mod (H (() () () () () () MOVE))
  (include *standard-cl-23*)
  (defconstant LIMIT {LIMIT})
  (defun is_limited (number limit) (> limit (+ number limit)))
  (if (is_limited (substr MOVE 2 7) LIMIT) (= (substr MOVE 0 2) (substr MOVE 7)) ())
)
"""

MOVE = bytes(range(65, 77))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    source = tmp_path_factory.mktemp("parts") / "parts.clsp"
    source.write_text(PROGRAM, "utf-8")
    return compile_set({"parts": source}, [], {}).programs["parts"]


def changed(
    program: Program, atoms: tuple[bytes, ...] = (), move: bytes = MOVE, count: int = 4000
) -> set[bytes]:
    chance = FastChance(b"parts")
    return {with_changed_part(move, program, atoms, chance) for _ in range(count)}


def test_cuts_and_constants_are_read_from_the_program(program: Program) -> None:
    assert lengths(program).cuts == (2, 7)
    assert LIMIT.to_bytes(5, "big") in constants(program)
    assert GROUP_ORDER not in constants(program)


def test_a_part_is_filled_with_one_of_its_bytes(program: Program) -> None:
    moves = changed(program)
    assert {bytes([byte]) * len(MOVE) for byte in MOVE} <= moves
    for start, stop in ((0, 2), (2, 7), (7, 12), (0, 7), (2, 12)):
        filled = {MOVE[:start] + bytes([byte]) * (stop - start) + MOVE[stop:] for byte in MOVE}
        assert len(filled & moves) == stop - start


def test_a_part_is_filled_with_a_byte_of_the_state(program: Program) -> None:
    assert b"\xee" * len(MOVE) in changed(program, (b"\xee\xef",))
    assert b"\xee" * len(MOVE) not in changed(program)


def test_a_part_is_moved_by_a_constant_and_by_numbers_of_the_state(program: Program) -> None:
    moves = changed(program, (b"\x03\xe8",))
    for step in (LIMIT, -LIMIT, 1000, -1000):
        assert MOVE[:2] + moved(MOVE[2:7], step) + MOVE[7:] in moves


def test_a_number_at_the_end_is_moved_in_the_fewest_bytes(program: Program) -> None:
    moves = changed(program, (b"\x03\xe8",), b"\x05")
    assert {int_to_atom(1005), int_to_atom(-995)} <= moves


def test_a_number_below_zero_is_congruent() -> None:
    order, scalar = atom_to_int(GROUP_ORDER), 123456789 << 200
    shown = scalar.to_bytes(32, "big")
    below = atom_to_int(moved(shown, -order))
    assert below < 0
    assert (below - scalar) % order == 0


def test_nothing_is_changed_in_nothing(program: Program) -> None:
    assert changed(program, (b"\x05",), b"", 10) == {b""}


def test_points_are_multiplied_by_scalars_of_their_group() -> None:
    target = of_game(registry.get("holdem"))
    assert GROUP_ORDER in constants(target.programs["begin"])


def test_the_order_is_known_where_the_program_does_not_have_it(tmp_path: Path) -> None:
    source = tmp_path / "point.clsp"
    source.write_text("(mod (K S) (include *standard-cl-23*) (g1_multiply K S))", "utf-8")
    assert GROUP_ORDER in constants(compile_set({"point": source}, [], {}).programs["point"])
