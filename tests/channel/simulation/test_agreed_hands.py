"""A session accounts for each hand that it was asked for, whatever was killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256

import pytest

from channelsim.channel.crypto import bls
from channelsim.channel.peer.play import play_state
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deck_works import seeded_secrets
from channelsim.channel.simulation import arena
from channelsim.channel.simulation.crashes import CrashedRun, Dies, run_killed
from channelsim.channel.simulation.kills import Kill
from channelsim.channel.simulation.scenario import Scenario, setup_of
from channelsim.games.deck.work import DeckResult, DeckWork, compute
from tests.channel.simulation.instants import every_instant

SESSION = Scenario(("five-stud",), "hands", hands=3, agreed=True)
"""Each hand has a deck that both peers prepare, and each peer proposes one."""


class ComputedOnce:
    """Computes each step of a deck once: all runs of one seed have the same ones."""

    def __init__(self, seed: str) -> None:
        self._secrets = seeded_secrets(seed.encode())
        self._results: dict[tuple[int, int, int, bytes], DeckResult] = {}

    def __call__(self, side: int, work: DeckWork) -> Callable[[], DeckResult]:
        key = (side, work.terms.number, work.step, sha256(work.message).digest())
        if key not in self._results:
            self._results[key] = compute(work, self._secrets(side, work.terms.number))
        return lambda: self._results[key]


DECKS = ComputedOnce(SESSION.seed)


@pytest.fixture(autouse=True)
def remember(few_rounds: None) -> Iterator[None]:
    with bls.remembered():
        yield


def killed(dies: Dies, scenario: Scenario = SESSION) -> CrashedRun:
    return run_killed(scenario, dies, compute_deck=DECKS)


def at(side: int, kill: Kill) -> Dies:
    return lambda peer, now: (peer, now) == (side, kill)


def instants(side: int, scenario: Scenario = SESSION) -> list[Kill]:
    return [*every_instant(scenario, side, DECKS)]


@pytest.mark.parametrize("side", Side)
def test_all_hands_are_played_though_a_side_is_killed(side: Side) -> None:
    for kill in instants(side)[20 * side :: 80]:
        run = killed(at(side, kill))
        assert run.kills[side] == (kill,)
        assert not run.failed, run


@pytest.mark.long
@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("number", range(3))
def test_all_hands_are_played_though_a_side_is_killed_at_any_instant(
    side: Side, number: int
) -> None:
    scenario = Scenario(SESSION.games, f"{SESSION.seed}/{number}", hands=3, agreed=True)
    for kill in instants(side, scenario):
        run = killed(at(side, kill), scenario)
        assert not run.failed, run


@pytest.mark.long
def test_a_player_that_takes_a_lost_deck_for_a_wish_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The initiator loses a deck whose last step and whose proposal are on their way."""
    monkeypatch.setattr(play_state, "LOST_DECK", ())
    broken = (killed(at(0, kill)).broken for kill in instants(0))
    assert any(one.promise == "hands" for promises in broken for one in promises)


def test_players_that_count_wrongly_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = setup_of(replace(SESSION, hands=SESSION.hands - 1))
    monkeypatch.setattr(arena, "setup_of", lambda scenario: shorter)
    broken = killed(lambda side, kill: False).broken
    assert any(one.promise == "hands" for one in broken), broken
