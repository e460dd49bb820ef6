"""A broken promise says who lost how much, by peers with planted faults."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from channelsim.channel.attack.disputes import Dispute
from channelsim.channel.findings.finding import NOBODY, Loss
from channelsim.channel.findings.sentence import sentence
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.sweep_campaign import of_run
from scripts.tools.attack_faults.planting import Reach
from scripts.tools.attack_faults.table import faults
from tests.channel.scenarios import dispute

FAULTS = {fault.name: fault for fault in faults()}


def faulty(name: str, adversary: str, step: int = 0) -> Dispute:
    """A dispute between sides with a fault."""
    with ExitStack() as stack:
        FAULTS[name].plant(stack, Reach())
        return dispute(Scenario(("calpoker",), "loss", adversary, step))


@pytest.mark.parametrize(
    ("fault", "adversary", "step", "taker"),
    [
        ("never-preempts", "stale-oldest", 5, "Receiver"),
        ("forgets-an-undone-shutdown", "undoes-shutdown", 0, NOBODY),
    ],
)
def test_the_loss_is_what_the_honest_side_is_short_of(
    fault: str, adversary: str, step: int, taker: str
) -> None:
    done = faulty(fault, adversary, step)
    run, broken = done.run, done.broken
    (loss,) = {promise.loss for promise in broken if promise.promise == "safety"}
    assert loss is not None
    assert (loss.taker, loss.loser) == (taker, "Initiator")
    balances = 2 * run.scenario.balance
    # What nobody has is still on chain, in a coin of the channel.
    rest = balances - run.paid(0) - run.paid(1)
    assert 0 < loss.amount <= (rest if taker is NOBODY else run.paid(1))
    (finding,) = (found for found in of_run(run, broken) if found.rule == "safety")
    said = "and nobody has them" if taker is NOBODY else "Receiver takes "
    assert said in sentence(finding)
    assert f"{loss.amount:,} mojos" in sentence(finding)
    assert all(promise.loss is None for promise in broken if promise.promise == "duty")


def test_a_side_that_got_its_own_lost_nothing() -> None:
    broken = faulty("preempts-late", "stale-oldest", 5).broken
    assert broken
    assert not any(promise.loss for promise in broken)


def test_the_sentence_names_nobody_where_nobody_gains() -> None:
    (finding,) = of_run(*_planted(Loss(NOBODY, "Bob", 1500)))
    assert sentence(finding) == "Bob loses 1,500 mojos, and nobody has them: money: planted"


def _planted(loss: Loss) -> tuple[Run, list[BrokenPromise]]:
    return faulty("preempts-late", "stale-oldest", 5).run, [BrokenPromise("money", "planted", loss)]
