"""The behaviour of every backend of `channelsim.channel.chain`: a suite for new ones, too.

The last part, marked `node`, asks any full node that these variables name the little that can be
asked without money: CHANNELSIM_NODE_URL, and CHANNELSIM_NODE_CERT and CHANNELSIM_NODE_KEY, the
paths of a certificate and its key where the node wants them (`pytest -m node`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from chia_rs import PrivateKey
from msgspec.structs import replace
from rich.console import Console

from channelsim.channel.chain.coins import (
    ASSERT_BEFORE_HEIGHT_ABSOLUTE,
    Bundle,
    Coin,
    Spend,
    condition,
    joined,
    signed_spend,
)
from channelsim.channel.chain.full_node import Credentials, RpcChain
from channelsim.channel.chain.interface import (
    Answer,
    Chain,
    FarmableChain,
    observe,
    pending_with,
)
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.lab.node.node_wallet import NodeWallet, spend_of
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.report.narrator import Narrator
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.defaults import DEFAULT_STACK, DEFAULT_UNIT
from channelsim.channel.session.session import Session
from channelsim.channel.session.setup import Setup, check
from channelsim.channel.session.transcript import Recorder
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.referee import (
    ASSERT_BEFORE_HEIGHT_RELATIVE,
    ASSERT_HEIGHT_RELATIVE,
    CREATE_COIN,
)
from tests.channel.backends import BACKENDS, backend

ANYONE = Program(b"\x01")
"""The puzzle whose solution is its conditions."""

RAISES = Program(bytes.fromhex("ff0880"))
NOWHERE = bytes([7]) * 32

FREE_COST = 2_820_044
"""The cost of a spend of `ANYONE` that makes a coin of 93 mojos at `NOWHERE`, on any node."""


@pytest.fixture(params=BACKENDS)
def chain(request: pytest.FixtureRequest) -> Iterator[FarmableChain]:
    with backend(request.param) as one:
        yield one


@dataclass(frozen=True)
class Wallet:
    """A key, and the spends of coins at its address."""

    key: PrivateKey

    @property
    def address(self) -> bytes:
        return address_of(self.key)

    def spend(self, coin: Coin, agg_sig_data: bytes, *conditions: Value) -> Bundle:
        return signed_spend(self.key, coin, to_list(conditions), agg_sig_data)


WALLET = Wallet(wallet_key(b"interface", "funding"))


def pay(address: bytes, amount: int) -> Value:
    return condition(CREATE_COIN, address, int_to_atom(amount))


def anyones(chain: FarmableChain, puzzle: Program = ANYONE, amount: int = 100) -> Coin:
    (coin,) = NodeWallet(chain, b"interface").coins([(puzzle.hash, amount)])
    return coin


def free(coin: Coin, *conditions: Value, puzzle: Program = ANYONE) -> Bundle:
    """A spend that needs nobody's signature."""
    return Bundle((spend_of(coin, puzzle.serialized, to_list(conditions)),), NO_SIGNATURE)


# --- blocks and the network ------------------------------------------------------------------


def test_the_peak_counts_blocks(chain: FarmableChain) -> None:
    start = chain.peak()
    chain.farm()
    assert chain.peak() == start + 1
    chain.farm(20)
    assert chain.peak() == start + 21


def test_signatures_are_for_this_network(chain: FarmableChain) -> None:
    data = chain.agg_sig_data()
    assert (len(data), data) == (32, chain.agg_sig_data())
    coin = chain.give(WALLET.address, 1000)
    elsewhere = WALLET.spend(coin, bytes(32), pay(NOWHERE, 1))
    refused = chain.push(elsewhere)
    assert (refused.answer, refused.error) == (Answer.REFUSED, "BAD_AGGREGATE_SIGNATURE")
    assert chain.push(WALLET.spend(coin, data, pay(NOWHERE, 1))).answer is Answer.ACCEPTED


# --- coins -----------------------------------------------------------------------------------


def test_a_coin_has_the_heights_of_its_creation_and_spend(chain: FarmableChain) -> None:
    coin = anyones(chain)
    born = chain.peak()
    seen = chain.coin(coin.id)
    assert seen is not None
    assert (seen.coin, seen.born, seen.spent) == (coin, born, None)
    chain.farm(3)
    assert chain.push(free(coin, pay(NOWHERE, 100))).answer is Answer.ACCEPTED
    pending = chain.coin(coin.id)
    assert pending is not None
    assert pending.spent is None  # accepted, but in no block
    assert chain.coin(Coin(coin.id, NOWHERE, 100).id) is None
    chain.farm()
    spent = chain.coin(coin.id)
    assert spent is not None
    assert (spent.coin, spent.born, spent.spent) == (coin, born, born + 4)
    child = chain.coin(Coin(coin.id, NOWHERE, 100).id)
    assert child is not None
    assert (child.born, child.spent) == (born + 4, None)


def test_a_spent_coin_has_its_solution(chain: FarmableChain) -> None:
    coin = anyones(chain)
    bundle = free(coin, pay(NOWHERE, 100))
    assert chain.pending(coin.id) == []
    chain.push(bundle)
    assert [one.bundle for one in chain.pending(coin.id)] == [bundle]
    unspent = chain.coin(coin.id)
    assert unspent is not None
    assert unspent.solution is None
    chain.farm()
    assert chain.pending(coin.id) == []
    spent = chain.coin(coin.id)
    assert spent is not None
    assert spent.solution == bundle.spends[0].solution


def test_a_spent_coin_has_children(chain: FarmableChain) -> None:
    coin = anyones(chain)
    assert chain.children(coin.id) == []
    chain.push(free(coin, pay(NOWHERE, 60), pay(ANYONE.hash, 30)))
    assert chain.children(coin.id) == []  # accepted, but in no block
    chain.farm()
    made = [Coin(coin.id, NOWHERE, 60), Coin(coin.id, ANYONE.hash, 30)]
    born = chain.peak()
    expected = [CoinSeen(one, born, None) for one in sorted(made, key=lambda one: one.id)]
    assert chain.children(coin.id) == expected
    chain.push(free(made[1], pay(NOWHERE, 30)))
    chain.farm()
    # A child that was spent says when, and not how.
    spent = {seen.coin: (seen.spent, seen.solution) for seen in chain.children(coin.id)}
    assert spent == {made[0]: (None, None), made[1]: (born + 1, None)}
    chain.reorganise(2, 3, keep=False)
    assert chain.children(coin.id) == []
    assert chain.children(bytes(32)) == []


class Hiding:
    """A chain that gives no solutions."""

    def __init__(self, chain: FarmableChain) -> None:
        self.peak, self.children, self._coin = chain.peak, chain.children, chain.coin
        self.agg_sig_data, self.coins_at = chain.agg_sig_data, chain.coins_at
        self.push, self.pending, self.fee_rate = chain.push, chain.pending, chain.fee_rate

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        seen = self._coin(coin_id)
        return None if seen is None else replace(seen, solution=None)


def test_a_block_has_the_children_of_a_coin_whose_solution_is_hidden(
    chain: FarmableChain,
) -> None:
    coin, unspent = anyones(chain), anyones(chain)
    chain.push(free(coin, pay(NOWHERE, 60)))
    chain.farm()
    child = Coin(coin.id, NOWHERE, 60)
    shown = observe(chain, [coin, unspent])
    assert {seen.coin for seen in shown.coins} == {coin, unspent}
    hidden = observe(Hiding(chain), [coin, unspent])
    assert {seen.coin for seen in hidden.coins} == {coin, unspent, child}
    # What is watched itself is there once.
    assert len(observe(Hiding(chain), [coin, child]).coins) == 2
    assert observe(Hiding(chain), [unspent]).coins == observe(chain, [unspent]).coins


@pytest.mark.parametrize("keep", [False, True])
def test_a_reorganisation_takes_blocks_back(chain: FarmableChain, keep: bool) -> None:
    coin = anyones(chain)
    chain.push(free(coin, pay(NOWHERE, 100)))
    chain.farm()
    spent = chain.coin(coin.id)
    assert spent is not None
    assert spent.solution is not None
    height = chain.peak()
    chain.reorganise(1, 2, keep=keep)
    assert chain.peak() == height + 1
    seen = chain.coin(coin.id)
    assert seen is not None
    assert (seen.spent is not None) == keep


def test_what_the_chain_does_not_have(chain: FarmableChain) -> None:
    assert chain.coin(bytes(32)) is None
    assert chain.coins_at(NOWHERE) == []


def test_all_unspent_coins_at_an_address_and_no_others(chain: FarmableChain) -> None:
    wallet = NodeWallet(chain, b"interface")
    coins = wallet.coins([(ANYONE.hash, amount) for amount in (0, 1, 127, 128, 2**33)])
    wallet.coins([(NOWHERE, 1)])
    found = chain.coins_at(ANYONE.hash)
    assert sorted(seen.coin.amount for seen in found) == [0, 1, 127, 128, 2**33]
    assert {seen.coin.id for seen in found} == {coin.id for coin in coins}
    assert {seen.spent for seen in found} == {None}
    chain.push(free(coins[1], pay(NOWHERE, 1)))
    chain.farm()
    assert {seen.coin for seen in chain.coins_at(ANYONE.hash)} == {*coins} - {coins[1]}


def test_a_new_coin_is_at_its_address(chain: FarmableChain) -> None:
    coin = chain.give(WALLET.address, 12345)
    assert coin.amount >= 12345
    assert [seen.coin for seen in chain.coins_at(WALLET.address)] == [coin]
    chain.farm(3)
    assert len(chain.coins_at(WALLET.address)) == 1


# --- bundles ---------------------------------------------------------------------------------


def test_accepted_repeated_conflicting_spent(chain: FarmableChain) -> None:
    coin = anyones(chain)
    first, other = free(coin, pay(NOWHERE, 100)), free(coin, pay(bytes(32), 100))
    assert chain.push(first).answer is Answer.ACCEPTED
    assert chain.push(first).benign
    conflict = chain.push(other)
    assert (conflict.answer, conflict.benign) == (Answer.PENDING_CONFLICT, True)
    chain.farm()
    for bundle in (first, other):
        late = chain.push(bundle)
        assert (late.answer, late.benign) == (Answer.ALREADY_SPENT, True)


def test_a_pending_bundle_has_its_fee_and_cost(chain: FarmableChain) -> None:
    coin, other, shared = (anyones(chain, amount=amount) for amount in (100, 90, 80))
    bundle = free(coin, pay(NOWHERE, 93))
    assert chain.push(bundle).answer is Answer.ACCEPTED
    assert chain.pending(coin.id) == [PendingBundle(bundle, 7, FREE_COST)]
    # A spend that needs no signature, and pays no fee, may be in several bundles.
    alone = free(shared, pay(NOWHERE, 80))
    together = joined(alone, free(other, pay(NOWHERE, 79)))
    for one in (alone, together):
        assert chain.push(one).answer is Answer.ACCEPTED
    (pending,) = chain.pending(other.id)
    assert (pending.bundle, pending.fee) == (together, 11)
    assert FREE_COST < pending.cost < 2 * FREE_COST
    both = sorted(chain.pending(shared.id), key=lambda one: one.fee)
    assert [one.bundle for one in both] == [alone, together]
    assert (both[0].fee, both[1]) == (0, pending)


def test_dropped_bytes_are_known_and_the_mempool_says_why(chain: FarmableChain) -> None:
    coin, data = chain.give(WALLET.address, 3 * LEAST_RAISE), chain.agg_sig_data()
    first, second = (
        WALLET.spend(coin, data, pay(NOWHERE, coin.amount - fee)) for fee in (0, LEAST_RAISE)
    )
    assert chain.push(first).answer is Answer.ACCEPTED
    assert chain.push(second).answer is Answer.ACCEPTED, "it replaces the first"
    dropped = chain.push(first)
    assert (dropped.answer, dropped.benign) == (Answer.KNOWN, True)
    assert dropped.error == "ALREADY_INCLUDING_TRANSACTION"
    (pending,) = pending_with(chain, first, dropped)
    assert (pending.bundle, pending.fee) == (second, LEAST_RAISE)
    chain.farm()
    dropped = chain.push(first)
    assert dropped.answer is Answer.KNOWN
    assert pending_with(chain, first, dropped) == ()
    assert chain.push(second).answer is Answer.ALREADY_SPENT


def test_a_mempool_with_room_asks_for_no_fee(chain: FarmableChain) -> None:
    assert chain.fee_rate() == 0
    chain.push(free(anyones(chain), pay(NOWHERE, 93)))
    assert chain.fee_rate() == 0
    chain.farm()
    assert chain.fee_rate() == 0


def test_several_spends_get_in_together_or_not_at_all(chain: FarmableChain) -> None:
    one, two = (anyones(chain, amount=amount) for amount in (10, 20))
    good = [spend for coin in (one, two) for spend in free(coin, pay(NOWHERE, 5)).spends]
    assert chain.push(Bundle(tuple(good), NO_SIGNATURE)).answer is Answer.ACCEPTED
    chain.farm()
    assert len(chain.coins_at(NOWHERE)) == 2
    three, ghost = anyones(chain, amount=30), Coin(bytes(32), ANYONE.hash, 1)
    bad = [spend for coin in (three, ghost) for spend in free(coin, pay(NOWHERE, 1)).spends]
    refused = chain.push(Bundle(tuple(bad), NO_SIGNATURE))
    assert (refused.answer, refused.error) == (Answer.REFUSED, "UNKNOWN_UNSPENT")
    chain.farm()
    seen = chain.coin(three.id)
    assert seen is not None
    assert seen.spent is None


def test_a_coin_of_a_pending_bundle_is_spent_in_the_same_bundle_or_later(
    chain: FarmableChain,
) -> None:
    coin = anyones(chain)
    child = Coin(coin.id, ANYONE.hash, 100)
    makes, spends = free(coin, pay(ANYONE.hash, 100)), free(child, pay(NOWHERE, 100))
    assert chain.push(makes).answer is Answer.ACCEPTED
    early = chain.push(spends)
    assert (early.answer, early.error) == (Answer.REFUSED, "UNKNOWN_UNSPENT")
    chain.farm()
    assert chain.push(spends).answer is Answer.ACCEPTED
    chain.farm()
    born = chain.peak()
    other = anyones(chain)
    again = free(other, pay(ANYONE.hash, 100)), free(Coin(other.id, ANYONE.hash, 100))
    assert chain.push(joined(*again)).answer is Answer.ACCEPTED
    chain.farm()
    assert [seen.born for seen in chain.coins_at(NOWHERE)] == [born]
    assert chain.coins_at(ANYONE.hash) == []


def test_what_cannot_be_is_refused_with_the_reason(chain: FarmableChain) -> None:
    coin = anyones(chain)
    raising = anyones(chain, RAISES)
    wrong_puzzle = Bundle((Spend(coin, RAISES.serialized, b"\x80"),), NO_SIGNATURE)
    # For what the puzzles themselves do wrong, nodes have words of their own.
    refused = (
        (free(Coin(bytes(32), ANYONE.hash, 5), pay(NOWHERE, 5)), "UNKNOWN_UNSPENT"),
        (free(coin, pay(NOWHERE, 101)), ""),
        (free(coin, pay(NOWHERE, 1), pay(NOWHERE, 1)), ""),
        (free(raising, puzzle=RAISES), ""),
        (wrong_puzzle, ""),
    )
    for bundle, error in refused:
        result = chain.push(bundle)
        assert (result.answer, result.benign) == (Answer.REFUSED, False)
        assert result.error == error or (not error and result.error)
    assert chain.push(free(coin, pay(NOWHERE, 100))).answer is Answer.ACCEPTED


def test_time_locks_hold_to_the_block(chain: FarmableChain) -> None:
    early, late = anyones(chain), anyones(chain)
    for_early = chain.coin(early.id)
    assert for_early is not None
    five = int_to_atom(5)
    claim = free(early, condition(ASSERT_HEIGHT_RELATIVE, five), pay(NOWHERE, 100))
    while chain.peak() < for_early.born + 4:
        assert chain.push(claim).answer is Answer.TOO_EARLY
        chain.farm()
        assert chain.pending(early.id) == []
    chain.farm()
    assert [one.bundle for one in chain.pending(early.id)] == [claim], (
        "it was kept until its height"
    )
    assert chain.push(claim).answer is Answer.ACCEPTED
    chain.farm()
    claimed = chain.coin(early.id)
    assert claimed is not None
    assert claimed.spent == for_early.born + 6

    born = chain.coin(late.id)
    assert born is not None
    move = free(late, condition(ASSERT_BEFORE_HEIGHT_RELATIVE, five), pay(NOWHERE, 99))
    chain.farm(born.born + 5 - chain.peak())
    result = chain.push(move)
    assert (result.answer, result.error) == (Answer.REFUSED, "ASSERT_BEFORE_HEIGHT_RELATIVE_FAILED")
    deadline = int_to_atom(chain.peak())
    absolute = free(late, condition(ASSERT_BEFORE_HEIGHT_ABSOLUTE, deadline), pay(NOWHERE, 98))
    assert chain.push(absolute).error == "ASSERT_BEFORE_HEIGHT_ABSOLUTE_FAILED"


def test_no_more_than_a_block_may_cost() -> None:
    # The node itself judges the cost, the same way over its RPC.
    chain = SimulatedChain(1)
    # It adds up no points each time, which costs more than it takes.
    loop = to_list((b"\x02", b"\x02", to_list((b"\x04", b"\x02", (b"\x1d", NIL)))))
    quoted: Value = (b"\x01", loop)
    endless = Program(serialize(to_list((b"\x02", quoted, to_list((b"\x04", quoted, NIL))))))
    coin = anyones(chain, endless)
    result = chain.push(free(coin, puzzle=endless))
    assert result.answer is Answer.REFUSED
    assert result.error


# --- a whole session -------------------------------------------------------------------------


def test_a_session_is_the_same_on_every_backend() -> None:
    setup = check(
        Setup(
            games=("spacepoker",),
            seed="interface",
            hands=1,
            unit=DEFAULT_UNIT,
            stack=DEFAULT_STACK,
            balance=20_000,
            policies=("random", "random"),
        )
    )
    sessions = []
    for name in BACKENDS:
        out = StringIO()
        narrator = Narrator(setup, Console(file=out, width=80, no_color=True, highlight=False))
        recorder = Recorder(setup, lambda line: None)
        with backend(name, seed=5) as one:
            session = Session(Deciders(setup), [recorder, narrator], one)
            result = session.run()
        assert result.checks.conserved
        sessions.append((out.getvalue(), result.balances, recorder.finish(result)))
    assert sessions[0] == sessions[1]


# --- any full node ---------------------------------------------------------------------------


def asks_little(chain: Chain) -> None:
    """The requests that any synced node answers, without money of one's own."""
    height = chain.peak()
    assert height > 0
    assert chain.peak() >= height
    assert len(chain.agg_sig_data()) == 32
    assert chain.coin(b"\xff" * 32) is None
    assert chain.coins_at(b"\xff" * 32) == []
    assert chain.children(b"\xff" * 32) == []
    ghost = Coin(b"\xff" * 32, ANYONE.hash, 5)
    refused = chain.push(free(ghost, pay(NOWHERE, 5)))
    assert (refused.answer, refused.error) == (Answer.REFUSED, "UNKNOWN_UNSPENT")
    signed = WALLET.spend(Coin(b"\xff" * 32, WALLET.address, 5), bytes(32), pay(NOWHERE, 5))
    assert chain.push(signed).answer is Answer.REFUSED
    assert chain.push(free(ghost, (NIL, NIL))).answer is Answer.REFUSED


def test_little_is_asked_of_our_own_node(chain: FarmableChain) -> None:
    asks_little(chain)


@pytest.mark.node
def test_little_is_asked_of_a_node_of_yours() -> None:
    url = os.environ.get("CHANNELSIM_NODE_URL")
    if not url:
        pytest.skip("CHANNELSIM_NODE_URL names no node")
    certificate, key = map(os.environ.get, ("CHANNELSIM_NODE_CERT", "CHANNELSIM_NODE_KEY"))
    credentials = Credentials(Path(certificate), Path(key)) if certificate and key else None
    with RpcChain(url, credentials) as chain:
        asks_little(chain)
