"""The story of a hand: what happened, and nothing that the viewer does not know."""

from __future__ import annotations

from dataclasses import replace

from channelsim.games.contract import Hand, Line, Seat
from tests.games.poker.test_play import GAME, played, table


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def story_of(hand: Hand, viewer: Seat | None) -> str:
    """The lines of each step when it was the newest, and of the result."""
    steps = [
        text_of(GAME.story.step(replace(hand, steps=hand.steps[: i + 1], payouts=None), viewer))
        for i in range(len(hand.steps))
    ]
    return "\n".join([*steps, text_of(GAME.story.result(hand, viewer))])


def test_a_showdown_by_the_words() -> None:
    hand = played("words", "raise 2", "call", "bet 4", "call", *["check"] * 4).hand
    story = story_of(hand, None)
    for phrase in (
        "ann opens the other player's cards",
        "ben raises by 2 units (200 mojos)\n  pot 6 units (600 mojos); left: ann 3,800, ben 3,600",
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
    assert "a unit" in text_of(GAME.story.view(one.players[0]))
    one = played("open", "call")
    assert GAME.summary(one.hand, Seat.ALICE)["result"]["kind"] == "unfinished"
