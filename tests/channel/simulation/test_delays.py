"""Counterparties that obey every rule and never let anything end: what was asked for happens."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from channelsim.channel.peer.interface import Close
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from tests.channel.scenarios import changed, dispute
from tests.sampling import one_in

DELAYS = (
    *("asks-and-proposes", "bouncer", "dawdler", "decliner", "hoarder", "insatiable"),
    *("late-answers", "late-numbers", "slow-bouncer", "unfit-proposer"),
)

GAME = ("calpoker",)


def run(name: str, step: int, side: int, **other: Any) -> Run:
    done = dispute(changed(Scenario(GAME, f"delays {step}", name, step, side), **other))
    assert done.broken == [], (name, step, side, other)
    return done.run


# Each third one in the quick tests.
@pytest.mark.parametrize("case", one_in(6, product(("calm", "reconnects"), DELAYS)), ids="-".join)
def test_what_the_player_asks_for_happens_in_time(case: tuple[str, str]) -> None:
    """And the counterparty breaks no rule: whoever goes on chain blames it for the time it took."""
    deviated = 0
    weather, name = case
    for step, side in ((2, 0), (7, 1), (11, 0)):
        done = run(name, step, side, weather=weather)
        talk = conversation(done)
        assert not talk.rules
        deviated += done.deviated
        closes = [turn for turn in done.parties[1 - side].journal if isinstance(turn.event, Close)]
        assert talk.wishes is not None
        assert talk.wishes.closing or not closes
    assert deviated


@pytest.mark.parametrize("name", one_in(2, ["asks-and-proposes", "bouncer", "insatiable"]))
def test_a_side_keeps_to_its_own_limits(name: str) -> None:
    for side, most in ((0, {"most_states": 50}), (1, {"most_bytes": 30_000})):
        done = run(name, 4, side, **most)
        honest = done.parties[1 - side].peer
        assert honest.play.closing
        limits = honest.config.limits
        assert honest.play.state.number <= limits.states + 1
        assert honest.play.stored_bytes <= limits.bytes + 4_000


def test_nobody_uses_up_the_states_in_seconds() -> None:
    """Without a game, two states are made in a block, once 32 batches did nothing."""
    done = run("bouncer", 4, 1)
    honest = done.parties[0].peer
    assert honest.play.state.number < 100 + 2 * done.blocks
