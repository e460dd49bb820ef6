"""The preparation of a deck: honest sides agree, and each step comes once."""

from __future__ import annotations

from contextlib import AbstractContextManager

import pytest

from channelsim.games.deck import work
from channelsim.games.deck.faults import RULES, DeckFault
from channelsim.games.deck.terms import CARDS, DeckTerms
from tests.games.deck.decks import TERMS, TOY, Conversation, conversation, decks, secrets


def refused(rule: str) -> AbstractContextManager[object]:
    assert rule in RULES
    return pytest.raises(DeckFault, match=f"^{rule}: ")


def test_both_sides_hold_the_same_deck() -> None:
    ours, theirs = decks()
    assert ours.root(TERMS.positions) == theirs.root(TERMS.positions)
    assert ours.root(5) == theirs.root(5) != ours.root(6)
    for deck, other in ((ours, theirs), (theirs, ours)):
        cards = [deck.card(at, other.opening(at)) for at in range(TERMS.positions)]
        assert len(set(cards)) == TERMS.positions
        assert set(cards) <= set(range(CARDS))
        assert cards == [theirs.card(at, ours.opening(at)) for at in range(TERMS.positions)]


def test_a_root_covers_some_positions_of_the_deck() -> None:
    for positions in (0, TERMS.positions + 1):
        with pytest.raises(DeckFault, match="PD-9"):
            decks()[0].root(positions)


def test_every_deal_is_another_one() -> None:
    seen = set()
    for number in range(4):
        sides = Conversation(receiver_secrets=secrets(f"receiver {number}"))
        other = sides.receivers
        seen.add(tuple(sides.initiators.card(at, other.opening(at)) for at in range(9)))
    assert len(seen) == 4


@pytest.mark.parametrize(
    "terms",
    [
        (bytes(31), 1, 9, 40),
        *((bytes(32), 1 << 32, 9, 40), (bytes(32), 1, 0, 40), (bytes(32), 1, 53, 40)),
        *((bytes(32), 1, 9, 0), (bytes(32), 1, 9, 41), (bytes(32), 1, 9, 256)),
    ],
)
def test_terms_have_bounds(terms: tuple[bytes, int, int, int]) -> None:
    with refused("PD-8"):
        DeckTerms(*terms)


@pytest.mark.parametrize("change", [(2, 9, 8), (1, 8, 8), (1, 9, 16)])
def test_message_1_repeats_the_terms(change: tuple[int, int, int]) -> None:
    number, positions, rounds = change
    other = DeckTerms(bytes(32), number, positions, rounds)
    _, message = work.start(TOY, other, secrets("other", other))
    with refused("PD-8"):
        work.join(TOY, TERMS, secrets("initiator"), message)


def sides() -> tuple[work.Preparation, work.Preparation, bytes]:
    """Both sides with message 1 answered."""
    theirs, one = work.start(TOY, TERMS, secrets("receiver"))
    ours, two = work.join(TOY, TERMS, secrets("initiator"), one)
    return ours, theirs, two


def test_a_preparation_ends_with_the_deck_on_both_sides() -> None:
    ours, theirs, two = sides()
    theirs, three = theirs.receive(2, two)
    ours, four = ours.receive(3, three)
    assert (ours.finished, theirs.finished) == (None, None)
    theirs, five = theirs.receive(4, four)
    ours, last = ours.receive(5, five)
    assert last == b""
    assert (ours.finished, theirs.finished) == decks()


def test_a_repeat_gets_the_same_answer() -> None:
    ours, theirs, two = sides()
    again, answer = ours.receive(1, conversation().messages[1])
    assert (again, answer) == (ours, two)
    theirs, three = theirs.receive(2, two)
    assert theirs.receive(2, two) == (theirs, three)
    _, four = ours.receive(3, three)
    theirs, five = theirs.receive(4, four)
    assert theirs.receive(4, four) == (theirs, five)


def test_a_second_message_for_an_answered_step_burns_the_deck() -> None:
    """After the challenge is open, a second shuffle could be proved without knowing one."""
    _, theirs, two = sides()
    theirs, _ = theirs.receive(2, two)
    other = Conversation(initiator_secrets=secrets("another")).messages[2]
    with refused("PD-11"):
        theirs.receive(2, other)


@pytest.mark.parametrize("step", [0, 1, 4, 5, 6])
def test_steps_come_in_order(step: int) -> None:
    ours, _, _ = sides()
    with refused("PD-11"):
        ours.receive(step, b"")


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("change", ["longer", "shorter", "empty"])
def test_each_message_has_its_length(step: int, change: str) -> None:
    message = conversation().messages[step]
    altered = {"longer": message + b"\0", "shorter": message[:-1], "empty": b""}[change]
    with refused("PD-2"):
        conversation().give(step, altered)


@pytest.mark.parametrize("step", [3, 4])
@pytest.mark.parametrize("at", [0, 2])
def test_the_opened_challenge_fits_its_commitment(step: int, at: int) -> None:
    """Byte 0 is of the bits, byte 2 of the salt."""
    message = bytearray(conversation().messages[step])
    message[at] ^= 1
    with refused("PD-6"):
        conversation().give(step, bytes(message))


def test_a_fault_names_the_step() -> None:
    with pytest.raises(DeckFault, match="message 3 has 0 bytes instead of"):
        conversation().give(3, b"")


def test_secrets_are_not_shown() -> None:
    drawn = secrets("initiator")
    for shown in (repr(drawn), repr(conversation().shuffled), repr(decks()[0])):
        assert str(drawn.mask) not in shown
        assert str(drawn.locks[0]) not in shown
