"""Fees: a coin for each spend, the estimate, raises that mempools take, pins, dropped bytes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from channelsim.channel.chain.coins import (
    Bundle,
    Coin,
    condition,
    joined,
    signed_spend,
)
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import Block, PendingBundle
from channelsim.channel.chain.padding import SLACK, padded_spend
from channelsim.channel.chain.refusals import FEE_TOO_LOW
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.fees.coins import FeeCoins, find_fee_coins
from channelsim.channel.peer.fees.fee_state import FeeState, raised, risen
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.fees.paying import pay as add_fees
from channelsim.channel.peer.fees.payment import split
from channelsim.channel.peer.interface import (
    Dropped,
    Effect,
    FeeLimits,
    FeeRate,
    FeeTooLow,
    GoOnChain,
    Pinned,
    Push,
    Refused,
    SpendDropped,
)
from channelsim.channel.protocol.spend_parsing import reserved_fee
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import Value, to_list
from tests.channel.disputes import (
    at_message,
    facts,
    farm,
    hear,
    leave,
    publish_old,
    received,
    rewards,
    settle,
    sound,
    with_config,
)
from tests.channel.session.test_two_games import decider
from tests.channel.session.test_two_games import wish as any_wish
from tests.channel.table import ANN, BEN, Table, sit

MILLION = 1_000_000
MOST = 100 * LEAST_RAISE
PURSE = 20 * MOST


def fee_wallet(table: Table, index: int, amount: int = PURSE) -> Wallet:
    """A wallet coin of its own for this side, of exactly this amount."""
    key = wallet_key(derive(b"wallet", "player", index), "fees")
    coin = table.chain.give(address_of(key), amount)
    pieces = [condition(51, coin.puzzle_hash, int_to_atom(amount))]
    pieces.append(condition(51, bytes(32), int_to_atom(coin.amount - amount)))
    spend = signed_spend(key, coin, to_list(pieces), table.chain.agg_sig_data())
    assert table.chain.push(spend).answer is Answer.ACCEPTED
    farm(table)
    return Wallet(key, Coin(coin.id, coin.puzzle_hash, amount))


def paying(
    table: Table, index: int, most: int | None = MOST, in_all: int | None = None, rate: int = 0
) -> Fees:
    """Let this side pay fees, and hear of this rate."""
    in_all = 20 * most if in_all is None and most is not None else in_all
    fees = Fees(fee_wallet(table, index), most, in_all)
    with_config(table, index, fees=fees)
    table.handle(index, FeeRate(rate))
    hear(table)
    return fees


def paid(bundle: Bundle, fees: Fees) -> int:
    """The fee that coins at the wallet's address pay in a bundle."""
    address = fees.wallet.coin.puzzle_hash
    return sum(
        reserved_fee(one.solution) for one in bundle.spends if one.coin.puzzle_hash == address
    )


def pushes(effects: Sequence[object], *names: str) -> list[Push]:
    found = [effect for effect in effects if isinstance(effect, Push)]
    return [push for push in found if not names or push.name in names]


def full_blocks(table: Table, index: int, blocks: int) -> list[list[Push]]:
    """What this side pushes with blocks that are full of others; they are its node's alone."""
    peak, found = table.chain.peak(), []
    for number in range(1, blocks + 1):
        coins = [table.chain.coin(coin.id) for coin in table.ends[index].watched]
        block = Block(peak + number, tuple(coin for coin in coins if coin))
        found.append(pushes(table.ends[index].peer.handle(block)))
    return found


def left(table: Table, fees: Fees) -> int:
    """The money at the wallet's address."""
    return sum(seen.coin.amount for seen in table.chain.coins_at(fees.wallet.coin.puzzle_hash))


def pay(wallet: Wallet, fee: int, table: Table) -> Bundle:
    """A spend of this wallet's coin, to itself, that leaves a fee."""
    coin = wallet.coin
    conditions = to_list([condition(51, coin.puzzle_hash, int_to_atom(coin.amount - fee))])
    return signed_spend(wallet.key, coin, conditions, table.channel.agg_sig_data)


def taken(table: Table, index: int) -> list[str]:
    """The names of the pushes that the node took."""
    accepted = Answer.ACCEPTED
    return [name for name, _, result in table.ends[index].pushed if result.answer is accepted]


def last(table: Table, index: int, wanted: str) -> Bundle:
    """The last bundle of this name that was pushed, which the node took."""
    pushed = [
        (bundle, result) for name, bundle, result in table.ends[index].pushed if name == wanted
    ]
    assert pushed[-1][1].answer is Answer.ACCEPTED
    return pushed[-1][0]


# --- where fees come from ------------------------------------------------------------------------


@pytest.mark.parametrize("index", [ANN, BEN])
def test_fees_come_from_a_wallet_coin_and_nothing_of_the_channels(index: int) -> None:
    table = at_message(16)
    fees = paying(table, index, rate=1)
    leave(table, index)
    settle(table)
    sound(table)
    assert rewards(table) == at_message(10_000).ends[0].state.balances
    names = [
        name for name, _, result in table.ends[index].pushed if result.answer is Answer.ACCEPTED
    ]
    assert 0 < PURSE - left(table, fees) < 20 * MOST
    assert "unroll+fee" in names
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
    """A fee must not keep its spend out: the fee coin may be gone, as another node has it."""
    table = at_message(16)
    paying(table, ANN, rate=1)
    farm(table)
    (push,) = pushes(table.command(ANN, GoOnChain()), "unroll+fee")
    (bare,) = pushes(table.ends[ANN].peer.handle(Refused(push.bundle, "UNKNOWN_UNSPENT")))
    assert bare.name == "unroll"
    assert not table.ends[ANN].peer.handle(Refused(bare.bundle, "UNKNOWN_UNSPENT"))


# --- pins ------------------------------------------------------------------------------------


def test_a_preemption_in_a_bundle_of_low_fee_is_paid_for() -> None:
    """The thief takes our preemption into a bundle with a coin of its own: we extend that."""
    table = at_message(10_000)
    thief = fee_wallet(table, ANN)
    fees = paying(table, BEN)
    farm(table)
    publish_old(table, ANN, received(table, ANN)[0])
    farm(table)
    bundle = last(table, BEN, "preempt")
    pin = joined(bundle, pay(thief, LEAST_RAISE, table))
    assert table.chain.push(pin).answer is Answer.ACCEPTED
    others = tuple(table.chain.pending(bundle.spends[0].coin.id))
    assert [other.bundle for other in others] == [pin]
    offers = []
    peer = table.ends[BEN].peer
    for found in full_blocks(table, BEN, 10):
        del found
        offers += pushes(peer.handle(Pinned(bundle, others)), "unpin")
        if offers:
            others = (PendingBundle(offers[-1].bundle, others[0].fee, others[0].cost),)
    fees_paid = [paid(offer.bundle, fees) for offer in offers]
    assert all(after - before >= LEAST_RAISE for before, after in pairwise(fees_paid))
    assert fees_paid[-1] <= MOST
    assert all(len(offer.bundle.spends) == 3 for offer in offers), "each in the place of the last"
    assert table.chain.push(offers[0].bundle).answer is Answer.ACCEPTED
    assert table.chain.push(offers[-1].bundle).answer is Answer.ACCEPTED
    farm(table)
    settle(table)
    sound(table, dead=(ANN,))
    (counts,) = facts(table.ends[BEN], StateCounts)
    assert isinstance(counts, StateCounts)
    assert not counts.stale


def test_a_higher_fee_takes_the_place_of_ours_in_a_bundle_that_took_it_whole() -> None:
    table = at_message(10_000)
    thief = fee_wallet(table, ANN)
    fees = paying(table, BEN, rate=1)
    farm(table)
    publish_old(table, ANN, received(table, ANN)[0])
    farm(table)
    bundle = last(table, BEN, "preempt+fee")
    pin = joined(bundle, pay(thief, 2 * LEAST_RAISE, table))
    assert table.chain.push(pin).answer is Answer.ACCEPTED
    others = tuple(table.chain.pending(bundle.spends[0].coin.id))
    full_blocks(table, BEN, 3)
    (offer,) = pushes(table.ends[BEN].peer.handle(Pinned(bundle, others)), "unpin")
    assert len(offer.bundle.spends) == 3, "no larger than before"
    assert paid(bundle, fees) + LEAST_RAISE <= paid(offer.bundle, fees) <= MOST
    assert table.chain.push(offer.bundle).answer is Answer.ACCEPTED
    farm(table)
    settle(table)
    sound(table, dead=(ANN,))


@pytest.mark.parametrize("rate", [0, 1])
def test_a_pin_that_leaves_no_room_in_a_bundle_is_paid_for(rate: int) -> None:
    """Whatever the fee, our replacement costs no more than what it replaces."""
    table = at_message(10_000)
    thief = fee_wallet(table, ANN, 10**10)
    fees = paying(table, BEN, rate=rate)
    farm(table)
    publish_old(table, ANN, received(table, ANN)[0])
    farm(table)
    bundle = last(table, BEN, "preempt+fee" if rate else "preempt")
    (pending,) = table.chain.pending(bundle.spends[0].coin.id)
    room = BLOCK_COST // 2 - pending.cost
    fee = LEAST_RAISE + (pending.fee * room // pending.cost)
    # Byte by byte up to half a block.
    most, data = room, table.channel.agg_sig_data
    while table.chain.push(pin := joined(bundle, pad(thief, fee, most, data))).benign is False:
        most -= 12_000
    (pending,) = table.chain.pending(bundle.spends[0].coin.id)
    assert pending.bundle == pin
    assert BLOCK_COST // 2 - pending.cost < 12_100
    full_blocks(table, BEN, 5)
    (offer,) = pushes(table.ends[BEN].peer.handle(Pinned(bundle, (pending,))), "unpin")
    assert paid(bundle, fees) + LEAST_RAISE < paid(offer.bundle, fees) < MOST
    assert table.chain.push(offer.bundle).answer is Answer.ACCEPTED


def pad(wallet: Wallet, fee: int, cost: int, agg_sig_data: bytes) -> Bundle:
    # Past the slack of padded spends.
    return padded_spend(wallet.key, wallet.coin, fee, cost + SLACK, agg_sig_data)


def test_a_pin_that_contradicts_our_spend_and_a_bundle_of_ours_are_not_paid_for() -> None:
    table = at_message(10_000)
    thief = fee_wallet(table, ANN)
    paying(table, BEN, rate=1)
    farm(table)
    leave(table, BEN)
    bundle = last(table, BEN, "unroll+fee")
    (spend, *_) = bundle.spends
    own = pay(thief, 1, table)
    wrong = Bundle((type(spend)(spend.coin, spend.puzzle, b"\x80"), *own.spends), own.signature)
    full_blocks(table, BEN, 3)
    forged = Bundle((*bundle.spends, *own.spends), b"\xff" * 96)
    for other in (wrong, bundle, forged):
        assert not table.ends[BEN].peer.handle(Pinned(bundle, (PendingBundle(other, 1, 1),)))


def test_a_bundle_of_another_that_pays_enough_is_left_in_peace() -> None:
    """Or two peers that both pay for the funding would outbid each other without need."""
    table = at_message(10_000)
    thief = fee_wallet(table, ANN)
    paying(table, BEN, rate=1)
    farm(table)
    (push,) = pushes(table.command(BEN, GoOnChain()), "unroll+fee")
    other = joined(push.bundle, pay(thief, MOST, table))
    pinned = Pinned(push.bundle, (PendingBundle(other, MOST, 40 * MILLION),))
    assert not table.ends[BEN].peer.handle(pinned)


def test_pins_of_several_nodes_that_contradict_each_other_are_paid_for_one_by_one() -> None:
    """The thief shows each node another spend of its own coin beside our preemption."""
    table = at_message(10_000)
    thief = fee_wallet(table, ANN)
    paying(table, BEN, rate=1)
    farm(table)
    publish_old(table, ANN, received(table, ANN)[0])
    farm(table)
    bundle = last(table, BEN, "preempt+fee")
    pins = [joined(bundle, pay(thief, fee, table)) for fee in (3 * LEAST_RAISE, 2 * LEAST_RAISE)]
    cost = table.chain.pending(bundle.spends[0].coin.id)[0].cost + 10 * MILLION
    full_blocks(table, BEN, 3)
    peer = table.ends[BEN].peer
    others = [PendingBundle(pin, 10 * LEAST_RAISE, cost) for pin in pins]
    (first,) = pushes(peer.handle(Pinned(bundle, tuple(others))), "unpin")
    assert set(pins[0].spends) & set(first.bundle.spends) > {bundle.spends[0]}
    others[0] = PendingBundle(first.bundle, 20 * LEAST_RAISE, cost)
    (second,) = pushes(peer.handle(Pinned(first.bundle, tuple(others))), "unpin")
    assert set(pins[1].spends) & set(second.bundle.spends) > {bundle.spends[0]}


def test_an_answer_to_a_replacement_is_one_to_the_spend_that_it_is_for() -> None:
    """A pin may contain two spends of ours: the answer to one must not use up the other's."""
    table = at_message(10_000)
    spend = pay(fee_wallet(table, ANN), 0, table)
    paying(table, BEN, rate=1)
    farm(table)
    leave(table, BEN)
    peer = table.ends[BEN].peer
    (one,) = peer.state.fees.offers
    other = replace(one, push=Push("move", spend, PURSE, one.push.before), coin=None)
    peer.state = replace(peer.state, fees=peer.state.fees.with_offer(other))
    pin = PendingBundle(joined(one.push.bundle, spend), 0, 100 * MILLION)
    (unpin,) = pushes(peer.handle(Pinned(spend, (pin,))), "unpin")
    peer.handle(Refused(unpin.bundle, FEE_TOO_LOW))
    answers = {offer.push.name: offer.answers for offer in peer.state.fees.offers}
    assert answers == {"unroll": 0, "move": 2}


def test_a_fee_that_was_offered_once_counts_until_its_coin_is_spent() -> None:
    """Bytes that a node has dropped may still be in a block: any other node can have them."""
    table = at_message(10_000)
    thief = fee_wallet(table, ANN)
    paying(table, BEN, rate=1)
    farm(table)
    publish_old(table, ANN, received(table, ANN)[0])
    farm(table)
    bundle = last(table, BEN, "preempt+fee")
    pin = joined(bundle, pay(thief, 3 * LEAST_RAISE, table))
    full_blocks(table, BEN, 3)
    peer = table.ends[BEN].peer
    pinned = Pinned(bundle, (PendingBundle(pin, 10 * LEAST_RAISE, 100 * MILLION),))
    (unpin,) = pushes(peer.handle(pinned), "unpin")
    (offer,) = [one for one in peer.state.fees.offers if one.replacement is not None]
    peer.handle(Refused(unpin.bundle, "UNKNOWN_UNSPENT"))
    (after,) = [one for one in peer.state.fees.offers if one.key == offer.key]
    assert after.replacement is None
    assert after.most == offer.most > offer.fee


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
    fee_state, fees = FeeState(), []
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


@pytest.mark.parametrize("due", [10, None], ids=["deadline", "no deadline"])
def test_a_fee_rises_beyond_what_its_first_coin_holds(due: int | None) -> None:
    """A larger maximum must not be in vain because the coins were split for a smaller one.

    All blocks are full of others: nothing is mined. The larger coin is there from block 2 on.
    """
    table = at_message(16)
    chain, data = table.chain, table.channel.agg_sig_data
    small, large = (fee_wallet(table, ANN, amount) for amount in (3 * LEAST_RAISE, 2 * MOST))
    other = fee_wallet(table, BEN)
    made = condition(51, other.coin.puzzle_hash, int_to_atom(other.coin.amount))
    spend = signed_spend(other.key, other.coin, to_list([made]), data)
    start = chain.peak()
    push = Push("move", spend, 100 * MOST, start + due if due is not None else None)
    fee_state, fees = FeeState(), []
    for blocks in range(40):
        there = (small.coin, large.coin) if blocks >= 2 else (small.coin,)
        coins, limits = FeeCoins(there, there, 0), FeeLimits(MOST, 20 * MOST)
        wallet = FeeWallet(small.key, coins, limits, start + blocks, 3, 100 * MOST, data)
        fee_state, effects = add_fees(wallet, fee_state, [push], ready=0, scan=True)
        (offered,) = pushes(effects, "move", "move+fee")
        assert chain.push(offered.bundle).answer in (Answer.ACCEPTED, Answer.KNOWN)
        fees.append(sum(item.fee for item in chain.mempool.items()))
    assert fees == sorted(fees)
    assert fees[1] < 3 * LEAST_RAISE + MILLION
    assert fees[-1] == MOST


def test_pins_that_are_together_larger_than_a_bundle_are_not_joined() -> None:
    """Nothing that no mempool takes is pushed, or written into the journal and every snapshot."""
    table = at_message(10_000)
    paying(table, BEN, rate=1)
    farm(table)
    leave(table, BEN)
    peer = table.ends[BEN].peer
    (offer,) = peer.state.fees.offers
    own = offer.push.bundle
    pins = []
    for number in range(1, 40):
        coin = Coin(number.to_bytes(32, "big"), bytes(32), 1)
        padding = type(own.spends[0])(coin, b"\x01", bytes([0x80]) * 400_000)
        pins.append(PendingBundle(Bundle((*own.spends, padding), own.signature), 0, MILLION))
    full_blocks(table, BEN, 3)
    (unpin,) = pushes(peer.handle(Pinned(own, tuple(pins))), "unpin")
    assert sum(len(spend.solution) for spend in unpin.bundle.spends) < 500_000


def test_a_refused_replacement_is_no_reason_to_show_a_spend_without_its_fee_coin() -> None:
    """The coins of a pin are its maker's, who can have them gone; and could then pin the spend with
    a bundle of half a block, in which there is no room for a fee coin."""
    table = at_message(10_000)
    thief = fee_wallet(table, ANN)
    fees = paying(table, BEN, rate=1)
    farm(table)
    publish_old(table, ANN, received(table, ANN)[0])
    farm(table)
    bundle = last(table, BEN, "preempt+fee")
    pin = joined(bundle, pay(thief, 2 * LEAST_RAISE, table))
    full_blocks(table, BEN, 3)
    peer = table.ends[BEN].peer
    pinned = Pinned(bundle, (PendingBundle(pin, 4 * LEAST_RAISE, 100 * MILLION),))
    (unpin,) = pushes(peer.handle(pinned), "unpin")
    (again,) = pushes(peer.handle(Refused(unpin.bundle, "UNKNOWN_UNSPENT")))
    assert again.name == "preempt+fee"
    assert paid(again.bundle, fees) > paid(bundle, fees)
    (bare,) = pushes(peer.handle(Refused(again.bundle, "UNKNOWN_UNSPENT")))
    assert bare.name == "preempt"


@pytest.mark.parametrize("amount", [PURSE + 1, 1 << 63, 1 << 70])
def test_change_that_a_node_makes_up_pays_for_nothing(amount: int) -> None:
    """A coin of more than 2^63 - 1 mojos cannot be written down, nor given to a node."""
    table = at_message(10_000)
    fees = paying(table, BEN, LEAST_RAISE * 5, rate=1)
    leave(table, BEN)
    full_blocks(table, BEN, 3)
    peer = table.ends[BEN].peer
    offer = next(one for one in peer.state.fees.offers if one.push.name == "unroll")
    coin, own = offer.coin, offer.push.bundle
    assert coin == fees.wallet.coin, "not split yet"
    made_up = split(fees.wallet.key, coin, [amount], 0, table.channel.agg_sig_data)
    other = type(own.spends[0])(Coin(bytes(32), bytes(32), 1), b"\x01", b"\x80")
    pin = Bundle((*own.spends, *made_up.spends, other), own.signature)
    assert not peer.handle(Pinned(own, (PendingBundle(pin, 0, 50 * MILLION),)))
