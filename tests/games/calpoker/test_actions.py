"""Four cards as people write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT
from channelsim.games.cards import card_face, card_name
from channelsim.games.contract import Action, Seat
from channelsim.games.errors import IllegalAction
from tests.games.calpoker.cal import GAME, cal, cards_of, deal_cards, giving

TABLE = deal_cards("cards").until("c")
HANDS = cards_of(TABLE.players[0]).hands
assert HANDS is not None
HAND = HANDS[0]


def read(text: str) -> Action:
    return GAME.read_action(TABLE.players[Seat.ALICE], text)


@pytest.mark.parametrize(
    "form",
    [
        lambda place: str(place + 1),
        lambda place: card_name(HAND[place]),
        lambda place: card_name(HAND[place]).lower(),
        lambda place: card_name(HAND[place]).replace("T", "10").upper(),
        lambda place: card_face(HAND[place])[0],
        lambda place: card_face(HAND[place])[0] + "\ufe0f",
    ],
)
def test_every_choice_can_be_written_in_every_form(form: Callable[[int], str]) -> None:
    for mask in FOUR_OF_EIGHT:
        words = [form(place) for place in range(8) if mask >> place & 1]
        for text in (" ".join(words), "discard " + ", ".join(words[::-1])):
            assert read(text) == Action("discard", mask)


def test_fold_can_be_written() -> None:
    assert read(" FOLD ") == Action("fold")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "nothing was written; possible: discard FOUR CARDS, by number or by name, fold"),
        ("discard", "name 4 cards to give away, not 0"),
        ("1", "name 4 cards to give away, not 1"),
        ("1 2 3", "name 4 cards to give away, not 3"),
        ("1 2 3 4 5", "name 4 cards to give away, not 5"),
        ("1 2 3 3", "is named twice"),
        ("1 2 3 9", "'9' is not a card: write a number from 1 to 8, or a name such as "),
        ("1 2 3 0", "'0' is not a card"),
        ("1 2 3 -4", "'-4' is not a card"),
        ("1 2 3 ٤", "is not a card"),
        ("1 2 3 A", "'a' is not a card"),
        ("1 2 3 1s", "'1s' is not a card"),
        ("1 2 3 15", "'15' is not a card"),
        ("discard fold", "'fold' is not a card"),
        ("raise", "cannot raise now; possible: discard FOUR CARDS, by number or by name, fold"),
        ("fold 1", "'fold' is not a card"),
        ("x" * 10_000, "cannot xxx"),
        ("1 2 3 " + "7" * 10_000, "'777"),
    ],
)
def test_wrong_input_gets_one_clear_line(text: str, reason: str) -> None:
    with pytest.raises(IllegalAction) as refused:
        read(text)
    assert reason in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 160


def test_other_peoples_cards_are_refused() -> None:
    others = [card for card in range(52) if card not in HAND]
    for card in others:
        with pytest.raises(IllegalAction, match="is not one of your cards"):
            read(f"1 2 3 {card_name(card)}")


def test_a_card_by_number_and_by_name_is_one_card() -> None:
    with pytest.raises(IllegalAction, match="is named twice"):
        read(f"1 2 3 {card_name(HAND[0])}")


def test_bob_writes_of_his_own_cards() -> None:
    table = deal_cards("cards").until("d", giving(0x0F), giving(0x0F))
    hands = cards_of(table.players[1]).hands
    assert hands is not None
    names = " ".join(card_name(card) for card in hands[1][4:])
    assert GAME.read_action(table.players[Seat.BOB], names) == Action("discard", 0xF0)
    with pytest.raises(IllegalAction, match="the other player's turn"):
        GAME.read_action(table.players[Seat.ALICE], "1 2 3 4")


def test_before_the_deal_there_is_nothing_to_pick() -> None:
    alice, bob = deal_cards("cards").players
    assert GAME.read_action(alice, "commit") == Action("commit")
    with pytest.raises(IllegalAction, match="possible: commit"):
        GAME.read_action(alice, "1 2 3 4")
    with pytest.raises(IllegalAction, match="the other player's turn"):
        GAME.read_action(bob, "1 2 3 4")


@given(st.text(max_size=40))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        action = read(text)
    except IllegalAction as refused:
        assert "\n" not in str(refused)  # noqa: PT017
        return
    assert cal(TABLE.players[0]).act(action)
