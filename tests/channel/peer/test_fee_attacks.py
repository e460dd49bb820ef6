"""Fees against a hostile peer, node or mempool: no money lost, no deadline missed, no delay."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from channelsim.channel.chain.coins import Bundle, Coin, Spend, condition, joined, signed_spend
from channelsim.channel.chain.interface import Answer, PushResult, pending_with
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.refusals import FEE_TOO_LOW, INVALID_BUNDLE, UNKNOWN_UNSPENT
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.fees.answers import react
from channelsim.channel.peer.fees.coins import FeeCoins
from channelsim.channel.peer.fees.fee_state import FeeState, risen
from channelsim.channel.peer.fees.fee_wallet import FeeWallet
from channelsim.channel.peer.fees.paying import pay
from channelsim.channel.peer.interface import Dropped, FeeLimits, Pinned, Push, Refused
from channelsim.channel.peer.push_answers import MOST_PENDING_BYTES, fate
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.spend_parsing import created_coins, reserved_fee
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.clsp.values import int_to_atom, serialize, to_list
from tests.channel.chain.mempool_sequences import ANYONE
from tests.channel.watch.towers import money

MOST = 40 * LEAST_RAISE
CONFIRMATIONS = 3
DEADLINE = 30
FEES, OWNER, THIEF = (wallet_key(name, "attack") for name in (b"fees", b"owner", b"thief"))


def spent(chain: SimulatedChain, coin: Coin, *amounts: int) -> Bundle:
    """The signed spend of a coin of the owner or the thief to its address."""
    key = OWNER if coin.puzzle_hash == address_of(OWNER) else THIEF
    made = (condition(51, coin.puzzle_hash, int_to_atom(amount)) for amount in amounts)
    return signed_spend(key, coin, to_list(made), chain.agg_sig_data())


@dataclass
class Payer:
    """A side that owes spends, with fee coins of these amounts, as of `blocks` blocks later."""

    chain: SimulatedChain
    coins: tuple[Coin, ...]
    state: FeeState
    start: int
    blocks: int = 0
    in_all: int = 20 * MOST
    ready: int = 0
    final: Set[bytes] = frozenset()

    def wallet(self) -> FeeWallet:
        return FeeWallet(
            key=FEES,
            coins=FeeCoins(self.coins, self.coins, 0),
            limits=FeeLimits(MOST, self.in_all),
            peak=self.start + self.blocks,
            confirmations=CONFIRMATIONS,
            total=1000 * MOST,
            agg_sig_data=self.chain.agg_sig_data(),
            final=self.final,
        )

    def block(self, *due: Bundle, blocks: int = 1) -> list[Push]:
        """What it pushes with a block, in which these spends are due."""
        self.blocks += blocks
        wanted = [Push("spend", bundle, 1000 * MOST, self.start + DEADLINE) for bundle in due]
        known = structs.replace(self.state, watched=self.coins)
        self.state, effects = pay(self.wallet(), known, [*wanted], ready=self.ready, scan=True)
        return [effect for effect in effects if isinstance(effect, Push)]

    def answer(self, event: Pinned | Refused) -> list[Push]:
        self.state, effects = react(self.wallet(), self.state, event)
        return [effect for effect in effects if isinstance(effect, Push)]


def payer(rate: int = 1, coins: int = 1) -> Payer:
    chain = SimulatedChain(1)
    chain.farm(5)
    given = money(chain, *(2 * MOST + number for number in range(coins)), key=FEES)
    return Payer(chain, tuple(given), FeeState(rate=rate), chain.peak())


def fee_in(bundle: Bundle) -> int:
    """What our coins pay in a bundle."""
    ours = [one for one in bundle.spends if one.coin.puzzle_hash == address_of(FEES)]
    return sum(reserved_fee(one.solution) for one in ours)


# --- dropped, and in bundles of others -----------------------------------------------------------


def test_a_dropped_spend_without_a_signature_is_no_pin_while_others_have_it() -> None:
    """Mempools have identical spends in several bundles: ours fits in beside them."""
    side = payer()
    chain = side.chain
    coin = chain.give(ANYONE.hash, 1)
    thief = money(chain, *(3 * MOST + number for number in range(3)), key=THIEF)
    made = to_list([condition(51, bytes(32), int_to_atom(coin.amount))])
    ours = Bundle((Spend(coin, ANYONE.serialized, serialize(made)),), NO_SIGNATURE)
    (push,) = side.block(ours)
    assert chain.push(push.bundle).answer is Answer.ACCEPTED
    for other in thief:
        # Of a high fee, but a low rate: we could not pay as much.
        held = joined(ours, spent(chain, other, other.amount - 2 * MOST))
        assert chain.push(held).answer is Answer.ACCEPTED
    # The node drops ours.
    (item,) = [item for item in chain.mempool.items() if item.valid.bundle == push.bundle]
    chain.mempool._remove([item])  # noqa: SLF001
    (push,) = side.block(ours, blocks=0)
    for blocks in range(3):
        result = chain.push(push.bundle)
        assert result.answer is (Answer.KNOWN if not blocks else Answer.ACCEPTED)
        result, event = fate(push.bundle, result, pending_with(chain, push.bundle, result))
        if event is not None:
            assert isinstance(event, Pinned)
            assert not side.answer(event), "first wait: they pay enough"
            side.blocks += 1
            (push,) = side.answer(event)
    assert fee_in(push.bundle) <= MOST


# --- lies ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("fee", "cost"), [(1 << 60, 10**9), (10**9, 1), (10 * MOST, 10**9)])
def test_a_pin_is_replaced_whatever_the_node_says_of_its_fee_and_cost(fee: int, cost: int) -> None:
    side = payer()
    chain = side.chain
    coin, thief = chain.give(address_of(OWNER), 1), chain.give(address_of(THIEF), 1)
    (push,) = side.block(spent(chain, coin, coin.amount))
    pin = joined(push.bundle, spent(chain, thief, thief.amount - LEAST_RAISE))
    assert chain.push(pin).answer is Answer.ACCEPTED
    side.blocks += 1
    (again,) = side.answer(Pinned(push.bundle, (PendingBundle(pin, fee, cost),)))
    assert chain.push(again.bundle).answer is Answer.ACCEPTED
    assert fee_in(again.bundle) < MOST


def offered(side: Payer, push: Push, *lies: PendingBundle) -> Push:
    """The last push of a block with this one; beside its own node, one tells these lies."""
    for _ in range(20):
        result = side.chain.push(push.bundle)
        pending = pending_with(side.chain, push.bundle, result)
        bundles = {lie.bundle for lie in lies}
        told = (*lies, *(one for one in pending if one.bundle not in bundles))
        result, event = fate(push.bundle, result, told)
        if event is None:
            break
        assert not isinstance(event, Dropped)
        pushes = side.answer(event)
        if not pushes:
            break
        (push,) = pushes
    return push


@pytest.mark.parametrize("fee", [0, 1, LEAST_RAISE])
def test_a_pin_that_is_said_to_pay_less_than_it_does_is_replaced_at_once(fee: int) -> None:
    """It does not contain our fee coin: ours has to pay its rate for that."""
    side = payer()
    one, thief = money(side.chain, 1000, key=OWNER)[0], money(side.chain, 3 * MOST, key=THIEF)[0]
    own = spent(side.chain, one, 1000)
    pin = joined(own, spent(side.chain, thief, 3 * MOST - MOST // 2))
    assert side.chain.push(pin).answer is Answer.ACCEPTED
    side.block(own)
    (push,) = side.block(own)
    offered(side, push, PendingBundle(pin, fee, 10**9))
    assert fee_in(side.chain.pending(one.id)[0].bundle) > 0


def test_pins_that_both_have_our_spend_are_not_joined() -> None:
    """Its signature would be in the sum twice: no node takes that."""
    side = payer()
    (one,), thief = money(side.chain, 1000, key=OWNER), money(side.chain, MOST, MOST + 1, key=THIEF)
    (push,) = side.block(spent(side.chain, one, 1000))
    pins = [
        joined(push.bundle, spent(side.chain, coin, coin.amount - LEAST_RAISE)) for coin in thief
    ]
    assert side.chain.push(pins[1]).answer is Answer.ACCEPTED
    before = fee_in(push.bundle)
    (push,) = side.block(spent(side.chain, one, 1000))
    offered(side, push, PendingBundle(pins[0], 2 * LEAST_RAISE, 10**8))
    (pending,) = side.chain.pending(one.id)
    assert thief[1] in {spend.coin for spend in pending.bundle.spends}
    assert before < fee_in(pending.bundle) < MOST


def test_a_pin_that_a_node_makes_up_hides_no_real_one() -> None:
    side = payer()
    (one,), thief = money(side.chain, 1000, key=OWNER), money(side.chain, 3 * MOST, key=THIEF)[0]
    (push,) = side.block(spent(side.chain, one, 1000))
    before = fee_in(push.bundle)
    pin = joined(push.bundle, spent(side.chain, thief, 3 * MOST - 2 * LEAST_RAISE))
    assert side.chain.push(pin).answer is Answer.ACCEPTED
    made_up = joined(push.bundle, spent(side.chain, Coin(bytes(32), thief.puzzle_hash, 1), 1))
    (push,) = side.block(spent(side.chain, one, 1000))
    offered(side, push, PendingBundle(made_up, 3 * LEAST_RAISE, 10**9))
    assert fee_in(side.chain.pending(one.id)[0].bundle) > before


def test_a_pin_in_one_node_is_replaced_though_another_node_has_our_own_offer() -> None:
    side = payer()
    (one,), thief = money(side.chain, 1000, key=OWNER), money(side.chain, 3 * MOST, key=THIEF)[0]
    (push,) = side.block(spent(side.chain, one, 1000))
    before = fee_in(push.bundle)
    pin = joined(push.bundle, spent(side.chain, thief, 3 * MOST - 2 * LEAST_RAISE))
    assert side.chain.push(pin).answer is Answer.ACCEPTED
    own = PendingBundle(push.bundle, fee_in(push.bundle), 3 * 10**7)
    (push,) = side.block(spent(side.chain, one, 1000))
    offered(side, push, own)
    assert fee_in(side.chain.pending(one.id)[0].bundle) > before


def test_a_peer_hears_of_no_more_bytes_than_a_block_holds() -> None:
    """And of a bundle in its way before larger ones that have only one of its spends."""

    def bundle_of(*numbers: int, size: int = 0) -> Bundle:
        coins = [Coin(bytes(32), bytes(32), number) for number in numbers]
        return Bundle(tuple(Spend(coin, b"", bytes(size)) for coin in coins), NO_SIGNATURE)

    ours = bundle_of(1, 2)
    large = [
        PendingBundle(Bundle((ours.spends[0], *bundle_of(n, size=400_000).spends), b""), 9, 9)
        for n in range(3, 103)
    ]
    pin = PendingBundle(Bundle((*ours.spends, *bundle_of(200).spends), b""), 1, 9)
    _, event = fate(ours, PushResult(Answer.KNOWN), (*large, pin))
    assert isinstance(event, Pinned)
    assert event.pending[0] == pin
    spends = [spend for other in event.pending for spend in other.bundle.spends]
    assert 400_000 < sum(len(spend.solution) for spend in spends) <= MOST_PENDING_BYTES


# --- a busy node ---------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [INVALID_BUNDLE, "timed out", "NO_TRANSACTIONS_WHILE_SYNCING"])
def test_what_a_busy_node_does_not_judge_is_offered_again_as_it_was(error: str) -> None:
    """Not without its fee coin: then it could be pinned with no room for it."""
    side = payer()
    coin = side.chain.give(address_of(OWNER), 1)
    ours = spent(side.chain, coin, coin.amount)
    (push,) = side.block(ours)
    assert not side.answer(Refused(push.bundle, error))
    (again,) = side.block(ours, blocks=0)
    assert again == push
    side.block(ours, blocks=4)
    (bare,) = side.answer(Refused(push.bundle, error))
    assert bare.bundle == ours, "at last alone: perhaps the fee coin is what takes so long"


def test_a_spend_is_not_soon_offered_alone_to_a_node_that_does_not_know_its_fee_coin() -> None:
    """A node says so during a reorganisation; alone, a spend can be pinned in half a block."""
    side = payer()
    coin = side.chain.give(address_of(OWNER), 1)
    ours = spent(side.chain, coin, coin.amount)
    for waited in range(CONFIRMATIONS + 1):
        (push,) = side.block(ours, blocks=bool(waited))
        assert push.bundle != ours
        assert not side.answer(Refused(push.bundle, UNKNOWN_UNSPENT))
    (push,) = side.block(ours)
    (bare,) = side.answer(Refused(push.bundle, UNKNOWN_UNSPENT))
    assert bare.bundle == ours, "the coin may be gone for good"


@pytest.mark.parametrize(("left", "waits"), [(CONFIRMATIONS + 1, False), (CONFIRMATIONS + 2, True)])
def test_near_its_deadline_a_spend_does_not_wait_for_its_fee_coin(left: int, waits: bool) -> None:
    side = payer()
    coin = side.chain.give(address_of(OWNER), 1)
    (push,) = side.block(spent(side.chain, coin, coin.amount), blocks=DEADLINE - left)
    assert bool(side.answer(Refused(push.bundle, UNKNOWN_UNSPENT))) is not waits


# --- no more than is needed ----------------------------------------------------------------------


@given(st.integers(LEAST_RAISE, 10**9), st.integers(1, 1000), st.integers(1, 200))
def test_a_fee_rises_in_small_steps_where_there_are_many_blocks(
    start: int, factor: int, within: int
) -> None:
    most = start * factor
    doublings = factor.bit_length()
    fees = [risen(start, most, blocks, within) for blocks in range(within + 1)]
    assert fees[-1] == most
    for before, after in pairwise(fees):
        # At most the part of a doubling that a block stands for, of the fee at the last doubling.
        if doublings <= within:
            assert after <= before + before * doublings // within + 2


def test_a_refused_bid_rises_by_a_quarter() -> None:
    side = payer(rate=10)
    coin = side.chain.give(address_of(OWNER), 1)
    (push,) = side.block(spent(side.chain, coin, coin.amount))
    before = fee_in(push.bundle)
    (again,) = side.answer(Refused(push.bundle, FEE_TOO_LOW))
    assert before + LEAST_RAISE <= fee_in(again.bundle) <= before * 1.3


# --- reorganisations -----------------------------------------------------------------------------


def payers(pushes: list[Push], coin: Coin) -> set[Coin]:
    """The fee coins that pay for the spend of a coin."""
    return {
        spend.coin
        for push in pushes
        if coin in {spend.coin for spend in push.bundle.spends}
        for spend in push.bundle.spends
        if spend.coin.puzzle_hash == address_of(FEES)
    }


@pytest.mark.parametrize("away", [1, 2, 3, 20])
def test_a_spend_that_a_reorganisation_takes_back_is_paid_from_the_same_coin(away: int) -> None:
    """Two payments for it, from two coins, could be joined to it: a double fee."""
    side = payer(coins=3)
    one, other = money(side.chain, 1000, 1001, key=OWNER)
    ours, another = (spent(side.chain, coin, coin.amount) for coin in (one, other))
    pushes = side.block(ours)
    for _ in range(away):
        pushes += side.block(another)
    for _ in range(3):
        pushes += side.block(ours, another)
    assert len(payers(pushes, one)) == 1
    assert len(payers(pushes, other)) == 1
    assert payers(pushes, one) != payers(pushes, other)


def remembered(side: Payer) -> list[bytes]:
    return [past.key for past in side.state.past]


def test_a_coin_that_paid_for_a_spend_is_free_once_that_is_final() -> None:
    side = payer()
    one, other = money(side.chain, 1000, 1001, key=OWNER)
    ours, another = (spent(side.chain, coin, coin.amount) for coin in (one, other))
    side.block(ours)
    assert remembered(side) == []
    side.block()
    assert remembered(side) == [one.id]
    assert payers(side.block(another), other), "there is no other coin"
    side.block(another, blocks=3)
    assert remembered(side) == [one.id], "its coin may be made again at any time"
    side.final = {one.id}
    side.block(another)
    assert remembered(side) == []


def test_a_coin_that_paid_for_a_spend_is_left_to_it_when_both_are_back() -> None:
    side = payer(coins=2)
    one, other = money(side.chain, 1000, 1001, key=OWNER)
    ours, another = (spent(side.chain, coin, coin.amount) for coin in (one, other))
    pushes = side.block(ours, another)
    (kept,) = payers(pushes, other)
    assert payers(pushes, one) == {*side.coins} - {kept}
    side.coins = (kept,)
    side.block()
    pushes = side.block(ours, another)
    assert payers(pushes, one) == set()
    assert payers(pushes, other) == {kept}


@pytest.mark.parametrize("blocks", [1, 3, 4, 9])
def test_coins_pay_for_the_same_spends_in_the_blocks_of_a_reorganisation(blocks: int) -> None:
    """Those are more blocks than the ones that they replace."""
    side = payer(coins=2)
    both = side.coins
    one, other = money(side.chain, 1000, 1001, key=OWNER)
    ours, another = (spent(side.chain, coin, coin.amount) for coin in (one, other))
    paid = side.block(ours, another)
    side.coins = ()
    side.block()
    side.coins = both
    again = side.block(another, ours, blocks=blocks)
    for coin in (one, other):
        assert payers(again, coin) == payers(paid, coin)


def test_what_a_lost_fee_coin_was_offered_for_counts_when_it_is_back() -> None:
    side = payer(coins=3)
    side.in_all = 2 * MOST
    one, other = money(side.chain, 1000, 1001, key=OWNER)
    ours, another = (spent(side.chain, coin, coin.amount) for coin in (one, other))
    all_coins = side.coins
    side.block(ours)
    (push,) = side.block(ours, blocks=DEADLINE)
    (first,) = payers([push], one)
    assert fee_in(push.bundle) == MOST
    side.coins = tuple(coin for coin in all_coins if coin != first)
    (push,) = side.block(ours)
    assert payers([push], one) != {first}
    assert fee_in(push.bundle) == MOST, "a fee must not be missing because of a reorganisation"
    side.coins = all_coins
    pushes = side.block(ours, another)
    assert [fee_in(push.bundle) for push in pushes] == [MOST, 0]


def test_a_split_that_a_reorganisation_takes_back_counts_while_its_coin_is_unspent() -> None:
    """It has no locks: anybody who has it can bring it in at any time."""
    side = payer(coins=1)
    side.ready = 2
    (split,) = side.block()
    (divided,) = side.coins
    side.ready, side.in_all = 0, fee_in(split.bundle) + MOST // 2
    (payment,) = money(side.chain, 3 * MOST, key=FEES)
    (coin,) = money(side.chain, 1000, key=OWNER)
    side.coins = (payment,)
    for _ in range(2):
        side.block()
    side.coins = (divided, payment)
    for _ in range(8):
        side.block()
    ours = spent(side.chain, coin, coin.amount)
    side.block(ours)
    (push,) = side.block(ours, blocks=DEADLINE)
    assert payers([push], coin) == {payment}
    assert fee_in(push.bundle) == MOST // 2


@given(st.integers(LEAST_RAISE, 3 * MOST), st.integers(1, 12), st.integers(1, 9))
def test_splits_end_once_enough_coins_are_ready(largest: int, count: int, ready: int) -> None:
    """Each makes at least one more ready, however many coins of about the same amount there are."""
    amounts = range(largest, largest - count, -1)
    chain = SimulatedChain(1)
    coins = {Coin(sha256(b"%d" % amount).digest(), address_of(FEES), amount) for amount in amounts}
    side = Payer(chain, (), FeeState(rate=1), chain.peak(), ready=ready)
    for _ in range(ready + 1):
        side.coins = tuple(sorted(coins, key=lambda coin: coin.amount))
        pushes = side.block()
        if not pushes:
            return
        (spend,) = pushes[0].bundle.spends
        coins.remove(spend.coin)
        made = created_coins(spend.solution)
        coins |= {Coin(spend.coin.id, address, amount) for address, amount in made}
    pytest.fail(f"more than {ready} splits")


def two_paid(side: Payer, own: Bundle) -> tuple[Push, Coin, Coin, Coin]:
    """The push of a spend at the maximum, its two fee coins, and one that pays for nothing."""
    small, large, spare = money(side.chain, 5 * LEAST_RAISE, 2 * MOST, 2 * MOST + 1, key=FEES)
    side.coins = (small,)
    for blocks in (1, DEADLINE):
        (push,) = side.block(own, blocks=blocks)
    assert fee_in(push.bundle) == small.amount
    side.coins = (small, large, spare)
    for _ in range(2):
        (push,) = side.block(own)
    assert payers([push], own.spends[0].coin) == {small, large}
    assert fee_in(push.bundle) == MOST
    return push, small, large, spare


@pytest.mark.parametrize("away", [0, 1, 4])
def test_two_coins_pay_again_for_what_a_reorganisation_takes_back_and_count_once(away: int) -> None:
    side = payer()
    one, other = money(side.chain, 1000, 1001, key=OWNER)
    ours, another = (spent(side.chain, coin, coin.amount) for coin in (one, other))
    _, small, large, spare = two_paid(side, ours)
    side.in_all = 2 * MOST
    for _ in range(away):
        side.coins = (spare,)
        pushes = side.block(another)
        assert payers(pushes, other) == {spare}
    side.coins = (small, large, spare)
    for _ in range(3):
        pushes = side.block(ours, another)
        assert payers(pushes, one) == {small, large}
        assert payers(pushes, other) == {spare}
    assert [fee_in(push.bundle) for push in pushes] == [MOST, MOST]


def test_if_one_of_two_coins_is_lost_the_other_one_pays() -> None:
    """Another one beside it could double the fee."""
    side = payer()
    (one,) = money(side.chain, 1000, key=OWNER)
    ours = spent(side.chain, one, 1000)
    _, small, large, spare = two_paid(side, ours)
    side.coins = (large, spare)
    (push,) = side.block(ours)
    assert payers([push], one) == {large}
    side.coins = (spare,)
    side.block()
    side.coins = (small, large, spare)
    (push,) = side.block(ours)
    assert payers([push], one) <= {small, large}


@pytest.mark.parametrize("doubled", [True, False])
def test_a_pin_with_little_from_the_first_of_two_coins_is_replaced_at_the_maximum(
    doubled: bool,
) -> None:
    """All payments are known: somebody could take the largest of the first coin's, whatever ours
    in the pin is. If we would not make it like that any more, it stays in the pin.
    """
    side = payer()
    chain, data = side.chain, side.chain.agg_sig_data()
    (one,), thief = money(chain, 1000, key=OWNER), money(chain, 3 * MOST, key=THIEF)[0]
    ours = spent(chain, one, 1000)
    small, large = money(chain, 12 * LEAST_RAISE, 2 * MOST, key=FEES)
    side.coins = (small,)
    (push,) = side.block(ours)
    assert payers([push], one) == {small}
    early = push.bundle
    assert 0 < fee_in(early) < 2 * LEAST_RAISE
    if not doubled:
        made = [condition(52, int_to_atom(LEAST_RAISE)), condition(64, one.id)]
        made.append(condition(51, small.puzzle_hash, int_to_atom(small.amount - LEAST_RAISE)))
        early = joined(ours, signed_spend(FEES, small, to_list(made), data))
    pin = joined(early, spent(chain, thief, 3 * MOST - 2 * LEAST_RAISE))
    assert chain.push(pin).answer is Answer.ACCEPTED
    side.block(ours, blocks=DEADLINE)
    side.coins = (small, large)
    for _ in range(3):
        (push,) = side.block(ours)
    assert payers([push], one) == {small, large}
    offered(side, push)
    (pending,) = chain.pending(one.id)
    paid = {spend.coin: reserved_fee(spend.solution) for spend in pending.bundle.spends}
    assert paid[small] == (small.amount if doubled else LEAST_RAISE)
    assert small.amount + paid[large] == MOST
    assert side.state.offers[0].most == MOST
