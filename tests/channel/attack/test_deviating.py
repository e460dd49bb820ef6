"""The hint for an adversary that found nothing to change leads to a run in which it deviates."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from channelsim.channel.adversaries.registry import names
from channelsim.channel.attack.deviating import deviating
from channelsim.channel.attack.disputes import dispute_script, play
from channelsim.channel.cli.disputes import described_scenario
from channelsim.channel.crypto import bls
from channelsim.channel.simulation.scenario import Scenario, reason_against
from channelsim.channel.simulation.scenario_command import command_of
from channelsim.games import registry
from tests.channel.command import channelsim
from tests.sampling import one_in

IDLE = {
    "free-look": ("--game", "holdem"),
    "breaks-ch-accept-3": (),
    "no-pong": (),
    "breaks-ch-open-7": (),
}
"""Adversaries that need more hands, a short balance or the other side; and options."""

LATE = "breaks-ch-accept-3"
"""The one for which the last of all changes is tried."""


@pytest.fixture(autouse=True)
def remember() -> Iterator[None]:
    with bls.remembered():
        yield


def usual(name: str) -> Scenario:
    return described_scenario(name, games=None, step=None)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        *one_in(2, [name for name in IDLE if name != LATE]),
        pytest.param(LATE, marks=pytest.mark.long),
    ],
)
def test_a_hint_is_a_command_with_which_the_adversary_deviates(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ran = channelsim(capsys, "dispute", "run", name, *IDLE[name], "--quiet", "--json")
    assert ran.code == 1
    assert "nothing was checked; it does something with `channelsim " in ran.err
    command = ran.err.split("`")[1]
    repeated = channelsim(capsys, *shlex.split(command)[1:], "--quiet", "--json")
    assert repeated.code == 0, repeated.err
    assert '"deviated": true' in repeated.out


def test_an_adversary_that_cheats_with_decks_needs_a_game_with_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = channelsim(capsys, "dispute", "run", "free-look", "--quiet", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert "spacepoker: no game with a prepared deck" in ran.err


def test_the_hint_of_a_free_look_names_more_hands() -> None:
    near = deviating(Scenario(("holdem",), "dispute", "free-look"))
    assert near is not None
    assert command_of(near).endswith(" --game holdem --hands 4")


def test_an_adversary_that_began_too_late_is_told_where_to_begin() -> None:
    near = deviating(Scenario(("spacepoker",), "dispute", "silent", step=900))
    assert near is not None
    assert command_of(near) == "channelsim dispute run silent"


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name in names() if not reason_against(name, (registry.DEFAULT,))]
)
def test_every_adversary_deviates_or_has_a_hint(name: str) -> None:
    dispute = play(dispute_script(usual(name)))
    assert dispute.run.deviated or deviating(usual(name)) is not None
