"""The story of a hand: what happened, and nothing that the viewer does not know."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from channelsim.games.contract import Hand, Line, Seat
from channelsim.games.poker.hand_names import card_face, card_name
from channelsim.games.poker.result import cards_of
from tests.games.poker.test_play import GAME, played, table
from tests.games.table import by_policy


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def story_of(hand: Hand, viewer: Seat | None) -> str:
    """The lines of each step when it was the newest, and of the result."""
    steps = [
        text_of(GAME.story.step(replace(hand, steps=hand.steps[: i + 1], payouts=None), viewer))
        for i in range(len(hand.steps))
    ]
    return "\n".join([*steps, text_of(GAME.story.result(hand, viewer))])


def hidden(hand: Hand, viewer: Seat) -> tuple[int, ...]:
    """The opponent's cards, unless the viewer has seen them."""
    mine, theirs = (cards_of(hand.steps[-1].players[seat]) for seat in (viewer, viewer.other))
    return tuple(card for card in theirs.own if card not in mine.others)


@pytest.mark.parametrize("viewer", Seat, ids=lambda seat: seat.name)
def test_what_the_opponent_hides_is_in_no_story(viewer: Seat) -> None:
    kinds = set()
    for seed in range(6):
        hand = (
            table(f"hide {seed}").play(*[by_policy("folder", f"{seed} {s}", GAME) for s in Seat])
        ).hand
        kinds.add(GAME.summary(hand, None)["result"]["kind"])
        unseen = hidden(hand, viewer)
        shown = story_of(hand, viewer)
        view = text_of(GAME.story.view(hand.steps[-1].players[viewer]))
        document = json.dumps(GAME.summary(hand, viewer))
        for card in unseen:
            assert card_face(card)[0] not in shown.split(), card_name(card)
            assert card_face(card)[0] not in view
            assert f'"{card_name(card)}"' not in document
        assert bool(unseen) == ("▒▒▒" in shown or not cards_of(hand.steps[-1].players[viewer]).own)
        if not unseen:
            assert GAME.summary(hand, viewer)["cards"] == GAME.summary(hand, None)["cards"]
    assert "fold" in kinds


def test_a_showdown_by_the_words() -> None:
    hand = played("words", "raise 2", "call", "bet 4", "call", *["check"] * 4).hand
    story = story_of(hand, None)
    for phrase in (
        "ann opens the other player's cards",
        "ben raises by 2 units (200 mojos)\n  pot 6 units (600 mojos); left: ann 3800, ben 3600",
        "ann calls 2 units (200 mojos)\n  pot 8 units (800 mojos)",
        "ben opens what is due",
        "ann bets 4 units (400 mojos)",
        "ben calls 4 units (400 mojos)",
        "ann checks\n",
    ):
        assert phrase in story, phrase


def test_an_unfinished_hand_and_one_that_has_not_begun() -> None:
    one = table("open")
    assert GAME.summary(one.hand, None)["result"]["kind"] == "unfinished"
    assert "a chip" in text_of(GAME.story.view(one.players[0]))
    one = played("open", "call")
    assert GAME.summary(one.hand, Seat.ALICE)["result"]["kind"] == "unfinished"
