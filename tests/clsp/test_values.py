"""Values: serialization and tree hashes against chia_rs, and what a peer may not send."""

from collections.abc import Iterator

import chia_rs
import pytest
from chia_rs import run_chia_program
from hypothesis import example, given
from hypothesis import strategies as st

from channelsim.clsp.run import ProgramValid, read_node, run_serialized, to_value
from channelsim.clsp.values import (
    NIL,
    BadValue,
    NotAList,
    Value,
    deserialize,
    from_list,
    serialize,
    serialize_atom,
    to_list,
    tree_hash,
    tree_hash_atom,
    tree_hash_list,
    tree_hash_pair,
)

atoms = st.binary(max_size=70)
values: st.SearchStrategy[Value] = st.recursive(
    atoms, lambda inner: st.tuples(inner, inner), max_leaves=30
)
DEPTH = 50_000


def left_deep() -> Value:
    value: Value = NIL
    for _ in range(DEPTH):
        value = (value, b"\x01")
    return value


def right_deep() -> Value:
    return to_list([b"\x01"] * DEPTH)


@given(values)
def test_serialization_is_undone(value: Value) -> None:
    assert deserialize(serialize(value)) == value


@given(values)
def test_chia_reads_what_we_serialize(value: Value) -> None:
    """The quoted program (q . value) gives the value back, through chia_rs."""
    outcome = run_serialized(b"\xff\x01" + serialize(value), b"\x80")
    assert isinstance(outcome, ProgramValid) == (value != NIL)
    if isinstance(outcome, ProgramValid):
        assert outcome.value == value


@given(values)
def test_the_tree_hash_is_chias(value: Value) -> None:
    assert tree_hash(value) == chia_rs.tree_hash(serialize(value))


@pytest.mark.parametrize("length", [0, 1, 0x3F, 0x40, 0x1FFF, 0x2000, 0xFFFFF, 0x100000])
def test_atoms_of_every_length_form(length: int) -> None:
    atom = b"\xff" * length
    blob = serialize_atom(atom)
    assert chia_rs.serialized_length(blob) == len(blob)
    assert deserialize(blob) == atom


@pytest.mark.parametrize("build", [left_deep, right_deep])
def test_deep_values_need_no_recursion(build: object) -> None:
    assert callable(build)
    value = build()
    blob = serialize(value)
    assert serialize(deserialize(blob)) == blob
    assert tree_hash(value) == chia_rs.tree_hash(blob)
    assert serialize(to_value(read_node(blob), max_pairs=len(blob))) == blob


@given(st.lists(values))
def test_lists_are_undone_and_hashed_by_their_items(items: list[Value]) -> None:
    value = to_list(items)
    assert from_list(value) == items
    assert tree_hash_list(map(tree_hash, items)) == tree_hash(value)


@given(values, values)
def test_the_hash_of_a_pair_is_of_its_sides(left: Value, right: Value) -> None:
    assert tree_hash_pair(tree_hash(left), tree_hash(right)) == tree_hash((left, right))
    assert tree_hash_atom(b"left") == tree_hash(b"left")


def test_improper_lists_are_refused() -> None:
    with pytest.raises(NotAList, match="a list of 1 ends in the atom 0x05"):
        from_list((b"a", b"\x05"))
    with pytest.raises(NotAList):
        from_list(b"\x00")


@pytest.mark.parametrize(
    ("blob", "reason"),
    [
        ("", "ends too early"),
        ("ff", "ends too early"),
        ("ff80", "ends too early"),
        ("8080", "1 bytes after the value's end"),
        ("ff808080", "1 bytes after the value's end"),
        ("fe01", "back-references"),
        ("ff0afe02", "back-references"),
        ("8100", "stands for itself"),
        ("817f", "stands for itself"),
        ("82aa", "ends too early"),
        ("81", "ends too early"),
        ("c0", "ends too early"),
        ("f80000", "ends too early"),
        ("c001aa", "shortest form"),
        ("c03f" + "aa" * 63, "shortest form"),
        ("e01fff" + "aa" * 0x1FFF, "shortest form"),
        ("f00fffff" + "aa" * 0xFFFFF, "shortest form"),
        ("f807ffffff", "shortest form"),
        ("c080" + "aa" * 5, "an atom of 128 bytes ends too early"),
        ("f7ffffffaa", "an atom of 134217727 bytes ends too early"),
        ("f808000000aa", "an atom of 134217728 bytes ends too early"),
        ("fbffffffff", "an atom of 17179869183 bytes ends too early"),
        ("fc0400000000", "starts no atom"),
        ("fd" + "00" * 8, "starts no atom"),
    ],
)
def test_bad_blobs_are_refused(blob: str, reason: str) -> None:
    with pytest.raises(BadValue, match=reason):
        deserialize(bytes.fromhex(blob))


@given(st.binary(max_size=40))
@example(b"\xff" * 40)
def test_whatever_is_read_was_in_the_one_form(blob: bytes) -> None:
    try:
        value = deserialize(blob)
    except BadValue:
        return
    assert serialize(value) == blob


def corrupted(blob: bytes) -> Iterator[bytes]:
    for at in range(len(blob)):
        for flip in (1, 0x40, 0x80):
            yield blob[:at] + bytes([blob[at] ^ flip]) + blob[at + 1 :]


def test_we_never_take_what_chia_refuses() -> None:
    """We are stricter (no overlong lengths); chia_rs must agree on all that we take."""
    blob = serialize(to_list([b"a" * 70, (b"\x00", b"\x80"), b"", (b"xy", b"z")]))
    taken = 0
    for bad in corrupted(blob):
        try:
            value = deserialize(bad)
        except BadValue:
            continue
        taken += 1
        assert chia_rs.tree_hash(bad) == tree_hash(value)
        run_chia_program(b"\x01", bad, 10**9, 0)
    assert taken


@pytest.mark.parametrize("size", [0, 1, 1000, 100_000])
def test_a_blob_of_open_pairs_is_refused_quickly(size: int) -> None:
    with pytest.raises(BadValue):
        deserialize(b"\xff" * size)
