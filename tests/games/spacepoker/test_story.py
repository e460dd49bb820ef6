"""The story of a hand: everything that happened, and nothing that the viewer does not know."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channelsim.games.contract import Hand, Line, Player, Seat, Step
from channelsim.games.spacepoker.hands import describe
from channelsim.games.spacepoker.player import SpacePokerPlayer
from tests.games.table import GAME, NAMES, Table, by_policy, by_script, sit_down

ALICE_OPENS, BOB_OPENS = "s2", "s1"
viewers = st.sampled_from([None, Seat.ALICE, Seat.BOB])


def text_of(lines: list[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def lines_of(hand: Hand, viewer: Seat | None) -> list[str]:
    """The lines of each step when it was the newest, and of the result."""
    story = GAME.story
    steps = [
        text_of(story.step(replace(hand, steps=hand.steps[: i + 1], payouts=None), viewer))
        for i in range(len(hand.steps))
    ]
    return [*steps, text_of(story.result(hand, viewer))]


def played(seed: str | bytes, *actions: str) -> Table:
    return sit_down(seed).play(*[by_script(actions)] * 2)


def test_a_hand_to_the_showdown() -> None:
    table = played(BOB_OPENS, "bet 2", "call", *["check"] * 4, "bet 250m", "raise 1", "call")
    everything = "\n".join(lines_of(table.hand, None))
    for phrase in (
        "ann commits",
        "ben commits; each puts in 1 unit (100 mojos)\n  pot 2 units (200 mojos); left: ann 900,",
        "  ann        │ 3 │ │ 9 │  no boost\n",
        "  ben        │ 2 │ │ 4 │  + boost\n",
        "  the toss: ben opens\nann pongs",
        "ben bets 2 units (200 mojos)\n  pot 4 units (400 mojos); left: ann 900, ben 700 mojos",
        "ann calls 2 units (200 mojos)\n  pot 6 units (600 mojos)",
        "  flop       │ 6 │ │ Q │ │ Q │\n",
        "ben checks\n",
        "ann checks too\n",
        "  turn       │ 6 │ │ Q │ │ Q │ │",
        "  river      │ 6 │ │ Q │ │ Q │ │",
        "ben bets 2.5 units (250 mojos)",
        "ann raises by 1 unit (100 mojos)",
        "ben calls 1 unit (100 mojos)",
        "ann shows 3 9, no boost",
        "ben has 2 4, + boost",
        "ben accepts the result",
        " wins (",
        "paid out: ann ",
    ):
        assert phrase in everything, phrase


def test_a_fold_shows_the_share_of_the_folder() -> None:
    table = played(ALICE_OPENS, "bet 3", "all-in", "fold")
    lines = lines_of(table.hand, None)
    assert "ben raises by 6 units (600 mojos) and is all-in" in "\n".join(lines)
    assert "ann folds, keeping 6 units (600 mojos)" in lines[-2]
    assert lines[-1] == (
        "ben wins (fold: ann, pre-flop)\n"
        "paid out: ann 6 units (600 mojos), ben 14 units (1,400 mojos)"
    )


def test_a_tie_has_a_line() -> None:
    hands = (sit_down(bytes([i])).play(*[by_policy("caller", "")] * 2) for i in range(200))
    tie = next(table for table in hands if table.payouts == (1000, 1000))
    assert "the pot is split\npaid out: ann 10 units" in lines_of(tie.hand, None)[-1]
    assert GAME.summary(tie.hand, None)["result"] == {
        "kind": "tie",
        "winner": None,
        "by": "split: equal hands",
    }


# --- secrecy ---------------------------------------------------------------------------------


def with_other_secret(hand: Hand, seat: Seat) -> Hand:
    """The same hand, but that this seat holds other cards: a preimage nobody has seen."""

    def disguised(players: tuple[Player, Player]) -> tuple[Player, Player]:
        player = players[seat]
        assert isinstance(player, SpacePokerPlayer)
        other = msgspec.structs.replace(player, chain=(b"another preimage", *player.chain[1:]))
        return (other, players[1]) if seat is Seat.ALICE else (players[0], other)

    def step(one: Step) -> Step:
        return replace(
            one, players_before=disguised(one.players_before), players=disguised(one.players)
        )

    return replace(hand, steps=tuple(map(step, hand.steps)))


@given(st.binary(max_size=8), st.sampled_from(sorted(GAME.policies)), st.sampled_from(Seat))
@settings(deadline=None)
def test_a_viewer_does_not_see_the_opponents_cards(seed: bytes, policy: str, viewer: Seat) -> None:
    hand = sit_down(seed).play(*[by_policy(policy, seed)] * 2).hand
    secret = with_other_secret(hand, viewer.other)
    plain, disguised = lines_of(hand, viewer), lines_of(secret, viewer)
    verbs = [step.action.verb for step in hand.steps]
    until = verbs.index("show") if "show" in verbs else len(plain)
    assert plain[:until] == disguised[:until]
    for mine, other in zip(hand.steps[:until], secret.steps, strict=False):
        assert GAME.story.view(mine.players[viewer]) == GAME.story.view(other.players[viewer])


def test_the_disguise_changes_what_everybody_sees() -> None:
    hand = played(ALICE_OPENS, "check", "fold").hand
    assert lines_of(hand, None) != lines_of(with_other_secret(hand, Seat.BOB), None)
    assert "ben's cards" not in "\n".join(lines_of(hand, Seat.ALICE))
    assert "ben's cards" in "\n".join(lines_of(hand, Seat.BOB))


# --- what a person sees ----------------------------------------------------------------------


def test_the_view_of_a_seat() -> None:
    table = sit_down(ALICE_OPENS)
    assert text_of(GAME.story.view(table.players[0])).splitlines()[0] == "board        -"
    table.until("begin_round")
    for _ in range(2):
        table.step(GAME.read_action(table.players[table.position.mover], "check"))
    assert text_of(GAME.story.view(table.players[Seat.BOB])) == (
        "             ┌───┐ ┌───┐\n"
        "your cards   │ 10│ │ 6 │  + boost\n"
        "             └───┘ └───┘\n"
        "             ┌───┐ ┌───┐ ┌───┐\n"
        "board        │ 6 │ │ 5 │ │ 3 │\n"
        "             └───┘ └───┘ └───┘\n"
        "your hand    pair, sixes, + boost\n"
        "pot          2 units (200 mojos)\n"
        "left         you 9 units (900 mojos), the other player 9 units (900 mojos)\n"
        "a unit       100 mojos"
    )


def test_the_view_after_the_showdown() -> None:
    table = played(ALICE_OPENS, *["check"] * 8)
    text = text_of(GAME.story.view(table.players[Seat.BOB]))
    assert "their cards  │ 5 │ │ 8 │  no boost\n" in text
    assert "pot" not in text


# --- the summary -----------------------------------------------------------------------------


@given(st.binary(max_size=8), st.sampled_from(sorted(GAME.policies)), viewers)
@settings(deadline=None)
def test_the_summary_adds_up(seed: bytes, policy: str, viewer: Seat | None) -> None:
    table = sit_down(seed).play(*[by_policy(policy, seed)] * 2)
    summary = GAME.summary(table.hand, None)
    assert json.loads(json.dumps(summary)) == summary
    assert list(summary) == ["cards", "actions", "best_hands", "result", "payouts"]
    assert summary["payouts"] == dict(zip(NAMES, table.payouts or (), strict=True))
    assert len(summary["actions"]) == len(table.steps)
    for action in summary["actions"]:
        assert sum(action["stacks"].values()) + action["pot"] == table.terms.amount
    result, shown = summary["result"], summary["best_hands"]
    if result["kind"] == "fold":
        assert shown == dict.fromkeys(NAMES)
        assert summary["actions"][-1]["verb"] == "fold"
        assert result["winner"] != summary["actions"][-1]["player"]
        return
    assert len(summary["cards"]["board"]) == 5
    for name in NAMES:
        check_best_hand(summary["cards"], name, shown[name])
    ann, ben = (shown[name]["list"] for name in NAMES)
    assert result["winner"] == (None if ann == ben else NAMES[ben > ann])
    assert lines_of(table.hand, viewer)[-1].startswith(f"ann: {shown['ann']['name']}")


def check_best_hand(cards: dict[str, Any], name: str, best: dict[str, Any]) -> None:
    seven = cards[name]["hole"] + cards["board"]
    assert sorted(best["ranks"]) == sorted(seven[i] for i in range(7) if best["mask"] >> i & 1)
    assert best["name"] == describe(tuple(best["list"]))
    assert best["name"].endswith({"+": "+ boost", "-": "no boost"}[cards[name]["boost"]])


def test_the_summary_of_a_hand_that_ended_early() -> None:
    summary = GAME.summary(played(ALICE_OPENS, "check", "bet 1", "fold").hand, None)
    assert summary["cards"]["board"] == []
    assert summary["cards"]["ann"] == {"hole": [5, 8], "boost": "-"}
    assert [(a["verb"], a["street"], a["amount"], a["units"]) for a in summary["actions"]] == [
        ("commit", "deal", 0, 0),
        ("commit", "deal", 0, 0),
        ("check", "pre-flop", 0, 0),
        ("raise", "pre-flop", 100, 1),
        ("fold", "pre-flop", 0, 0),
    ]
    assert summary["result"] == {"kind": "fold", "winner": "ben", "by": "fold: ann, pre-flop"}
    assert summary["payouts"] == {"ann": 900, "ben": 1100}


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_an_unfinished_hand_has_a_summary(steps: int) -> None:
    hand = played(ALICE_OPENS, "fold").hand
    summary = GAME.summary(replace(hand, steps=hand.steps[:steps], payouts=None), None)
    assert summary["payouts"] is None
    assert summary["result"]["kind"] == "unfinished"
    assert summary["cards"]["ann"] == (
        {"hole": [5, 8], "boost": "-"} if steps > 1 else {"hole": None, "boost": None}
    )
