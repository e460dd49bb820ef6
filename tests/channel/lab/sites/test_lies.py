"""Hands with a lie: what an honest player does after it, and a mistake that shows only there."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from channelsim.channel.lab.cases.mutator import Mutator
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws.verdicts_agree import LAW
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.lies import Liars, taken
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games import registry
from channelsim.games.contract import Valid
from tests.channel.lab.broken import target_file


def liars(target: Target, seed: bytes) -> Liars:
    made = Liars(target, FastChance(seed))
    for hand in islice(hands(target, seed), 20):
        for turn in hand:
            made.remember(turn.before.validator or "", turn.play)
    return made


@pytest.mark.parametrize(("game", "exposes"), [("spacepoker", 30), ("calpoker", 3)])
def test_an_honest_player_goes_on_legally_after_a_lie(game: str, exposes: int) -> None:
    target = of_game(registry.get(game))
    some = liars(target, b"lies")
    after_a_lie, refused = 0, 0
    for _ in range(40):
        for place in some.places():
            assert place.lie
            assert place.reach == "one player's own choice"
            ruling, _ = place.ruling(target, place.play.move, place.play.share)
            assert isinstance(ruling, Valid) == (taken(target, place) is not None)
            if place.guessed:  # the liar receives it
                after_a_lie += 1
                assert isinstance(ruling, Valid), (place.lie, place.validator)
            else:
                refused += not isinstance(ruling, Valid)
    assert after_a_lie > 20
    assert refused >= exposes  # the liar's own logic goes on as if it had not lied


COPIED = (
    *("spacepoker/begin_round.clsp", "(= MOVER_SHARE (- (/ AMOUNT 2) half_pot)) "),
    "(if (= mover_image waiter_image) 1 (= MOVER_SHARE (- (/ AMOUNT 2) half_pot)))",
)
"""Shares that are not checked once a player has committed to its opponent's commitment."""


def test_a_mistake_that_shows_only_after_a_lie_is_found(tmp_path: Path) -> None:
    target = load(str(target_file(tmp_path, "spacepoker", COPIED)))
    some, chance, tally = liars(target, b"lies"), FastChance(b"cases"), LabTally()
    for _ in range(60):
        for place in some.places():
            cases = Mutator(target, place, chance).cases(32)
            trial = Trial(target, RefereeRunner(target), place, cases, chance, tally)
            for finding in LAW.check(trial):
                tally.found(finding)
    findings = tally.causes()
    assert {finding.place for finding in findings} == {"begin_round"}
    assert "unslashable cheat" in {finding.severity for finding in findings}
    assert {finding.reach for finding in findings} == {"one player's own choice"}
