"""The other player's bets by positions alone: they are those that it made."""

from __future__ import annotations

import pytest

from channelsim.games import registry
from channelsim.games.story import ShowsMoves
from tests.games.table import by_policy, sit_down


@pytest.mark.parametrize("name", ["spacepoker", "holdem", "five-draw"])
def test_a_bet_is_shown_as_the_story_has_it(name: str) -> None:
    game = registry.get(name)
    story = game.story
    assert isinstance(story, ShowsMoves)
    verbs = set()
    for seed in range(3 if game.deck_positions else 12):
        decide = (
            by_policy("random", f"a {seed}", game),
            by_policy(("caller", "aggressive")[seed % 2], f"b {seed}", game),
        )
        hand = sit_down(f"between {seed}", game=game).play(*decide).hand
        for count, step in enumerate(hand.steps, 1):
            if step.after == step.before:
                continue  # a settlement
            move = story.move_between(hand.terms, step.before, step.after)
            begun = hand.__class__(hand.terms, hand.names, hand.steps[:count])
            lines = ["".join(text for text, _ in line) for line in story.step(begun, None)]
            shown = [line for line in lines if line.startswith(hand.names[step.seat])]
            if move:
                verbs.add(move.split()[0])
                # "checks too" is the answer to a check; a call may go on with a draw.
                said = f"{hand.names[step.seat]} {move}"
                assert any(line.replace(" too", "").startswith(said) for line in shown), (
                    lines,
                    move,
                )
            else:
                assert step.action.verb not in ("check", "bet", "raise"), step.action
    assert {"checks", "calls"} <= verbs
    assert verbs & {"bets", "raises"}
