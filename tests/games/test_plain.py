"""The pieces that small games are made of: states by their fields, players by their moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.values import NIL, Value
from channelsim.games.amounts import MAX_AMOUNT
from channelsim.games.contract import (
    Action,
    Amount,
    Bytes16,
    Bytes32,
    Initial,
    Integer,
    Mojos,
    Moves,
    Plain,
    PlainPlayer,
    PlainState,
    Play,
    Position,
    Seat,
    Settle,
    even_stakes,
    even_terms,
)
from channelsim.games.errors import BadAdvisory, BadState, BadTerms, IllegalAction


class Empty(PlainState, frozen=True):
    """No field. CLVM: `()`."""


class One(PlainState, frozen=True):
    """One field. CLVM: the atom `image`."""

    image: Bytes32


class Several(PlainState, frozen=True):
    """Several fields. CLVM: `(image salt pot count)`."""

    image: Bytes32
    salt: Bytes16
    pot: Mojos
    count: Annotated[int, Integer(-1, 2)]


several = st.builds(
    Several,
    st.binary(min_size=32, max_size=32),
    st.binary(min_size=16, max_size=16),
    st.integers(0, MAX_AMOUNT),
    st.integers(-1, 2),
)


@given(several)
def test_a_state_is_read_back_from_its_clvm_form(state: Several) -> None:
    assert Several.read(state.value()) == state
    assert hash(Several.read(state.value())) == hash(state)


def test_the_clvm_form_follows_from_the_number_of_fields() -> None:
    image, salt = b"i" * 32, b"s" * 16
    assert Empty().value() == NIL
    assert One(image).value() == image
    assert Several(image, salt, 128, -1).value() == (
        image,
        (salt, (b"\x00\x80", (b"\xff", NIL))),
    )


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        (Empty, b"\x00", "Empty: not a list of 0 elements"),
        (One, bytes(31), "image: not an atom of 32 bytes"),
        (One, (bytes(32), NIL), "image"),
        (Several, bytes(32), "Several: not a list of 4"),
        (Several, (bytes(32), (bytes(16), (b"", (b"\x03", NIL)))), "count: not from -1 to 2"),
        (Several, (bytes(32), (bytes(16), (b"\x00", (b"", NIL)))), "pot: .* fewest bytes"),
        (Several, (bytes(32), (bytes(16), (b"", (b"", (b"", NIL))))), "Several: not a list of 4"),
    ],
)
def test_any_other_value_is_no_state(kind: type[PlainState], value: Value, reason: str) -> None:
    with pytest.raises(BadState, match=reason):
        kind.read(value)


@pytest.mark.parametrize(
    ("name", "annotation", "reason"),
    [("image", bytes, "annotate it"), ("value", Bytes32, "use another name")],
)
def test_a_field_that_cannot_be_written_is_refused(
    name: str, annotation: object, reason: str
) -> None:
    with pytest.raises(TypeError, match=f"Bad.{name}: .*{reason}"):
        type("Bad", (PlainState,), {"__annotations__": {name: annotation}})


TERMS = even_terms("toy", even_stakes(1, 10), "TOY-1")


def bets(player: PlainPlayer) -> Moves:
    return {
        Amount("bet", 1, 9): lambda amount: Play(bytes([amount]), 10 - amount),
        Plain("fold"): Settle(),
    }


def at_the_start() -> PlainPlayer:
    position = Initial("first", Empty(), 1, 4).position
    proofs = (b"proof",)
    return PlainPlayer(Seat.ALICE, TERMS, position, b"secret", bets, lambda *asked: proofs)


def test_a_player_takes_the_choices_of_its_moves() -> None:
    player = at_the_start()
    assert [choice.verb for choice in player.choices()] == ["bet", "fold"]
    assert player.act(Action("bet", 3)) == Play(b"\x03", 7)
    assert player.act(Action("fold")) == Settle()
    for wrong in (Action("bet", 10), Action("bet"), Action("accept")):
        with pytest.raises(IllegalAction):
            player.act(wrong)


def test_a_player_waits_and_accepts_the_result() -> None:
    player = at_the_start()
    assert replace(player, seat=Seat.BOB).choices() == ()
    ended = player.moved(Position(None, None, Seat.ALICE, 4, 0))
    assert [choice.verb for choice in ended.choices()] == ["accept"]
    assert ended.act(Action("accept")) == Settle()


def test_a_player_holds_evidence_and_keeps_its_secret() -> None:
    player = at_the_start()
    assert player.evidence(player.position, b"") == (b"proof",)
    assert replace(player, proofs=PlainPlayer.proofs).evidence(player.position, b"") == ()
    assert "secret" not in repr(player)
    assert player.advisory() is None
    with pytest.raises(BadAdvisory):
        player.advised(b"")


@pytest.mark.parametrize(
    "parameters",
    [{}, {"amount": 2, "unit": 1}, {"amount": "2"}, {"amount": True}]
    + [{"amount": amount} for amount in (-2, 0, 3, 2**63, 10**5000)],
)
def test_other_terms_are_refused_by_their_rule(parameters: dict[str, int]) -> None:
    with pytest.raises(BadTerms, match=r"\(TOY-1\)$"):
        even_terms("toy", parameters, "TOY-1")
