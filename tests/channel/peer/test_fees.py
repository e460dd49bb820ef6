"""Fees: a coin for each spend, the estimate, raises that mempools take, dropped bytes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from channelsim.channel.chain.coins import Coin, condition, signed_spend
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.refusals import FEE_TOO_LOW
from channelsim.channel.peer.fees.coins import FeeCoins, find_fee_coins
from channelsim.channel.peer.fees.fee_state import FeeState, PastOffer, raised, risen
from channelsim.channel.peer.fees.fee_wallet import SPLIT, FeeWallet
from channelsim.channel.peer.fees.paying import pay as add_fees
from channelsim.channel.peer.interface import (
    Dropped,
    Effect,
    FeeLimits,
    FeeTooLow,
    GoOnChain,
    Push,
    Refused,
    SpendDropped,
)
from channelsim.clsp.values import Value, int_to_atom, to_list
from tests.channel.disputes import at_message, farm, leave, rewards, settle, sound
from tests.channel.peer.fees import (
    MOST,
    PURSE,
    fee_wallet,
    full_blocks,
    left,
    paid,
    paying,
    pushes,
    taken,
)
from tests.channel.session.test_two_games import decider
from tests.channel.session.test_two_games import wish as any_wish
from tests.channel.table import ANN, BEN, sit

# --- where fees come from ------------------------------------------------------------------------


@pytest.mark.parametrize("index", [ANN, BEN])
def test_fees_come_from_a_wallet_coin_and_nothing_of_the_channels(index: int) -> None:
    table = at_message(16)
    fees = paying(table, index, rate=1)
    leave(table, index)
    settle(table)
    sound(table)
    assert rewards(table) == at_message(10_000).ends[0].state.balances
    names = taken(table, index)
    assert 0 < PURSE - left(table, fees) < 20 * MOST
    # With a coin that is being split, it joins the split in one bundle.
    assert any(name in names for name in ("unroll+fee", "unpin"))
    assert any(name in names for name in ("move+fee", "redo+fee", "preempt+fee"))
    assert not table.ends[index].news_of(FeeTooLow)


def test_each_spend_has_a_fee_coin_of_its_own_split_off_beforehand() -> None:
    table = sit("several").open()
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker"), any_wish("spacepoker"))
    for _ in range(14):
        table.step(decider("a"), decider("b"))
    fees = paying(table, ANN, rate=1)
    farm(table)
    assert len(table.chain.coins_at(fees.wallet.coin.puzzle_hash)) >= 5
    leave(table, ANN)
    settle(table, decider("a"), decider("b"), limit=400)
    sound(table)
    bundles = [bundle for name, bundle, _ in table.ends[ANN].pushed if name.endswith("+fee")]
    payers: dict[Coin, set[Coin]] = {}
    for bundle in bundles:
        *spends, payer = bundle.spends
        assert payer.coin.puzzle_hash == fees.wallet.coin.puzzle_hash
        payers.setdefault(payer.coin, set()).update(spend.coin for spend in spends)
    assert len(payers) > 3
    assert all(len(coins) == 1 for coins in payers.values()), "each coin pays for one spend"


def test_an_earlier_offer_is_forgotten_once_its_coins_are_finally_spent() -> None:
    """No side watches all coins of a funding: that they are spent shows in what they made."""
    table = sit().open()
    fees = paying(table, ANN)
    peer, coin = table.ends[ANN].peer, fees.wallet.coin
    final = peer.config.agreement.confirmations
    made_it, divided, unknown = (bytes(32), coin.parent), (coin.id,), (bytes(32),)
    offers = tuple(PastOffer(spends, coin, 1) for spends in (made_it, divided, unknown))
    peer.state = replace(peer.state, fees=replace(peer.state.fees, past=offers))
    is_over = False
    while not is_over:
        farm(table)
        kept = {past.spends for past in peer.state.fees.past}
        seen, peak = table.chain.coin(coin.id), table.chain.peak()
        assert seen is not None
        is_over = seen.spent is not None and peak - seen.spent > final
        assert (divided in kept) == (not is_over)
        assert (made_it in kept) == (peak - seen.born <= final)
        assert unknown in kept


def test_a_coin_is_split_once_for_several_games() -> None:
    """A block tells of the new coins in its second report: the first one has too few."""
    table = sit("several").open()
    paying(table, ANN, rate=1)
    farm(table)
    farm(table)
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker"), any_wish("spacepoker"))
    for _ in range(14):
        table.step(decider("a"), decider("b"))
    before = len(table.ends[ANN].pushed)
    for _ in range(5):
        farm(table)
    splits = [bundle for name, bundle, _ in table.ends[ANN].pushed[before:] if name == SPLIT]
    assert len({bundle.spends[0].coin for bundle in splits}) == 1


def test_a_spend_waits_for_the_report_of_the_coins_that_can_pay_for_it() -> None:
    """Alone, it could be pinned in half a block, with no room for a fee coin."""
    table = at_message(16)
    chain, own, other = table.chain, fee_wallet(table, ANN), fee_wallet(table, BEN)
    data = table.channel.agg_sig_data
    spend = signed_spend(other.key, other.coin, to_list([]), data)
    due: list[Effect] = [Push("preempt", spend, 100 * MOST, chain.peak() + 10)]
    limits, fee_state = FeeLimits(MOST, 20 * MOST), FeeState()
    seen = chain.coin(own.coin.id)
    assert seen is not None
    offered = []
    for known in ((), (seen,)):
        coins = find_fee_coins(own.coin, Block(chain.peak(), known))
        wallet = FeeWallet(own.key, coins, limits, chain.peak(), 3, 100 * MOST, data)
        fee_state, effects = add_fees(wallet, fee_state, due, ready=0, scan=True)
        offered.append([len(push.bundle.spends) for push in pushes(effects)])
    assert offered == [[], [2]]


def test_nothing_is_split_or_paid_for_stakes_that_are_too_small() -> None:
    table = at_message(16)
    fees = paying(table, ANN, None, rate=5)
    farm(table)
    leave(table, ANN)
    settle(table)
    assert left(table, fees) == PURSE
    assert not [name for name, _, _ in table.ends[ANN].pushed if "fee" in name]


@pytest.mark.parametrize("limits", [FeeLimits(0, None), FeeLimits(None, 0)])
def test_a_player_can_forbid_fees(limits: FeeLimits) -> None:
    table = at_message(16)
    table.handle(ANN, limits)
    fees = paying(table, ANN, rate=5)
    before = left(table, fees)
    leave(table, ANN)
    settle(table)
    assert left(table, fees) == before


# --- raising -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0, 1, 3])
def test_a_fee_begins_with_the_estimate_and_rises_to_the_maximum(rate: int) -> None:
    table = at_message(16)
    fees = paying(table, ANN, rate=rate)
    farm(table)
    effects = table.command(ANN, GoOnChain())
    (first,) = pushes(effects, "unroll", "unroll+fee")
    assert first.before is not None
    offers = [paid(first.bundle, fees)]
    for found in full_blocks(table, ANN, 12):
        (push,) = [one for one in found if one.name.startswith("unroll")]
        offers.append(paid(push.bundle, fees))
    assert bool(offers[0]) == bool(rate)
    steps = [after - before for before, after in pairwise(offers)]
    assert all(step == 0 or step >= LEAST_RAISE for step in steps), offers
    assert offers[10] == MOST, offers
    news = table.ends[ANN].peer
    assert news.state.fees.offers


@given(st.integers(0, 10**10), st.integers(0, 10**10), st.integers(0, 200), st.integers(1, 100))
def test_the_schedule_never_falls_and_ends_at_the_maximum(
    start: int, most: int, blocks: int, within: int
) -> None:
    fee = risen(start, most, blocks, within)
    assert 0 <= fee <= most or fee == most
    assert fee <= risen(start, most, blocks + 1, within)
    if blocks >= within:
        assert fee == most


@given(st.integers(0, 10**9), st.integers(0, 10**10), st.integers(0, 10**10))
def test_a_raise_is_one_that_mempools_take(before: int, wanted: int, most: int) -> None:
    fee = raised(before, wanted, most)
    assert fee == before or before + LEAST_RAISE <= fee <= most
    if wanted > before and before + LEAST_RAISE <= most:
        assert fee > before


def test_all_fees_together_stay_below_the_maximum_of_the_channel() -> None:
    table = sit("several").open()
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker"), any_wish("spacepoker"))
    for _ in range(14):
        table.step(decider("a"), decider("b"))
    in_all = 8 * LEAST_RAISE
    fees = paying(table, ANN, MOST, in_all, rate=2)
    leave(table, ANN)
    settle(table, decider("a"), decider("b"), limit=400)
    sound(table)
    assert 0 < PURSE - left(table, fees) <= in_all


# --- full mempools ---------------------------------------------------------------------------


def test_what_a_full_mempool_refuses_is_bid_higher_at_once() -> None:
    table = at_message(16)
    fees = paying(table, ANN)
    farm(table)
    (push,) = pushes(table.command(ANN, GoOnChain()), "unroll")
    offers, bundle = [], push.bundle
    for _ in range(20):
        again = pushes(table.ends[ANN].peer.handle(Refused(bundle, FEE_TOO_LOW)))
        if not again:
            break
        bundle = again[0].bundle
        offers.append(paid(bundle, fees))
    assert offers == sorted(set(offers))
    assert 1 < len(offers) < 10, "a node that always refuses is not asked for ever"
    assert offers[-1] <= MOST


def test_dropped_bytes_are_offered_in_others() -> None:
    table = at_message(16)
    fees = paying(table, ANN, rate=1)
    farm(table)
    (push,) = pushes(table.command(ANN, GoOnChain()), "unroll+fee")
    seen = [push.bundle]
    for _ in range(3):
        (again,) = pushes(table.ends[ANN].peer.handle(Dropped(seen[-1])))
        assert again.bundle not in seen
        assert 0 < paid(again.bundle, fees) <= MOST
        seen.append(again.bundle)


def test_dropped_bytes_are_offered_in_others_at_the_maximum_too() -> None:
    table = at_message(16)
    fees = paying(table, ANN, LEAST_RAISE, rate=1000)
    farm(table)
    (push,) = pushes(table.command(ANN, GoOnChain()), "unroll+fee")
    assert paid(push.bundle, fees) == LEAST_RAISE
    (again,) = pushes(table.ends[ANN].peer.handle(Dropped(push.bundle)))
    assert paid(again.bundle, fees) == LEAST_RAISE - 1


def test_a_player_without_fees_hears_once_that_a_spend_was_dropped() -> None:
    table = at_message(16)
    leave(table, ANN)
    bundle = table.ends[ANN].pushed[-1][1]
    for _ in range(2):
        table.handle(ANN, Dropped(bundle, "unroll"))
    assert table.ends[ANN].news_of(SpendDropped) == [SpendDropped("unroll")]


def test_what_the_node_refuses_with_a_fee_is_pushed_without() -> None:
    """A fee must not keep its spend out: together they may cost too much."""
    table = at_message(16)
    paying(table, ANN, rate=1)
    farm(table)
    (push,) = pushes(table.command(ANN, GoOnChain()), "unroll+fee")
    (bare,) = pushes(table.ends[ANN].peer.handle(Refused(push.bundle, "BLOCK_COST_EXCEEDS_MAX")))
    assert bare.name == "unroll"
    assert not table.ends[ANN].peer.handle(Refused(bare.bundle, "BLOCK_COST_EXCEEDS_MAX"))


# --- the coins that pay -------------------------------------------------------------------------


@pytest.mark.parametrize("lock", [None, condition(87, int_to_atom(5000)), condition(82, b"\x03")])
def test_a_split_of_its_fee_coin_pays_as_much_as_the_spend_that_waits_for_it(
    lock: Value | None,
) -> None:
    """Bundles with different locks cannot replace each other, nor those of one coin wait together.

    All blocks are full of others: nothing is mined.
    """
    table = at_message(16)
    chain, own, other = table.chain, fee_wallet(table, ANN), fee_wallet(table, BEN)
    chain.farm(5)
    made = condition(51, other.coin.puzzle_hash, int_to_atom(other.coin.amount))
    conditions = [made] if lock is None else [made, lock]
    data = table.channel.agg_sig_data
    spend = signed_spend(other.key, other.coin, to_list(conditions), data)
    start, seen = chain.peak(), chain.coin(own.coin.id)
    assert seen is not None
    coins = find_fee_coins(own.coin, Block(start, (seen,)))
    fee_state, fees = FeeState(watched=coins.watched), []
    for blocks in range(12):
        limits = FeeLimits(MOST, 20 * MOST)
        wallet = FeeWallet(own.key, coins, limits, start + blocks, 3, 100 * MOST, data)
        due: list[Effect] = [Push("move", spend, 100 * MOST, start + 10)] if blocks else []
        fee_state, effects = add_fees(wallet, fee_state, due, ready=3, scan=True)
        for push in pushes(effects):
            chain.push(push.bundle)
        fees.append(max(item.fee for item in chain.mempool.items()))
    assert fees[0] == 0
    assert fees[-1] == MOST
    assert fees == sorted(fees)


@pytest.mark.parametrize("ready", [0, 3], ids=["whole", "to be split"])
@pytest.mark.parametrize("due", [10, None], ids=["deadline", "no deadline"])
def test_a_fee_rises_beyond_what_its_first_coin_holds(due: int | None, ready: int) -> None:
    """A larger maximum must not be in vain because the coins were split for a smaller one.

    All blocks are full of others: nothing is mined. The larger coin is there from block 1 on.
    """
    table = at_message(16)
    chain, data = table.chain, table.channel.agg_sig_data
    small, large = (fee_wallet(table, ANN, amount) for amount in (8 * LEAST_RAISE, 2 * MOST))
    other = fee_wallet(table, BEN)
    made = condition(51, other.coin.puzzle_hash, int_to_atom(other.coin.amount))
    lock = condition(82, b"\x03")
    spend = signed_spend(other.key, other.coin, to_list([made, lock]), data)
    chain.farm(5)
    start = chain.peak()
    push = Push("move", spend, 100 * MOST, start + due if due is not None else None)
    fee_state, fees = FeeState(), []
    for blocks in range(40):
        there = (small.coin, large.coin) if blocks else (small.coin,)
        coins, limits = FeeCoins(there, there, 0), FeeLimits(MOST, 20 * MOST)
        wallet = FeeWallet(small.key, coins, limits, start + blocks, 3, 100 * MOST, data)
        fee_state, effects = add_fees(wallet, fee_state, [push], ready=ready, scan=True)
        for offered in pushes(effects):
            chain.push(offered.bundle)
        (pending,) = chain.pending(other.coin.id)
        fees.append(pending.fee)
    assert fees == sorted(fees)
    assert fees[1] <= 8 * LEAST_RAISE
    assert fees[-1] == MOST
