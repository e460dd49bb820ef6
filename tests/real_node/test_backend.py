"""The suite of chain backends on the genuine node, and what stopped a peer there at first."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from channelsim.channel.chain.coins import condition
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.lab.node.node_wallet import NodeWallet
from tests.channel.chain import test_chain_interface as suite
from tests.channel.chain.mempool_rows import COSTLY, RICH
from tests.channel.chain.mempool_sequences import REMARK
from tests.channel.chain.test_chain_interface import (
    ANYONE,
    NOWHERE,
    asks_little,
    free,
    pay,
)
from tests.real_node.chain import RealChain
from tests.real_node.test_mempool_table import Genuine

ELSEWHERE = {
    "test_no_more_than_a_block_may_cost": "it makes an embedded node of its own",
    "test_a_session_is_the_same_on_every_backend": "it names its backends itself",
    "test_little_is_asked_of_our_own_node": "asked here below",
    "test_little_is_asked_of_a_node_of_yours": "asked here below",
}

SUITE = {
    name: test
    for name, test in inspect.getmembers(suite, inspect.isfunction)
    if name.startswith("test_") and name not in ELSEWHERE
}
PARAMETERS = {"test_a_reorganisation_takes_blocks_back": [{"keep": False}, {"keep": True}]}

CASES = [(name, values) for name in SUITE for values in PARAMETERS.get(name, [{}])]


@pytest.mark.parametrize(
    ("name", "values"), CASES, ids=[f"{name}{[*values.values()]}" for name, values in CASES]
)
def test_as_the_embedded_node(chain: RealChain, name: str, values: dict[str, bool]) -> None:
    test: Callable[..., None] = SUITE[name]
    test(chain, **values)


def test_every_test_of_the_suite_is_run_or_named() -> None:
    names = {name for name, _ in inspect.getmembers(suite, inspect.isfunction)}
    assert {*ELSEWHERE} <= names
    assert len(SUITE) >= 11


def test_little_is_asked(chain: RealChain) -> None:
    asks_little(chain)


# --- what stopped a peer at first ------------------------------------------------------------


def test_coins_at_an_address_are_asked_for_without_heights(chain: RealChain) -> None:
    """A null for a height is refused, but a peer asks for the coins at any height."""
    coin = chain.give(ANYONE.hash, 100)
    assert [seen.coin for seen in chain.coins_at(ANYONE.hash)] == [coin]


def test_a_coin_above_what_a_peer_can_use_does_not_hide_the_others(chain: RealChain) -> None:
    """The farmer's address has the prefarm coin of the simulator's first block."""
    farmer = chain.farmer_puzzle_hash
    raw = chain.ask("get_coin_records_by_puzzle_hash", puzzle_hash=f"0x{farmer.hex()}")
    amounts = [record["coin"]["amount"] for record in raw["coin_records"]]
    assert max(amounts) > 1 << 63
    seen = chain.coins_at(farmer)
    assert seen
    assert {one.coin.amount for one in seen} == {one for one in amounts if one < 1 << 63}


def test_signatures_take_the_data_that_the_node_names(chain: RealChain) -> None:
    wallet: FarmableChain = chain
    assert NodeWallet(wallet, b"agg sig").coins([(NOWHERE, 5)])[0].amount == 5
    named = chain.ask("get_aggsig_additional_data")["additional_data"]
    assert chain.agg_sig_data().hex() == named.removeprefix("0x")


# --- fees ------------------------------------------------------------------------------------


def test_a_full_mempool_asks_for_more_than_what_it_holds(chain: RealChain) -> None:
    """The estimates of a node without a history are 0; the room in its mempool says more."""
    rate, rich = 7, Genuine(chain)
    for coin in rich.coins([(ANYONE.hash, RICH + number) for number in range(13)]):
        padding = condition(REMARK, b"\x55" * COSTLY)
        left = coin.amount - 5_500_000_000 * rate
        result = chain.push(free(coin, pay(NOWHERE, left), padding))
        if result.answer is not Answer.ACCEPTED:
            break
    assert result.error == "INVALID_FEE_LOW_FEE"
    assert chain.fee_rate() > rate
    rich.begin_again()
    chain.farm()
    assert chain.fee_rate() == 0
