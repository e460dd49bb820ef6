"""Which batches the honest side had to take, worked out apart from the engine."""

from __future__ import annotations

import pytest

from channel.disputes.arena import Arena, Run
from channel.disputes.lawful import lawful
from channel.disputes.promises import accounts, check
from channel.disputes.scenario import Scenario
from channel.errors import Violation
from channel.messages import Batch, decode


def batches(run: Run, sender: int, *, honest: bool) -> list[int]:
    """The numbers of the batches that this side's peer made, or that it did not."""
    found = []
    for heard in run.heard:
        if heard.sender == sender and heard.honest is honest and heard.counted:
            try:
                message = decode(heard.message)
            except Violation:
                continue
            if isinstance(message, Batch):
                found.append(message.number)
    return found


def test_all_that_honest_peers_say_is_lawful() -> None:
    games = ("spacepoker", "calpoker")
    policies = ("random", "random")
    done = Arena(Scenario(games, "lawful", hands=2, staggered=True, policies=policies)).run()
    states, _, _ = accounts(done)
    for side in (0, 1):
        numbers = batches(done, side, honest=True)
        assert len(numbers) > 8
        assert all(lawful(done.heard, states, number, side) for number in numbers)
        assert not any(lawful(done.heard, states, number, 1 - side) for number in numbers)


@pytest.mark.parametrize(
    "name",
    ["bad-action", "cross-accepter", "self-accepter", "staller", "wrong-ids", "wrong-reveal"],
)
def test_what_breaks_a_rule_is_not(name: str) -> None:
    found = 0
    for step in (5, 8):
        for side in (0, 1):
            done = Arena(Scenario(("spacepoker",), "lawful", name, step, side)).run()
            states, _, _ = accounts(done)
            for number in batches(done, side, honest=False):
                found += 1
                assert not lawful(done.heard, states, number, side), (step, side, number)
    assert found


def test_an_empty_batch_that_was_asked_for_counts() -> None:
    """The other side's peer would have said more; the honest side asked, and has to take it."""
    policies = ("aggressive", "random")
    scenario = Scenario(
        ("calpoker",), "two/1167", "staller", 9, 0, hands=2, contribution=4100, policies=policies
    )
    done = Arena(scenario).run()
    states, received, _ = accounts(done)
    (number,) = batches(done, 0, honest=False)
    assert received < number
    assert lawful(done.heard, states, number, 0)
    assert check(done) == []
