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
from tests.sampling import one_in

SHOWN = {
    "calpoker": "secrets that c, e judge",
    "spacepoker": "secrets that begin_round, mid_round, end judge",
}
"""The validators of the games in which moves show secrets. Decks have proofs of their own."""


@pytest.mark.parametrize("name", [*SHOWN, *one_in(6, sorted({*registry.names()} - {*SHOWN}))])
def test_the_rules_of_all_games_bind_their_secrets(name: str) -> None:
    result = secrets(Subject(of_game(registry.get(name))))
    assert not result.failures
    assert SHOWN.get(name, "0 bytes of secrets") in result.tried


def test_a_rule_that_python_and_the_program_lack_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = Target.judge

    def judge_without(target: Target, validator: str) -> Any:
        judge = right(target, validator)
        assert judge is not None

        def judge_move(*given: Any) -> Any:
            verdict = judge(*given)
            is_missing = isinstance(verdict, Slash) and verdict.rule == "CP-C-2"
            return Valid(None) if is_missing else verdict

        return judge_move

    monkeypatch.setattr(Target, "judge", judge_without)
    result = secrets(Subject(of_game(registry.get("calpoker"))))
    (failure,) = result.failures
    assert failure.place == "c"
    assert "the rules of c do not bind a secret: byte 0 of the move 0x" in failure.text


def test_a_target_without_rules_is_not_checked() -> None:
    target = replace(of_game(registry.get("calpoker")), rules=None)
    assert secrets(Subject(target)).unchecked == NEEDS_GAME
