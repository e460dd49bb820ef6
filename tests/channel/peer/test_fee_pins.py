"""Pins: pending bundles of another party with a spend of ours, which we replace for a fee."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.constants import BLOCK_COST
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.padding import SLACK, padded_spend
from channelsim.channel.chain.refusals import FEE_TOO_LOW
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.peer.fees.answers import react
from channelsim.channel.peer.fees.coins import FeeCoins, change_of, paid_by
from channelsim.channel.peer.fees.fee_state import FeeState
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.fees.paying import pay as add_fees
from channelsim.channel.peer.fees.payment import payment, split
from channelsim.channel.peer.interface import FeeLimits, GoOnChain, Pinned, Push, Refused
from channelsim.channel.protocol.spend_parsing import reserved_fee
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from tests.channel.disputes import (
    at_message,
    facts,
    farm,
    leave,
    publish_old,
    received,
    settle,
    sound,
)
from tests.channel.peer.fees import (
    MILLION,
    MOST,
    PURSE,
    fee_wallet,
    full_blocks,
    last,
    paid,
    pay,
    paying,
    pushes,
)
from tests.channel.table import ANN, BEN


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
    (bare,) = pushes(peer.handle(Refused(again.bundle, "BLOCK_COST_EXCEEDS_MAX")))
    assert bare.name == "preempt"


def test_a_bundle_with_a_split_takes_the_fee_alone_and_what_is_paid_from_its_rest() -> None:
    """Its pieces are ours still: one in a pin leaves enough to replace that."""
    key = wallet_key(b"fees", "split")
    coin = Coin(bytes(32), address_of(key), 1_000_000)
    bundle = split(key, coin, [400_000, 400_001], 7, bytes(32))
    assert paid_by(coin, bundle) == 7
    rest = change_of(coin, bundle)
    assert rest is not None
    assert rest.amount == 400_001
    both = joined(bundle, payment(key, rest, 5, bundle, bytes(32)))
    assert paid_by(coin, both) == 12
    assert paid_by(rest, bundle) == 0


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


@pytest.mark.parametrize("whole", [True, False])
def test_a_pin_of_a_spend_that_two_coins_pay_for_is_replaced_by_both(whole: bool) -> None:
    """The first coin can pay no more; what replaces the pin has it all the same."""
    table = at_message(16)
    chain, data = table.chain, table.channel.agg_sig_data
    small, large = (fee_wallet(table, ANN, amount) for amount in (2 * LEAST_RAISE, 2 * MOST))
    own, thief = fee_wallet(table, BEN), fee_wallet(table, BEN)
    start, limits = chain.peak(), FeeLimits(MOST, 20 * MOST)
    push = Push("move", pay(own, 0, table), 100 * MOST, start + 20)
    fee_state, offered = FeeState(), push
    for blocks in range(8):
        there = (small.coin, large.coin) if blocks >= 6 else (small.coin,)
        wallet = FeeWallet(
            small.key, FeeCoins(there, there, 0), limits, start + blocks, 3, 100 * MOST, data
        )
        fee_state, effects = add_fees(wallet, fee_state, [push], ready=0, scan=True)
        (offered,) = pushes(effects, "move+fee", "move")
    assert len(offered.bundle.spends) == 3
    pin = joined(offered.bundle if whole else push.bundle, pay(thief, 15 * LEAST_RAISE, table))
    assert chain.push(pin).answer is Answer.ACCEPTED
    pinned = Pinned(offered.bundle, tuple(chain.pending(own.coin.id)))
    assert [other.bundle for other in pinned.pending] == [pin]
    _, (unpin,) = react(wallet, fee_state, pinned)
    assert isinstance(unpin, Push)
    spent = {spend.coin: spend for spend in unpin.bundle.spends}
    assert {small.coin, large.coin} <= set(spent)
    assert sum(reserved_fee(spent[one.coin].solution) for one in (small, large)) <= MOST
    assert chain.push(unpin.bundle).answer is Answer.ACCEPTED
