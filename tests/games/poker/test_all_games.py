"""Every registered game by its policies, with its story and its summary."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from channelsim.games.chance import Chance
from channelsim.games.contract import Action, Hand, OneOf, Seat
from channelsim.games.errors import IllegalAction
from channelsim.games.poker.arrangements import COUNT, in_rows, number_of
from channelsim.games.poker.arranging import arranged
from channelsim.games.poker.games import GAMES
from channelsim.games.poker.policies import best_arrangement
from channelsim.games.poker.variants import VARIANTS
from tests.games.table import Table, by_policy, sit_down

each_game = pytest.mark.parametrize("name", VARIANTS)


def played(name: str, seed: str, stack: int, *policies: str) -> Table:
    game = GAMES[name]
    decide = [by_policy(policy, f"{seed} {policy}", game) for policy in policies]
    return sit_down(f"{name} {seed}", 100, stack, game).play(*decide)


@each_game
def test_policies_play_to_the_end(name: str) -> None:
    kinds = set()
    game = GAMES[name]
    for number, policies in enumerate((("caller", "caller"), ("random", "aggressive"))):
        hand = played(name, f"end {number}", (40, 8)[number], *policies)
        assert hand.payouts is not None
        assert sum(hand.payouts) == hand.terms.amount
        assert min(hand.payouts) >= 0
        kinds.add(game.summary(hand.hand, None)["result"]["kind"])
        for viewer in (None, *Seat):
            assert game.story.result(hand.hand, viewer)
            json.dumps(game.summary(hand.hand, viewer))
    assert kinds <= {"showdown", "tie", "fold"}


def test_a_hand_without_a_bet_before_the_draw_is_passed_out() -> None:
    hand = played("five-draw", "nobody bets", 40, "caller", "caller")
    assert hand.payouts == (4000, 4000)
    assert GAMES["five-draw"].summary(hand.hand, None)["result"]["by"] == "passed out"


def story_of(hand: Hand, name: str) -> str:
    """The first step and the result, as both players together know them."""
    story = GAMES[name].story
    begun = replace(hand, steps=hand.steps[:1], payouts=None)
    lines = [*story.step(begun, None), *story.result(hand, None)]
    return "\n".join("".join(text for text, _ in line) for line in lines)


@pytest.mark.parametrize(
    ("name", "phrases"),
    [
        ("holdem", ("has the button; blinds of 1 unit (100 mojos) and 2 units", "pot 3 units")),
        ("razz", ("has the button; antes of 1 unit (100 mojos)", " is lower than ")),
        ("omaha8", ("  low: ", "low: ")),
        ("chinese", ("has the button\n  pot 28 units", "(foul: a row is stronger")),
        ("five-draw", ("antes of 1 unit", "passed out: the pot is split")),
    ],
)
def test_a_story_tells_what_a_player_wants_to_know(name: str, phrases: tuple[str, ...]) -> None:
    """Who has the button, what was posted, and what each hand is in the order of its game."""
    policy = "random" if name == "chinese" else "caller"
    story = story_of(played(name, "told", 40, policy, policy).hand, name)
    for phrase in phrases:
        assert phrase in story, story


def test_a_bet_of_one_size_needs_no_number() -> None:
    """In fixed limit."""
    game = GAMES["five-stud"]
    hand = sit_down("one size", 100, 40, game).until("mid", *[by_policy("caller", "", game)] * 2)
    mover = hand.players[hand.position.mover]
    assert game.read_action(mover, "bet") == Action("bet", 200)
    assert game.read_action(mover, "bet 2") == Action("bet", 200)


def test_a_summary_does_not_show_an_arrangement_before_it_is_shown() -> None:
    hand = sit_down("secret", 100, 40, GAMES["chinese"])
    decide = [by_policy("random", "secret", GAMES["chinese"])] * 2
    hand = hand.until("rows", *decide)
    actions = GAMES["chinese"].summary(hand.hand, Seat.ALICE)["actions"]
    assert [one["verb"] for one in actions] == ["deal", "arrange"]
    assert {one["amount"] for one in actions} == {0}


def test_the_greedy_arrangement_is_no_foul() -> None:
    chance = Chance(b"greedy")
    for _ in range(3):
        deck = list(range(52))
        cards = [deck.pop(chance.below(len(deck))) for _ in range(13)]
        number = best_arrangement(cards, chance)
        assert 0 <= number < COUNT
        assert not arranged(in_rows(number, cards)).foul


def test_cards_are_named_by_number_or_by_name() -> None:
    game = GAMES["chinese"]
    hand = sit_down("named", 100, 40, game).until("commit", *[by_policy("caller", "", game)] * 2)
    player = hand.players[hand.position.mover]
    action = game.read_action(player, "arrange 1 2 3 / 5 6 7 8 9")
    assert action == Action("arrange", number_of([0, 1, 2], [4, 5, 6, 7, 8]))
    for wrong in ("arrange 1 2 3", "arrange 1 1 2 3 4 5 6 7", "arrange 0 1 2 3 4 5 6 7"):
        with pytest.raises(IllegalAction):
            game.read_action(player, wrong)


def test_a_draw_is_a_mask_of_the_hand() -> None:
    game = GAMES["five-draw"]
    bets = [by_policy("aggressive", "bets", game)] * 2
    for seed in range(20):
        hand = sit_down(f"draw {seed}", 100, 40, game).until("draw", *bets)
        if not hand.position.over:
            break
    player = hand.players[hand.position.mover]
    assert isinstance(player.choices()[0], OneOf)
    assert game.read_action(player, "discard 1 5") == Action("discard", 0b10001)
    assert game.read_action(player, "discard") == Action("discard", 0)
    with pytest.raises(IllegalAction):
        game.read_action(player, "discard 6")


@pytest.mark.long
def test_an_arrangement_that_loses_all_may_be_mucked() -> None:
    """SHOW-3: the share is the same, and the cards stay hidden."""
    game, seen = GAMES["chinese"], set()
    for seed in range(40):
        one = sit_down(f"muck {seed}", 100, 2, game).until(
            "score", *[by_policy("random", f"{seed}", game)] * 2
        )
        mover = one.position.mover
        verbs = tuple(choice.verb for choice in one.players[mover].choices())
        play = one.players[mover].act(Action("show"))
        left = one.terms.amount - getattr(play, "share", 0)
        assert verbs == (("show",) if left > one.position.mover_share else ("show", "muck"))
        if len(verbs) == 2:
            one.step(Action("muck"))
            assert one.payouts is not None
            assert one.payouts[mover] == left == 0
        seen.add(verbs)
    assert len(seen) == 2
