"""Policies choose only what is offered, and every choice comes up."""

from __future__ import annotations

from collections import Counter

from channelsim.games.chance import Chance
from channelsim.games.contract import Action
from tests.games.table import GAME, by_policy, sit_down

ALICE_OPENS = "s2"


def chosen(policy: str, *actions: str, times: int = 400) -> Counter[str]:
    """The action of a policy when it opens, or after these actions."""
    table = sit_down(ALICE_OPENS).until("begin_round")
    for text in actions:
        player = table.players[table.position.mover]
        table.step(GAME.read_action(player, text))
    player = table.players[table.position.mover]
    chance = Chance(b"policies")
    verbs: Counter[str] = Counter()
    for _ in range(times):
        action = GAME.policies[policy](player, chance)
        player.act(action)
        verbs[action.verb] += 1
    return verbs


def test_caller() -> None:
    assert set(chosen("caller")) == {"check"}
    assert set(chosen("caller", "all-in")) == {"call"}


def test_random_does_everything_and_folds_rarely() -> None:
    verbs = chosen("random", "bet 1")
    assert set(verbs) == {"call", "raise", "fold"}
    assert verbs["fold"] < 40
    assert min(verbs["call"], verbs["raise"]) > 150


def test_aggressive_never_folds_and_is_often_all_in() -> None:
    verbs = chosen("aggressive")
    assert set(verbs) == {"bet", "check"}
    assert verbs["bet"] > 250
    player = sit_down(ALICE_OPENS).until("begin_round").players[0]
    chance = Chance(b"all-in")
    amounts = [GAME.policies["aggressive"](player, chance).amount for _ in range(200)]
    assert 30 < amounts.count(900) < 80


def test_folder_folds_weak_hands_more() -> None:
    hands = [
        sit_down(bytes([i])).play(by_policy("folder", bytes([i])), by_policy("caller", ""))
        for i in range(100)
    ]
    folded = sum(hand.steps[-1].action == Action("fold") for hand in hands)
    assert 20 < folded < 80


def test_forced_choices_are_taken() -> None:
    player = sit_down(ALICE_OPENS).players[0]
    for policy in GAME.policies.values():
        assert policy(player, Chance(b"")) == Action("commit")
