"""Blocks and the mempool of the genuine node, filled by a crowd, and spends pinned by costly ones.

CHANNELSIM_EVERY_CROWD=1 measures all rows of `scripts/bench --crowd 10`, in half an hour or so.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from io import StringIO
from secrets import token_hex

import pytest
from rich.console import Console

from channelsim.channel.adversaries.pins import MOST_COST
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.simulation.crowd import FULL_BLOCKS, CrowdedChain, CrowdSize
from channelsim.games.amounts import counted
from scripts.tools.bench.crowded_spends import (
    Node,
    Outcome,
    Trial,
    bound_of,
    cost_of_spend,
    rows,
    run_trial,
    show_outcomes,
)
from tests.real_node.chain import RealChain

RATE = 10
COST = 8_000_000
"""About the cost of a spend without padding."""

USUAL = ("funding", "preempt", "slash")
"""The spends that are tried in every run: each takes the time of two disputes."""

ATTEMPTS = 3

Record = Callable[[str, object], None]


@pytest.mark.parametrize("pending", [FULL_BLOCKS, None])
def test_a_crowd_keeps_out_what_pays_less(chain: RealChain, pending: int | None) -> None:
    key = wallet_key(os.urandom(32), "wallet")
    coin = chain.give(address_of(key), 10 * RATE * COST)
    size = CrowdSize(RATE, 12, pending, chain.limits())
    crowded = CrowdedChain(chain, os.urandom(32), size)
    crowded.begin()
    crowded.farm()
    data = chain.agg_sig_data()
    answer = crowded.push(padded_spend(key, coin, 0, 0, data)).answer
    assert answer is (Answer.REFUSED if pending is None else Answer.ACCEPTED)
    for _ in range(5):
        crowded.farm()
        block = chain.ask("get_block_record_by_height", height=chain.peak())["block_record"]
        assert block["fees"] >= 2 * size.fee
    assert not spent(chain, coin.id)
    assert crowded.push(padded_spend(key, coin, int(1.2 * RATE * COST), 0, data)).benign
    crowded.farm()
    assert spent(chain, coin.id)


def spent(chain: RealChain, coin_id: bytes) -> bool:
    seen = chain.coin(coin_id)
    return seen is not None and seen.spent is not None


# --- the table -----------------------------------------------------------------------------------


@pytest.fixture
def genuine(chain: RealChain) -> Node:
    """The genuine node, with a chain that begins anew for each trial."""

    def begin(seed: int) -> FarmableChain:
        chain.reset()
        return chain

    return Node(begin, chain.limits())


@pytest.fixture(scope="module")
def seed() -> str:
    """A seed of its own for each run: the node does not take bundles that it had before."""
    return token_hex(8)


@pytest.mark.parametrize("spend", USUAL)
def test_the_stated_maximum_suffices_and_half_of_it_does_not(
    genuine: Node, seed: str, spend: str
) -> None:
    # Both sides know all of the funding: in half a block, it can be pinned without a fee coin.
    pin = 1_000_000_000 if spend == "funding" else MOST_COST
    bound = bound_of(cost_of_spend(spend, seed, RATE), pin, RATE)
    half, whole = (
        pinned_outcome(Trial(spend, pin, most, mempool=False), seed, genuine)
        for most in (bound // 2, bound)
    )
    assert half.blocks is None
    assert whole.blocks is not None
    assert 0 < whole.fee <= bound


def pinned_outcome(trial: Trial, seed: str, genuine: Node) -> Outcome:
    """The outcome of a trial in which the spend was pinned.

    The node's estimates remember the blocks of earlier trials. A spend that pays the crowd's rate
    from the start is not worth a pin.
    """
    for _ in range(ATTEMPTS):
        outcome = run_trial(trial, seed, RATE, genuine)
        if outcome.pins:
            return outcome
    raise AssertionError(f"{trial.spend}: no pin in {counted(ATTEMPTS, 'trial')}")


@pytest.mark.skipif("CHANNELSIM_EVERY_CROWD" not in os.environ, reason="takes half an hour or so")
def test_every_row_is_as_promised(genuine: Node, seed: str, record_property: Record) -> None:
    table = list(rows(seed, RATE, genuine))
    text = StringIO()
    show_outcomes(Console(file=text, width=130), RATE, table)
    record_property("maximum fees on the genuine node", text.getvalue())
    assert all(row.as_promised for row in table), text.getvalue()
