"""Forms of fields and states: what they take, what they refuse, and what can be read from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, TypeAlias

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games import forms, registry
from channelsim.games.chance import Chance
from channelsim.games.contract import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    PlainState,
    Validator,
    by_name,
)
from channelsim.games.errors import BadState
from channelsim.games.judge import hashes_of
from channelsim.games.selfplay import PlayedMove, turns
from channelsim.games.spacepoker.states import BeginRound, MidRound
from scripts.tools.reference.games import form_text
from tests.games.table import GAME, HASHES, ask_both
from tests.menu import each_program


class Card(PlainState, frozen=True):
    """A record inside of a state."""

    position: Annotated[int, Integer(0, 51)]
    owner: Annotated[int, ByteIn(frozenset({1, 5}), "one or five")]


def _twice(value: Value) -> bytes:
    match value:
        case (bytes(left), bytes(right)) if left == right:
            return left
    raise BadState("odd: not the same twice")


Odd: TypeAlias = Annotated[
    bytes, Opaque(lambda data: (data, data), lambda value, name: _twice(value))
]


class Everything(PlainState, frozen=True):
    """A field of each form."""

    atom: Annotated[bytes, Atom(2)]
    number: Annotated[int, Integer(-1, 300)]
    byte: Annotated[int, ByteIn(range(52), "a card")]
    program: Annotated[bytes, HashOf("next")]
    both: Annotated[tuple[int, bytes], Pair(Integer(0, 9), Atom(1))]
    maybe: Annotated[bytes, Optional(Atom(3))]
    some: Annotated[tuple[int, ...], ListOf(Integer(0, 9), 3)]
    ordered: Annotated[tuple[int, ...], ListOf(Integer(0, 9), 2, 2, ascending=True)]
    card: Card
    cards: Annotated[tuple[Card, ...], ListOf(Card.form, 4)]
    odd: Odd

    def check_fields(self) -> None:
        if self.number == self.byte:
            raise BadState("number: the same as byte")


KNOWN = {"next": b"h" * 32, "other": b"o" * 32}
STATE = Everything(
    *(b"ab", -1, 0, KNOWN["next"], (7, b"x"), b"", (1, 0), (3, 4), Card(51, 5), (Card(0, 1),)),
    *(b"odd",),
)
ITEMS: tuple[Value, ...] = (
    *(b"ab", b"\xff", b"\x00", KNOWN["next"], (b"\x07", b"x"), NIL, to_list([b"\x01", NIL])),
    *(to_list([b"\x03", b"\x04"]), to_list([b"\x33", b"\x05"]), to_list([to_list([NIL, b"\x01"])])),
    *((b"odd", b"odd"),),
)


def test_every_form_is_written_and_read_back() -> None:
    assert STATE.value() == to_list(ITEMS)
    assert Everything.read(STATE.value(), KNOWN) == STATE
    full = replace_field("maybe", b"abc")
    assert Everything.read(to_list(full), KNOWN).maybe == b"abc"


def replace_field(name: str, value: Value) -> list[Value]:
    at = Everything.__struct_fields__.index(name)
    return [*ITEMS[:at], value, *ITEMS[at + 1 :]]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("atom", b"abc", "atom: not an atom of 2 bytes"),
        ("number", b"\xfe", "number: not from -1 to 300"),
        ("number", b"\x00\x01", "number: not an integer in the fewest bytes"),
        ("byte", b"\x34", "byte: not a card"),
        ("byte", NIL, "byte: not a card"),
        ("byte", (NIL, NIL), "byte: not a card"),
        ("program", KNOWN["other"], "program: not the hash of the program next"),
        ("program", (NIL, NIL), "program: not the hash of the program next"),
        ("both", b"\x07", "both: not a pair"),
        ("both", (b"\x0a", b"x"), "both: not from 0 to 9"),
        ("maybe", b"ab", "maybe: not an atom of 3 bytes"),
        ("some", to_list([NIL] * 4), "some: not a list of at most 3 items"),
        ("some", (NIL, b"x"), "some: not a list of at most 3 items"),
        ("ordered", to_list([NIL]), "ordered: not a list of 2 elements"),
        ("ordered", to_list([NIL] * 3), "ordered: not a list of 2 elements"),
        ("ordered", to_list([b"\x04", b"\x04"]), "ordered: not ascending"),
        ("card", to_list([NIL]), "Card: not a list of 2 elements"),
        ("card", to_list([NIL, b"\x02"]), "owner: not one or five"),
        ("cards", to_list([to_list([b"\x34", b"\x01"])]), "position: not from 0 to 51"),
        ("odd", b"odd", "odd: not the same twice"),
        ("number", NIL, None),
        ("byte", b"\xff", "byte: not a card"),
    ],
)
def test_every_form_refuses_what_it_is_not(name: str, value: Value, reason: str | None) -> None:
    fields = to_list(replace_field(name, value))
    if reason is None:
        with pytest.raises(BadState, match="number: the same as byte"):
            Everything.read(fields, KNOWN)
        return
    with pytest.raises(BadState, match=f"^{reason}$"):
        Everything.read(fields, KNOWN)


@given(value=st.recursive(st.binary(max_size=3), lambda v: st.tuples(v, v), max_leaves=9))
def test_a_value_that_a_form_reads_is_written_as_it_was(value: Value) -> None:
    """One encoding: no two values are the same field."""
    for _, form in Everything.form.fields:
        try:
            field = forms.reader(form)(value, "field", KNOWN)
        except BadState:
            continue
        assert forms.writer(form)(field) == value


def test_a_hash_is_not_read_without_the_programs() -> None:
    with pytest.raises(ValueError, match="cannot be read without the hash of next"):
        Everything.read(STATE.value())


def test_forms_in_words() -> None:
    text = {name: form_text(form) for name, form in Everything.form.fields}
    assert text == {
        "atom": "2 bytes",
        "number": "an integer from -1 to 300",
        "byte": "a byte that is a card",
        "program": "the hash of the program next",
        "both": "a pair of an integer from 0 to 9 and 1 byte",
        "maybe": "3 bytes, or ()",
        "some": "a list of at most 3: an integer from 0 to 9",
        "ordered": "a list of 2, ascending: an integer from 0 to 9",
        "card": "Card",
        "cards": "a list of at most 4: Card",
        "odd": "anything that its own reader takes",
    }
    assert form_text(Integer(2**16, 2**63 - 1)) == "an integer from 2^16 to 2^63 - 1"
    assert form_text(Everything.form) == "Everything, checked as a whole"


# --- wrong use -----------------------------------------------------------------------------------


def test_a_state_with_a_reader_of_its_own_is_refused() -> None:
    for name in ("read", "value"):
        with pytest.raises(TypeError, match=f"Bad.{name}: it follows from the fields"):
            type("Bad", (PlainState,), {"__annotations__": {}, name: lambda state: NIL})


def test_a_validator_with_a_reader_in_the_place_of_a_form_is_refused() -> None:
    with pytest.raises(TypeError, match="is no form; one is "):
        Validator("mid", GAME.validators["end"].judge, MidRound.read)  # type: ignore[arg-type]


def test_a_game_whose_states_name_an_unknown_program_is_refused() -> None:
    wrong = by_name(*(one for name, one in GAME.validators.items() if name != "mid_round"))
    with pytest.raises(ValueError, match="begin_round has the hash of 'mid_round', which is no"):
        replace(GAME, validators=wrong, programs={})


# --- hashes of programs --------------------------------------------------------------------------


@cache
def hand(name: str) -> tuple[PlayedMove, ...]:
    game = registry.get(name)
    terms, policy = game.terms(game.default_parameters(100, 20)), next(iter(game.policies.values()))
    return tuple(turns(game, hashes_of(game), terms, (policy, policy), Chance(b"forms")))


def leaves(form: Form, field: Any) -> Iterator[tuple[Form, Any]]:
    """The parts of a field without parts of their own, each with its form."""
    match form:
        case forms.Record(_, fields):
            for name, inner in fields:
                yield from leaves(inner, getattr(field, name))
        case Pair(first, second):
            yield from (*leaves(first, field[0]), *leaves(second, field[1]))
        case ListOf(inner):
            for item in field:
                yield from leaves(inner, item)
        case _:
            yield form, field


@each_program
def test_a_hash_of_a_program_in_a_state_has_its_form(game: str) -> None:
    """So that no reader takes another hash for it."""
    rules = registry.get(game)
    programs = set(hashes_of(rules).values())
    for turn in hand(game):
        form = rules.validators[turn.before.validator or ""].form
        for inner, field in leaves(form, turn.before.state):
            assert (field in programs) == isinstance(inner, HashOf)


@each_program
def test_a_state_with_another_hash_is_refused(game: str) -> None:
    rules = registry.get(game)
    hashes = hashes_of(rules)
    for turn in hand(game):
        validator = rules.validators[turn.before.validator or ""]
        state: Any = turn.before.state
        named = {one.validator for one in forms.parts(validator.form) if isinstance(one, HashOf)}
        assert validator.read_state(state.value(), hashes) == state
        for name in named:
            with pytest.raises(BadState, match=f"not the hash of the program {name}"):
                validator.read_state(state.value(), {**hashes, name: bytes(32)})


def test_rules_and_program_differ_in_a_state_with_another_hash() -> None:
    """So its reader refuses it: they lead to different validators."""
    differ = []
    for turn in hand("spacepoker"):
        if isinstance(turn.before.state, BeginRound):
            state = msgspec.structs.replace(turn.before.state, mid_round_hash=bytes(32))
            with pytest.raises(BadState, match="mid_round_hash"):
                BeginRound.read(state.value(), HASHES)
            position = msgspec.structs.replace(turn.before, state=state)
            try:
                ask_both(position, turn.play.move, turn.play.share, turn.amount, NIL)
            except AssertionError:
                differ.append(turn)
    assert differ
