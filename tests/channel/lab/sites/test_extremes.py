"""Hands are driven to where the numbers of a state end, with rules and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from channelsim.channel.lab.cases.case import make_case
from channelsim.channel.lab.cases.trial import LabTally, Trial
from channelsim.channel.lab.laws.verdicts_agree import LAW
from channelsim.channel.lab.referee.referee_runs import RefereeRunner
from channelsim.channel.lab.sites.extremes import Extremes, is_offered
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.hands import hands
from channelsim.channel.lab.sites.recorded_extremes import RecordedExtremes
from channelsim.channel.lab.sites.site import Site
from channelsim.channel.lab.targets.loading import read
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games import registry
from channelsim.games.contract import Action, Amount, Game, OneOf, Plain
from channelsim.games.poker.states import Mid
from tests.channel.lab.fuzzing import searched
from tests.channel.lab.streaks import Saying, streaks
from tests.channel.lab.toys import toy

HANDS = 120


def steered(target: Target, seed: bytes, count: int = HANDS) -> list[tuple[Site, int]]:
    search = Extremes(target, seed)
    assert search.ready
    found = [place for _ in range(count) for place in search.places()]
    assert search.work > 0
    return found


@pytest.fixture
def target_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Game], Target]:
    """The target of a game that is not installed."""

    def target_of(game: Game) -> Target:
        monkeypatch.setattr(registry, "get", lambda name: game)
        return of_game(game)

    return target_of


@pytest.fixture
def right(tmp_path: Path, target_of: Callable[[Game], Target]) -> Target:
    return target_of(streaks(tmp_path))


def longest(states: Iterator[object]) -> int:
    return max(state.streak for state in states if isinstance(state, Saying))


def test_a_count_comes_to_its_end_to_which_ordinary_hands_do_not_come(right: Target) -> None:
    ordinary = (
        turn.before.state for hand in islice(hands(right, b"count"), HANDS) for turn in hand
    )
    assert longest(ordinary) < 6
    assert longest(site.before.state for site, _ in steered(right, b"count")) >= 6


def test_few_places_are_worth_any_cases_once_all_is_known(right: Target) -> None:
    places = steered(right, b"known")
    assert len(places) < 9 * HANDS
    assert {cases for _, cases in places} == {4, 24}


def test_the_same_seed_gives_the_same_places(right: Target) -> None:
    first, second = steered(right, b"same", 20), steered(right, b"same", 20)
    assert [site.opening + site.play.move for site, _ in first] == [
        site.opening + site.play.move for site, _ in second
    ]


WRAPS = ("(+ streak 1)", "(if (= streak 6) 0 (+ streak 1))")


@pytest.mark.parametrize("mistake", [(), WRAPS])
def test_a_count_that_wraps_near_its_end_is_seen(
    mistake: tuple[str, ...], tmp_path: Path, target_of: Callable[[Game], Target]
) -> None:
    target = target_of(streaks(tmp_path, *mistake))
    found = {finding for site, _ in steered(target, b"wraps") for finding in own(target, site)}
    assert any("leads elsewhere" in cause for cause in found) == bool(mistake)
    assert bool(found) == bool(mistake)


def own(target: Target, site: Site) -> set[str]:
    """The causes of what is wrong about the move of a place itself."""
    call = site.play.move, site.play.share, site.play.evidence
    cases = [make_case(site, "own", *call)]
    trial = Trial(target, RefereeRunner(target), site, cases, FastChance(b"own"), LabTally())
    return {finding.cause for finding in LAW.check(trial)}


@pytest.mark.long
def test_a_search_finds_it(tmp_path: Path, target_of: Callable[[Game], Target]) -> None:
    wrong = target_of(streaks(tmp_path, *WRAPS))
    part = searched(wrong, "wraps", 4e6)
    assert any("leads elsewhere" in finding.cause for finding in part.findings)


def test_hands_with_decks_are_steered() -> None:
    razz = of_game(registry.get("razz"))
    states = [site.before.state for site, _ in steered(razz, b"deck", 12)]
    assert any(isinstance(state, Mid) for state in states)


def test_only_what_is_offered_is_done_again() -> None:
    choices = (Plain("check"), Amount("raise", 10, 80, step=10), OneOf("stand", (2, 5), "cards"))
    offered = (Action("check"), Action("raise", 20), Action("stand", 5))
    refused = (Action("fold"), Action("raise", 25), Action("raise", 90), Action("stand", 3))
    assert all(is_offered(action, choices) for action in offered)
    assert not any(is_offered(action, choices) for action in refused)


# --- without rules -----------------------------------------------------------------------------


def test_recorded_moves_follow_on_each_other_in_new_hands(tmp_path: Path) -> None:
    target = read(toy(tmp_path))
    search = RecordedExtremes(target, b"recorded")
    assert search.ready
    places = [place for _ in range(60) for place, _ in search.places()]
    assert places
    assert all(place.lie and place.guessed for place in places)
    recorded = {site.validator: site for site in places}
    assert set(recorded) <= set(target.programs)


def test_each_search_is_for_targets_of_its_kind(right: Target, tmp_path: Path) -> None:
    assert not RecordedExtremes(right, b"rules").ready
    assert not Extremes(read(toy(tmp_path)), b"bare").ready
