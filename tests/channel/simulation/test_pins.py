"""Pins of any cost replace pending bundles, and disputes survive them in crowded blocks."""

from __future__ import annotations

import pytest

from channelsim.channel.adversaries.pins import MOST_COST, pin_cost, pin_fee, pinned
from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.chain.validation import cost_of
from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.simulation.bounds import MOST_RATE
from channelsim.channel.simulation.crowd import CROWDED
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.scenario import check as check_scenario
from tests.channel.scenarios import changed, dispute
from tests.sampling import one_in

OURS, THEIRS = (wallet_key(name, "wallet") for name in (b"ours", b"theirs"))
AMPLE = 60_000_000_000
"""A maximum that pays for half a block of cost at 10 mojos."""


def cost(bundle: Bundle) -> int:
    cost = cost_of(bundle)
    assert cost
    return cost


# --- one pin -------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [0, 10**9, MOST_COST])
@pytest.mark.parametrize("fee", [0, 10_000_000, 300_000_000])
def test_a_pin_pays_about_the_least_that_a_mempool_takes(fee: int, most: int) -> None:
    chain = SimulatedChain(1)
    ours, payer = (chain.give(address_of(key), 1) for key in (OURS, THEIRS))
    data = chain.agg_sig_data()
    assert chain.push(padded_spend(OURS, ours, fee, 0, data)).answer is Answer.ACCEPTED
    (pending,) = chain.pending(ours.id)
    spent = pin_cost(pending, most)
    less = padded_spend(THEIRS, payer, pin_fee(pending, spent) * 9 // 10, spent, data)
    assert chain.push(joined(pending.bundle, less)).answer is Answer.PENDING_CONFLICT
    pin = pinned(pending, THEIRS, payer, most, data)
    assert pin is not None
    assert most * 0.99 < cost(pin) <= MOST_COST
    assert chain.push(pin).answer is Answer.ACCEPTED
    assert [other.bundle for other in chain.pending(ours.id)] == [pin]


def test_a_coin_that_cannot_pay_for_a_pin_makes_none() -> None:
    chain = SimulatedChain(1)
    coin = chain.give(address_of(OURS), 1)
    assert chain.push(padded_spend(OURS, coin, 0, 0, chain.agg_sig_data())).benign
    (pending,) = chain.pending(coin.id)
    poor = Coin(bytes(32), address_of(THEIRS), 10_000_000)
    assert pinned(pending, THEIRS, poor, MOST_COST, chain.agg_sig_data()) is None


# --- disputes ------------------------------------------------------------------------------------


def run(adversary: str, side: int = 1, crowd: int = 10, most: int = 0) -> Run:
    scenario = Scenario(("spacepoker",), "pins", adversary, 8, side)
    terms = {"max_fee": most, "max_fees": 10 * most, "crowd": crowd}
    done = dispute(check_scenario(changed(scenario, **terms)))
    assert done.broken == []
    return done.run


# The quick tests take both sides, with and without a fee.
@pytest.mark.long
@pytest.mark.parametrize("case", one_in(4, [(0, 0), (0, AMPLE), (1, AMPLE), (1, 0)]), ids=str)
def test_a_dispute_with_costly_pins_keeps_all_promises(case: tuple[int, int]) -> None:
    side, most = case
    done = run("heavy-pinner", side, most=most)
    assert done.deviated
    pins = [
        bundle
        for name, bundle, answer in done.parties[side].pushed
        if name == "pin" and answer is Answer.ACCEPTED
    ]
    assert max(map(cost, pins)) > MOST_COST * 0.99


@pytest.mark.long
@pytest.mark.parametrize("adversary", one_in(2, ["leaver", "wrong-reveal"]))
def test_fees_bring_spends_through_crowded_blocks(adversary: str) -> None:
    without, paid = (run(adversary, most=most) for most in (0, AMPLE))
    assert without.blocks - paid.blocks > CROWDED // 4
    calm = run(adversary, crowd=0)
    assert without.blocks >= calm.blocks + CROWDED - 1


def test_a_crowd_that_pays_more_than_it_can_is_refused() -> None:
    with pytest.raises(UsageError, match="a crowd at 101 mojos per cost: from 0 to 100"):
        run("silent", crowd=MOST_RATE + 1)
