"""Cheats with prepared decks in simulated disputes, and what becomes of each."""

from __future__ import annotations

import pytest

from channelsim.channel.adversaries.registry import get
from channelsim.channel.peer.chain_news import GamePaid
from channelsim.channel.peer.interface import BrokenOff, DeckBurnt
from channelsim.channel.protocol.messages import Accept, Batch, Cancel, Move, decode
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.scenarios import dispute


def run(
    adversary: str, side: int, step: int | None = None, hands: int = 2, seed: str = "decks"
) -> Run:
    """A dispute of Hold'em in which every promise is kept and the adversary cheated."""
    step = get(adversary).default_step if step is None else step
    scenario = Scenario(("holdem",), seed, adversary, step=step, side=side, hands=hands)
    done = dispute(scenario)
    assert done.broken == []
    assert done.run.deviated
    return done.run


def cancelled(done: Run) -> list[str]:
    """The reasons of the honest side's cancellations."""
    batches = [decode(blob) for blob in done.parties[done.scenario.honest].sent]
    actions = [act for batch in batches if isinstance(batch, Batch) for act in batch.actions]
    return [act.reason for act in actions if isinstance(act, Cancel)]


def quick(name: str, rule: str) -> object:
    return pytest.param(name, rule, 1)


def slow(name: str, rule: str, side: int) -> object:
    return pytest.param(name, rule, side, marks=pytest.mark.long)


@pytest.mark.parametrize(
    ("adversary", "rule", "side"),
    [
        quick("wrong-card", "PK-BEGIN-3"),
        slow("wrong-card", "PK-BEGIN-3", 0),
        *(slow("wrong-opening", "PK-", side) for side in (0, 1)),
        *(slow("swapped-openings", "PK-", side) for side in (0, 1)),
    ],
)
def test_a_wrong_opening_costs_the_pot(adversary: str, rule: str, side: int) -> None:
    done = run(adversary, side, step=4)
    news = done.parties[done.scenario.honest].news
    (broken,) = [report for report in news if isinstance(report, BrokenOff)]
    assert broken.blame.rule.startswith(rule)
    assert any(isinstance(report, GamePaid) and report.slashed == "us" for report in news)


@pytest.mark.parametrize(
    ("adversary", "rule", "side"),
    [
        quick("one-deck-twice", "PD-9"),
        slow("one-deck-twice", "PD-9", 0),
        *(slow("used-deck", "PD-10", side) for side in (0, 1)),
        *(slow("another-root", "PD-9", side) for side in (0, 1)),
    ],
)
def test_a_proposal_with_a_wrong_deck_is_cancelled_and_never_accepted(
    adversary: str, rule: str, side: int
) -> None:
    done = run(adversary, side, step=4)
    assert any(reason.startswith(rule) for reason in cancelled(done))


@pytest.mark.long
@pytest.mark.parametrize("side", [0, 1])
def test_an_opening_with_the_accept_harms_only_its_sender(side: int) -> None:
    # The honest side has to propose a hand in which the adversary opens first.
    done = run("free-look", side, hands=4, seed="dispute")
    batches = [decode(blob) for blob in done.parties[side].sent]
    actions = [batch.actions for batch in batches if isinstance(batch, Batch)]
    assert any(
        any(isinstance(act, Accept) for act in batch_actions)
        and any(isinstance(act, Move) for act in batch_actions)
        for batch_actions in actions
    )


@pytest.mark.parametrize(
    ("adversary", "side"),
    [
        ("deck-noise", 1),
        pytest.param("deck-noise", 0, marks=pytest.mark.long),
        pytest.param("deck-flood", 0, marks=pytest.mark.long),
        pytest.param("deck-flood", 1, marks=pytest.mark.long),
    ],
)
def test_steps_of_nobodys_deck_burn_decks_and_nothing_else(adversary: str, side: int) -> None:
    done = run(adversary, side, hands=1)
    news = done.parties[done.scenario.honest].news
    assert not any(isinstance(report, BrokenOff) for report in news)
    if side == 1 and adversary == "deck-flood":
        assert any(isinstance(report, DeckBurnt) for report in news)


def test_steps_before_play_are_ignored_or_held() -> None:
    """The honest side hears of the channel's depth a little later than the adversary."""
    games = ("calpoker", "holdem")
    scenario = Scenario(games, "more/0/3/0", "deck-flood", step=0, weather="cut-off")
    done = dispute(scenario)
    assert done.broken == []
    assert done.run.deviated


@pytest.mark.parametrize("side", [0, 1])
def test_numbers_of_decks_are_not_used_up(side: int) -> None:
    """PD-9, PD-10: by proposals that name decks, and by steps of decks, far above the highest."""
    done = run("uses-up-numbers", side, step=3)
    assert any(reason.startswith("PD-9: deck") for reason in cancelled(done))
    assert done.parties[done.scenario.honest].peer.play.decks.highest < 5000
