"""The story of a hand: everything that happened, and nothing that the viewer does not know."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelsim.games.calpoker.hands import describe
from channelsim.games.calpoker.result import best_hand
from channelsim.games.cards import card_name
from channelsim.games.contract import Hand, Line, Seat
from tests.games.calpoker.cal import GAME, cards_of, deal_cards, giving, policy
from tests.games.table import NAMES, Table

viewers = st.sampled_from([None, Seat.ALICE, Seat.BOB])


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def lines_of(hand: Hand, viewer: Seat | None) -> list[str]:
    """The lines of each step when it was the newest, and of the result."""
    steps = [
        text_of(GAME.story.step(replace(hand, steps=hand.steps[: i + 1], payouts=None), viewer))
        for i in range(len(hand.steps))
    ]
    return [*steps, text_of(GAME.story.result(hand, viewer))]


def played(seed: str | bytes, mine: int = 0x0F, yours: int = 0xF0, **options: bool) -> Table:
    return deal_cards(seed, **options).play(giving(mine), giving(yours))


def test_a_hand_to_the_showdown() -> None:
    table = played("story")
    everything = "\n".join(lines_of(table.hand, None))
    places = [
        everything.index(phrase)
        for phrase in (
            "ann commits to one half of the deal",
            "ben sends the other half, which fixes the cards",
            "  ann        │",
            "  ben        │",
            "ann gives away ",
            "uniform answers: wins ",
            "ben gives away ",
            "ann opens what was given away",
            "  ann gave ",
            "ben accepts the result",
            "ann: ",
            "ben: ",
            " wins (",
            "paid out: ann ",
        )
    ]
    assert places == sorted(places)
    assert max(map(len, everything.splitlines())) <= 80


@pytest.mark.parametrize("advise", [True, False])
def test_the_deal_is_shown_once_to_everybody(advise: bool) -> None:
    table = played("once", advise=advise)
    for viewer in (None, *Seat):
        assert "\n".join(lines_of(table.hand, viewer)).count("  ben        │") == 2  # and the swap


def test_what_alice_gives_is_shown_to_others_only_when_she_opens_it() -> None:
    lines = lines_of(played("down").hand, Seat.BOB)
    assert lines[2].endswith("ann gives four cards away, face down")
    assert lines[3].startswith("ben gives away ")
    assert "  ann gave " in lines[4]
    to_alice = lines_of(played("down").hand, Seat.ALICE)
    assert to_alice[2].startswith("ann gives away ")
    assert to_alice[3] == lines[3]


def test_a_fold_has_a_line() -> None:
    table = deal_cards("fold").until("d", giving(0x0F), giving(0x0F))
    table.step(GAME.read_action(table.players[Seat.BOB], "fold"))
    lines = lines_of(table.hand, None)
    assert lines[-2] == "ben folds, keeping 0 mojos"
    assert (
        lines[-1] == "ann wins (fold: ben, before the swap)\npaid out: ann 2,000 mojos, ben 0 mojos"
    )
    summary = GAME.summary(table.hand, None)
    assert summary["result"] == {
        "kind": "fold",
        "winner": "ann",
        "by": "fold: ben, before the swap",
    }
    assert summary["best_hands"] == dict.fromkeys(NAMES)
    assert summary["cards"]["ann"]["given"] is not None
    assert summary["cards"]["ann"]["final"] is None


def test_a_tie_has_a_line() -> None:
    tie = next(table for i in range(2_000) if (table := quick(i)).payouts == (1000, 1000))
    assert "the stakes are split\npaid out: ann 1,000 mojos" in lines_of(tie.hand, None)[-1]
    assert GAME.summary(tie.hand, None)["result"]["kind"] == "tie"


def quick(number: int) -> Table:
    return played(number.to_bytes(2, "big"), 0x55, 0x33)


def test_the_view_of_a_seat() -> None:
    table = deal_cards("view")
    assert text_of(GAME.story.view(table.players[0])) == "stakes       the winner takes 2,000 mojos"
    table.until("c")
    alice, bob = (text_of(GAME.story.view(player)) for player in table.players)
    rows = alice.splitlines()
    assert rows[1].startswith("your cards   │")
    assert rows[3] == "               1     2     3     4     5     6     7     8"
    assert rows[5].startswith("their cards  │")
    assert rows[7].startswith("hint         give away ")
    assert "hint" not in bob  # it is not his turn
    assert bob.splitlines()[1][13:] == rows[5][13:]
    assert max(map(len, alice.splitlines())) <= 80
    table.until("e", giving(0x0F), giving(0xF0))
    table.step(table.next_action())
    after = text_of(GAME.story.view(table.players[Seat.BOB]))
    assert "your eight   │" in after
    assert "their eight  │" in after


def test_red_suits_are_red_and_what_does_not_count_is_dim() -> None:
    table = played("colours")
    for line in GAME.story.step(table.hand, None) + GAME.story.view(table.players[0]):
        for text, style in line:
            assert ("red" in style) <= any(sign in text for sign in "♦♥")
            if any(sign in text for sign in "♦♥") and len(text) <= 3:
                assert style in ("bold red", "dim")


@given(st.binary(max_size=8), st.sampled_from(["random", "greedy"]), viewers)
@settings(max_examples=12, deadline=None)
def test_the_summary_adds_up(seed: bytes, name: str, viewer: Seat | None) -> None:
    table = deal_cards(seed).play(policy(name, seed), policy(name, b"b" + seed))
    summary = GAME.summary(table.hand, None)
    assert json.loads(json.dumps(summary)) == summary
    assert list(summary) == ["cards", "actions", "best_hands", "result", "payouts"]
    assert summary["payouts"] == dict(zip(NAMES, table.payouts or (), strict=True))
    assert [action["verb"] for action in summary["actions"]] == [
        *("commit", "seed", "discard", "discard", "reveal", "accept"),
    ]
    final = cards_of(table.players[0]).final
    assert final is not None
    for name, cards in zip(NAMES, final, strict=True):
        mine, best = summary["cards"][name], summary["best_hands"][name]
        assert mine["final"] == list(map(card_name, cards))
        assert set(mine["given"]) == set(mine["dealt"]) - set(mine["final"])
        assert set(best["cards"]) == {
            card_name(card) for i, card in enumerate(cards) if best["mask"] >> i & 1
        }
        assert best["name"] == describe(tuple(best["list"]))
    for action in summary["actions"]:
        assert (action["chance"] is None) == (action["verb"] != "discard")
        if action["chance"]:
            assert action["chance"]["of"] == 70
            assert action["chance"]["error"] == 0
    ann, ben = (summary["best_hands"][name]["list"] for name in NAMES)
    assert summary["result"]["winner"] == (None if ann == ben else NAMES[ben > ann])
    assert lines_of(table.hand, viewer)[-1].startswith(
        f"ann: {summary['best_hands']['ann']['name']}"
    )


@pytest.mark.parametrize("steps", range(6))
def test_an_unfinished_hand_has_a_summary(steps: int) -> None:
    hand = played("unfinished").hand
    summary = GAME.summary(replace(hand, steps=hand.steps[:steps], payouts=None), None)
    assert summary["payouts"] is None
    dealt = summary["cards"]["ben"]["dealt"]
    assert (dealt is None) == (steps < 2)
    kind = "unfinished" if steps < 5 else summary["result"]["kind"]
    assert summary["result"]["kind"] == kind


def test_the_wheel_is_shown_with_its_ace_last() -> None:
    wheel = best_hand((0, 4, 8, 13, 20, 28, 36, 51), 0b10001111)
    assert [card_name(card) for card in wheel.five] == ["5d", "4c", "3c", "2c", "As"]
