"""The check that rules bind secrets, which compares no program with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from channelsim.channel.kit.conformance import Subject
from channelsim.channel.kit.secrets import NEEDS_GAME, secrets
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games import registry
from channelsim.games.contract import Slash, Valid

SHOWN = {
    "calpoker": "secrets that c, e judge",
    "spacepoker": "secrets that begin_round, mid_round, end judge",
    "chinese": "secrets that deal, commit, rows, score judge",
    "five-draw": "secrets that deal, begin, draw, show, end judge",
}


@pytest.mark.parametrize("name", SHOWN)
def test_the_rules_of_our_games_bind_their_secrets(name: str) -> None:
    result = secrets(Subject(of_game(registry.get(name))))
    assert not result.failures
    assert SHOWN[name] in result.tried


@pytest.mark.long
@pytest.mark.parametrize("name", sorted({*registry.names()} - {*SHOWN}))
def test_those_of_the_other_games_do_too(name: str) -> None:
    result = secrets(Subject(of_game(registry.get(name))))
    assert not result.failures
    assert "secrets that deal, " in result.tried


@pytest.mark.parametrize(
    ("game", "rule", "place"),
    [("calpoker", "CP-C-2", "c"), ("holdem", "PK-BEGIN-2", "begin")],
    ids=["a hash", "a lock"],
)
def test_a_rule_that_python_and_the_program_lack_is_missed(
    game: str, rule: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Target.judge

    def judge_without(target: Target, validator: str) -> Any:
        judge = right(target, validator)
        assert judge is not None

        def judge_move(*given: Any) -> Any:
            verdict = judge(*given)
            is_missing = isinstance(verdict, Slash) and verdict.rule == rule
            return Valid(None) if is_missing else verdict

        return judge_move

    monkeypatch.setattr(Target, "judge", judge_without)
    result = secrets(Subject(of_game(registry.get(game))))
    (failure,) = result.failures
    assert failure.place == place
    assert f"the rules of {place} do not bind a secret: byte 0 of the move 0x" in failure.text


def test_a_target_without_rules_is_not_checked() -> None:
    target = replace(of_game(registry.get("calpoker")), rules=None)
    assert secrets(Subject(target)).unchecked == NEEDS_GAME
