"""The states that a proof is about are those that the reader of the form takes, and no others."""

from __future__ import annotations

from time import thread_time
from typing import Any

import pytest

from channelsim.channel.prove.claims import Equal
from channelsim.channel.prove.comparison import SizeReport, examine_size
from channelsim.channel.prove.inputs import Domain
from channelsim.clsp.analysis.closures import deep
from channelsim.clsp.values import NIL, Value, int_to_atom, to_list
from channelsim.games.errors import BadState
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    Record,
    reader,
)
from tests.channel.prove.programs import assemble
from tests.sampling import one_row_in

OWN, OTHER = b"\x0a" * 32, b"\x0b" * 32


class Two:
    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second


def numbers(*values: int) -> Value:
    return to_list(map(int_to_atom, values))


FORMS: list[tuple[Form, tuple[Value, ...]]] = [
    (Atom(2), (NIL, b"a", b"ab", b"\x00\x00", b"abc", (b"a", b"b"))),
    (
        Integer(-5, 300),
        (
            *map(int_to_atom, (-6, -5, -1, 0, 1, 127, 128, 300, 301)),
            *(b"\x00", b"\x00\x05", (NIL, NIL)),
        ),
    ),
    (Integer(7, 7), (b"\x07", b"\x06", b"\x00\x07")),
    (
        ByteIn(frozenset((0, 1, 0x80)), "a flag"),
        (NIL, b"\x00", b"\x01", b"\x02", b"\x80", b"\x00\x80"),
    ),
    (HashOf("other"), (OTHER, OWN, NIL)),
    (Optional(Atom(2)), (NIL, b"ab", b"a", (NIL, NIL))),
    (Pair(Integer(0, 3), Atom(1)), ((b"\x03", b"z"), (b"\x04", b"z"), (b"\x03", NIL), NIL)),
    (
        ListOf(Integer(0, 3), 2, least=1),
        (NIL, numbers(0), numbers(3, 0), numbers(4), numbers(1, 2, 3), (b"\x01", b"\x01")),
    ),
    (
        ListOf(Integer(0, 3), 2, ascending=True),
        (NIL, numbers(2), numbers(1, 2), numbers(2, 1), numbers(2, 2), numbers(0, 3)),
    ),
    (
        Record(Two, (("first", Integer(0, 9)), ("second", Optional(Atom(1))))),
        (numbers(9, 0), to_list([b"\x09", b"\x00"]), numbers(10, 0), numbers(1), numbers(1, 2, 3)),
    ),
]


def is_value(value: Value, at: str = "STATE") -> str:
    """An expression that is true of this value only."""
    if isinstance(value, bytes):
        atom = f"0x{value.hex()}" if value else "()"
        return f"(if (l {at}) () (= {at} {atom}))"
    left, right = (is_value(side, f"({name} {at})") for side, name in zip(value, "fr", strict=True))
    return f"(if (l {at}) (if {left} {right} ()) ())"


def compared(form: Form | None, left: str, right: str) -> SizeReport:
    programs = [assemble(text) for text in (left, right)]
    domain = Domain(
        own=tuple(program.hash for program in programs),
        form=form,
        longest=0,
        hashes={"other": (OTHER,)},
        pairs=3,
        atom=3,
    )
    claim = Equal(("left", "right"), (programs[0], programs[1]))
    with deep():
        return examine_size(claim, domain, 0, thread_time() + 60)


@pytest.mark.parametrize(
    ("form", "values"), one_row_in(2, FORMS), ids=lambda part: type(part).__name__
)
def test_a_state_is_there_if_its_reader_takes_it(form: Form, values: tuple[Value, ...]) -> None:
    read = reader(form)
    taken = []
    for value in values:
        try:
            read(value, "state", {"other": OTHER})
            taken.append(True)
        except BadState:
            taken.append(False)
        report = compared(form, f"(if {is_value(value)} 2 1)", "1")
        assert report.broken == taken[-1], value
        assert not report.gaps
    assert set(taken) == {True, False}


def test_a_hash_of_a_program_is_that_of_either_side() -> None:
    domain = Domain(own=(OWN,), form=HashOf("v"), longest=0, hashes={"v": (OWN, OTHER)})
    for value, there in ((OWN, True), (OTHER, True), (b"\x0c" * 32, False)):
        programs = [assemble(text) for text in (f"(if {is_value(value)} 2 1)", "1")]
        claim = Equal(("left", "right"), (programs[0], programs[1]))
        assert examine_size(claim, domain, 0, thread_time() + 60).broken == there


def test_an_opaque_form_may_only_be_passed_on() -> None:
    form = Opaque(write=lambda value: value, read=lambda value, name: value, examples=(b"xyz",))
    passed = compared(form, "(c STATE 1)", "(c STATE (+ 0 1))")
    assert (passed.broken, len(passed.gaps)) == (False, 0)
    ((gap, _),) = compared(form, "(l STATE)", "(l STATE)").gaps.items()
    assert gap.reason == "state has no form that is known"
    # Another result is still another one, for the example.
    assert compared(form, "(c STATE 1)", "(c STATE 2)").broken


@pytest.mark.parametrize("value", [NIL, b"abc", (b"a", (b"b", (b"c", b"d")))])
def test_a_state_without_a_form_is_any_value_within_the_bounds(value: Value) -> None:
    assert compared(None, f"(if {is_value(value)} 2 1)", "1").broken


@pytest.mark.parametrize("value", [b"abcd", ((((b"a", b"b"), NIL), NIL), NIL)])
def test_larger_values_are_beyond_the_bounds(value: Value) -> None:
    report = compared(None, f"(if {is_value(value)} 2 1)", "1")
    assert not report.broken
    assert report.bounded
