"""Code as text reads like the source that it was compiled from."""

from __future__ import annotations

from pathlib import Path

import pytest

from channelsim.clsp.analysis.arguments import bound, pattern, pattern_text
from channelsim.clsp.analysis.code import Code
from channelsim.clsp.analysis.disassembly import Disassembly
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.compiler import compile_source
from channelsim.clsp.programs import load, names, symbols
from channelsim.clsp.values import to_list

WRITTEN = {
    "popcount": "(if mask (+ (logand 1 mask) (popcount (lsh mask -1))) ())",
    "above": "(if steps (sha256 (above value (- steps 1))) value)",
    "count_of": "(if ranks (+ (= rank (f ranks)) (count_of rank (r ranks))) ())",
    "showdown": (
        "(better_hand (board waiter_preimage preimage 3)"
        " waiter_preimage evidence preimage selection)"
    ),
    "entropy": "(sha256 (logxor (above own i) (above other j)))",
}


def text_of(name: str) -> Disassembly:
    program = load(name)
    return Disassembly(Code(program.value, symbols(program), name))


def test_functions_read_as_they_were_written() -> None:
    text = text_of("spacepoker/end")
    read = {one.name: text.text(one.body) for one in text.code.functions}
    assert {name: read[name] for name in WRITTEN} == WRITTEN
    main = read["spacepoker/end"]
    assert main.startswith("(if (= (strlen MOVE) 17) (if (= (sha256 (substr MOVE 0 16)) mover_im")
    assert main.endswith(" () '(() () ())) (x)) ()) ()) ())")


def test_what_a_let_names_is_named() -> None:
    text = text_of("spacepoker/mid_round")
    assert text.text(text.code.root).startswith(
        "(let ((stake (f (divmod AMOUNT 2))) (pot (+ half_pot last_raise)))"
    )


@pytest.mark.parametrize("name", names())
def test_every_place_can_be_shown_in_little_room(name: str) -> None:
    text = text_of(name)
    for node in text.code.expressions:
        assert 0 < len(text.text(node, 60)) <= 60


def test_without_names_paths_are_shown() -> None:
    text = Disassembly(Code(load("spacepoker/commitA").value))
    assert text.text(text.code.root).startswith("(if (= (strlen @765) 32) (if (= @6141 (f (div")


def test_an_if_of_an_older_dialect_is_one(tmp_path: Path) -> None:
    """It has a side `()` that is not quoted."""
    source = tmp_path / "old.clsp"
    source.write_text("(mod (a) (if (> a 3) (if (= a 9) (list 1 a) ()) ()))")
    code = Code(compile_source(source).value)
    assert Disassembly(code).text(code.root) == "(if (> @2 3) (if (= @2 9) (list 1 @2) ()) ())"
    assert len(code.choices) == 2


def test_arguments_that_are_not_there_are_left_out() -> None:
    shape = pattern("(a (b c) . rest)")
    value = to_list([b"1", b"2", b"3"])
    assert list(bound(shape, value)) == [("a", b"1"), ("rest", (b"3", b""))]
    assert pattern_text(shape) == "(a (b c) . rest)"
    assert list(bound(pattern("((@ GAME (x y)) . z)"), (to_list([b"1", b"2"]), b"3"))) == [
        ("x", b"1"),
        ("y", b"2"),
        ("z", b"3"),
    ]


@pytest.mark.parametrize("text", ["(", "", ")", "(a . ", "(@ b"])
def test_arguments_that_cannot_be_read_are_none(text: str) -> None:
    assert list(bound(pattern(text), (b"1", b""))) in ([], [(")", (b"1", b""))])


def test_long_values_are_shortened() -> None:
    long = to_list([bytes([i]) for i in range(100)])
    assert len(value_text(long, 40)) < 60
    assert value_text(long, 40).endswith(" …)")
    assert value_text(b"\xab" * 32, known={b"\xab" * 32: "end's hash"}) == "end's hash"
