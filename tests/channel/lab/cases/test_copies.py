"""Operands are copied into the places that the other side of a comparison stems from."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest

from channelsim.channel.lab.cases.case import SiteCase, make_case
from channelsim.channel.lab.cases.copies import SPECIAL, copied_states, copies, words
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.generate import site_of
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.program_words import GROUP_ORDER
from channelsim.channel.lab.sites.site import Call
from channelsim.channel.lab.sites.values import leaves, moved
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.analysis.operands import Operands
from channelsim.clsp.values import Value, atom_to_int, int_to_atom, to_list
from channelsim.games import registry

TARGET = of_game(registry.get("spacepoker"))
MANY = 10_000

MOVE = bytes(range(100, 132))
"""32 different bytes."""


def base(move: bytes = MOVE, share: int = 300, evidence: Value = b"") -> SiteCase:
    """A case at a place of a hand."""
    turn = next(chain.from_iterable(hands(TARGET, b"copies")))
    return make_case(site_of(TARGET, turn), "base", move, share, evidence)


def near(case: SiteCase, operands: Operands, most: int = MANY) -> list[Call]:
    return copies(case, operands, FastChance(b"copies"), most)


def compared(*pairs: tuple[bytes, bytes]) -> Operands:
    return Operands(compared=pairs)


@pytest.mark.parametrize("turned", [False, True])
def test_a_constant_takes_the_place_of_the_bytes_that_it_is_compared_with(turned: bool) -> None:
    constant = b"\x11\x22\x33\x44\x55"
    pair = (constant, MOVE[9:14]) if turned else (MOVE[9:14], constant)
    calls = near(base(), compared(pair))
    assert (MOVE[:9] + constant + MOVE[14:], 300, b"") in calls


def test_parts_are_copied_with_the_rest_as_it_was() -> None:
    other = bytes(range(32))
    moves = {move for move, _, _ in near(base(), compared((MOVE, other)))}
    for size in (1, 2, 4, 8):
        assert other[:size] + MOVE[size:] in moves
        assert MOVE[:-size] + other[-size:] in moves
    # Where both sides are equal already, the part stays and the rest is another.
    same = {move for move, _, _ in near(base(), compared((MOVE, MOVE)))}
    for size in (1, 2, 4, 8):
        assert any(move[:size] == MOVE[:size] and move != MOVE for move in same)
        assert any(move[-size:] == MOVE[-size:] and move != MOVE for move in same)


def test_shares_and_numbers_come_with_their_neighbours() -> None:
    shares = {share for _, share, _ in near(base(), compared((int_to_atom(300), int_to_atom(777))))}
    assert {776, 777, 778} <= shares


def test_a_computed_number_is_reached_by_the_difference() -> None:
    """The move bids 5, the program compares 5 + 95 with 1000."""
    operands = compared((int_to_atom(100), int_to_atom(1000)))
    moves = {move for move, _, _ in near(base(b"\x05"), operands)}
    assert int_to_atom(905) in moves


def test_computed_numbers_are_aimed_at_their_special_atoms() -> None:
    operands = Operands(computed=(int_to_atom(350),))  # the share and 50 more
    aimed = {share + 50 for _, share, _ in near(base(), operands)}
    assert {atom_to_int(atom) for atom in SPECIAL} <= aimed


def test_evidence_is_replaced_atom_by_atom_and_in_parts() -> None:
    evidence = to_list([b"first", b"second"])
    changed = {value for _, _, value in near(base(evidence=evidence), compared((b"second", b"x")))}
    assert to_list([b"first", b"x"]) in changed
    parts = {value for _, _, value in near(base(evidence=evidence), compared((b"eco", b"ugge")))}
    assert to_list([b"first", b"suggend"]) in parts


def test_a_part_that_is_cut_out_is_filled_and_moved_by_a_constant() -> None:
    part, constant = MOVE[4:9], b"\x01\x00\x00\x00\x02"
    calls = copies(
        base(), Operands(parts=(part,)), FastChance(b"copies"), MANY, (constant, b"\x07")
    )
    moves = {move for move, _, _ in calls}
    step = atom_to_int(constant)
    for new in (bytes([part[0]]) * 5, moved(part, step), moved(part, -step)):
        assert MOVE[:4] + new + MOVE[9:] in moves
    assert MOVE[:4] + moved(part, 7) + MOVE[9:] not in moves  # of another length
    assert near(base(), Operands(parts=(b"q" * 20,))) == []  # no part of the move


def test_a_scalar_is_tried_first_as_one_that_multiplies_alike() -> None:
    order = atom_to_int(GROUP_ORDER)
    moves = [move for move, _, _ in near(base(), Operands(scalars=(MOVE,)), most=2)]
    assert sorted(moves) == sorted(moved(MOVE, step) for step in (order, -order))
    assert near(base(), Operands(scalars=(MOVE[::-1],))) == []  # no part of the move


def test_two_parts_that_are_cut_out_are_exchanged() -> None:
    halves, quarters = (MOVE[:16], MOVE[16:]), (MOVE[8:16], MOVE[24:])
    moves = {move for move, _, _ in near(base(), Operands(parts=(*halves, *quarters)))}
    assert MOVE[16:] + MOVE[:16] in moves
    assert MOVE[:8] + MOVE[24:] + MOVE[16:24] + MOVE[8:16] in moves
    # Parts that overlap, are no parts of the move, or have another length are left alone.
    others = Operands(parts=(MOVE[:20], MOVE[10:30], bytes(20), MOVE[:7]))
    assert all(sorted(move) != sorted(MOVE) for move, _, _ in near(base(), others))


def test_a_length_is_met() -> None:
    operands = Operands(compared=((int_to_atom(32), int_to_atom(40)),), lengths={32: (MOVE,)})
    lengths = {len(move) for move, _, _ in near(base(), operands)}
    assert 40 in lengths
    held = Operands(compared=((b"\x03", b"\x61"),), lengths={3: (b"abc",)})
    evidence = {value for _, _, value in near(base(evidence=b"abc"), held)}
    assert 97 in {len(value) for value in evidence}


def test_an_operand_that_stems_from_nothing_here_is_left_alone() -> None:
    assert near(base(), compared((b"q" * 20, b"r" * 20))) == []


def test_calls_are_bounded_different_and_the_same_for_the_same_chance() -> None:
    pairs = [(MOVE[at : at + 3], bytes([at]) * 3) for at in range(25)]
    operands = Operands(tuple(pairs), tuple(map(int_to_atom, range(20))))
    for most in (1, 10, 64):
        calls = near(base(), operands, most)
        assert len(calls) == len(set(calls)) == most
        assert calls == near(base(), operands, most)
    assert base().call not in near(base(), operands)


def test_states_are_copied_into_only_where_any_state_counts() -> None:
    case = base()
    number = next(atom for atom in leaves(case.site.state) if atom)
    operands = compared((number, b"\x55"))
    chance = FastChance(b"copies")
    states = [other.site.state for other in copied_states(TARGET, case, operands, chance, 4)]
    assert any(b"\x55" in set(leaves(state)) for state in states)
    assert all(not other.site.natural for other in copied_states(TARGET, case, operands, chance, 4))
    elsewhere = replace(TARGET, programs={**TARGET.programs, "end": TARGET.programs["commitA"]})
    assert list(copied_states(elsewhere, case, operands, chance, 4)) == []


def test_words_for_earlier_moves_are_whole_or_partly_the_same() -> None:
    left, right = b"L" * 16, b"R" * 16
    replacements = list(words(compared((left, right), (left, left)), FastChance(b"copies")))
    assert {(left, right), (right, left)} <= set(replacements)
    parts = [new for old, new in replacements if {old, new} - {left, right}]
    assert parts
    assert all({*part} == {*b"LR"} for part in parts)


def test_words_for_earlier_moves_are_moved_by_constants() -> None:
    part, constant = b"\x20" * 8, b"\x01" * 8
    operands = Operands(parts=(part,))
    replacements = set(words(operands, FastChance(b"copies"), (constant,)))
    assert {(part, b"\x21" * 8), (part, b"\x1f" * 8)} <= replacements
    assert not set(words(operands, FastChance(b"copies")))
