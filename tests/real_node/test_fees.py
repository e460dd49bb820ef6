"""The fee logic of a peer against the genuine mempool: raises, pins, dropped bytes, fee coins.

Blocks that take nothing of the mempool let a spend wait there for as long as a test wants.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from secrets import token_bytes

import pytest

from channelsim.channel.adversaries.pins import MOST_COST, pinned
from channelsim.channel.chain.coins import Bundle, Coin, joined
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.padding import padded_spend
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.fees.payment import payment
from channelsim.channel.peer.interface import FeeLimits, FeeTooLow, GoOnChain, SpendDropped
from channelsim.channel.protocol.wallet import address_of, wallet_key
from tests.channel.chain.mempool_rows import RICH
from tests.channel.disputes import farm, hear, publish_old, received, settle, sound
from tests.channel.peer.fees import MOST, paid, paying
from tests.channel.session.test_two_games import decider
from tests.channel.session.test_two_games import wish as any_wish
from tests.channel.table import ANN, BEN, Table
from tests.real_node.chain import RealChain
from tests.real_node.test_endings import sit_on
from tests.real_node.test_mempool_table import Genuine


@dataclass
class Payer:
    """A side that pays fees for the spend of one coin, and what the genuine node says of it."""

    chain: RealChain
    table: Table
    index: int
    fees: Fees
    coin: Coin

    def wait(self, blocks: int = 1) -> None:
        """Let blocks come that take nothing of the mempool; the side hears of each."""
        for _ in range(blocks):
            self.chain.farm_without()
            hear(self.table)

    @property
    def pushed(self) -> list[tuple[Bundle, Answer]]:
        """What the side has pushed with this coin's spend, and the node's answers."""
        return [
            (bundle, result.answer)
            for _, bundle, result in self.table.ends[self.index].pushed
            if self.coin in [spend.coin for spend in bundle.spends]
        ]

    @property
    def offered(self) -> list[int]:
        """The fees of what it has pushed, each once."""
        return list(dict.fromkeys(paid(bundle, self.fees) for bundle, _ in self.pushed))

    @property
    def pending(self) -> PendingBundle:
        """The one bundle that the node has with the spend."""
        (pending,) = self.chain.pending(self.coin.id)
        return pending

    def with_fee(self, fee: int) -> Bundle:
        """What is pending, with another fee of the side's."""
        *spends, own = self.pending.bundle.spends
        newest = self.table.ends[self.index].peer.state.fees.offer(self.coin.id)
        assert newest is not None
        assert newest.coin == own.coin
        rest = newest.push.bundle
        assert {*rest.spends} == {*spends}
        data = self.chain.agg_sig_data()
        return joined(rest, payment(self.fees.wallet.key, own.coin, fee, rest, data, spare=True))

    def is_mined(self) -> bool:
        """True if a block with transactions takes the spend."""
        farm(self.table)
        seen = self.chain.coin(self.coin.id)
        return seen is not None and seen.spent is not None


def in_a_hand(chain: RealChain, seed: str, messages: int) -> Table:
    table = sit_on(chain, seed).open().propose(ANN)
    while len(table.sent) < messages and table.step():
        pass
    return table


def leaving(chain: RealChain, seed: str, rate: int, most: int = MOST) -> Payer:
    """A side that has gone on chain, and pays this rate for its unroll at first."""
    table = in_a_hand(chain, seed, 16)
    fees = paying(table, BEN, most, 20 * most, rate=rate)
    farm(table)
    table.command(BEN, GoOnChain())
    return Payer(chain, table, BEN, fees, table.channel.coin)


def preempting(chain: RealChain, seed: str, rate: int) -> Payer:
    """A side that has preempted a stale state, and pays this rate at first."""
    table = in_a_hand(chain, seed, 10_000)
    fees = paying(table, BEN, rate=rate)
    farm(table)
    publish_old(table, ANN, received(table, ANN)[0])
    farm(table)
    bundle = next(bundle for name, bundle, _ in table.ends[BEN].pushed[::-1] if "preempt" in name)
    return Payer(chain, table, BEN, fees, bundle.spends[0].coin)


def raises_are_taken(fees: list[int]) -> None:
    steps = [after - before for before, after in pairwise(fees)]
    assert len(steps) >= 3, fees
    assert all(step >= LEAST_RAISE for step in steps), fees


# --- raises --------------------------------------------------------------------------------------


def test_a_raise_is_taken_and_a_smaller_step_is_refused_and_never_sent(chain: RealChain) -> None:
    payer = leaving(chain, "raise", rate=1)
    for _ in range(4):
        assert payer.pushed[-1][1] is Answer.ACCEPTED
        assert payer.pending.bundle == payer.pushed[-1][0]
        assert payer.pending.fee == payer.offered[-1]
        payer.wait()
    raises_are_taken(payer.offered)
    # What was replaced is not taken again.
    assert chain.push(payer.pushed[0][0]).answer in (Answer.KNOWN, Answer.PENDING_CONFLICT)
    # The steps at the border of the rule, in the place of what we offer now.
    fee = payer.pending.fee
    small = chain.push(payer.with_fee(fee + LEAST_RAISE - 1))
    assert small.answer is Answer.PENDING_CONFLICT
    assert payer.pending.fee == fee
    assert chain.push(payer.with_fee(fee + LEAST_RAISE)).answer is Answer.ACCEPTED
    assert payer.pending.fee == fee + LEAST_RAISE
    assert payer.is_mined()


def test_a_maximum_just_below_the_next_step_is_not_bid(chain: RealChain) -> None:
    payer = leaving(chain, "limit", rate=1)
    payer.wait(2)
    fee = payer.offered[-1]
    payer.table.handle(BEN, FeeLimits(fee + LEAST_RAISE - 1, None))
    payer.wait(4)
    assert (payer.offered[-1], payer.pending.fee) == (fee, fee)
    assert {answer for _, answer in payer.pushed} == {Answer.ACCEPTED}
    assert payer.table.ends[BEN].news_of(FeeTooLow) == [FeeTooLow("unroll", fee)]
    payer.table.handle(BEN, FeeLimits(fee + LEAST_RAISE, None))
    payer.wait()
    assert payer.pending.fee == fee + LEAST_RAISE
    assert payer.is_mined()


# --- pins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0, 1])
def test_a_pin_is_replaced(chain: RealChain, rate: int) -> None:
    """The thief takes our preemption with its payment into a costly bundle; we extend that."""
    key = wallet_key(token_bytes(32), "thief")
    coin = chain.give(address_of(key), 100 * LEAST_RAISE)
    payer = preempting(chain, f"pin {rate}", rate)
    pin = pinned(payer.pending, key, coin, 300_000_000, chain.agg_sig_data())
    assert pin is not None
    assert chain.push(pin).answer is Answer.ACCEPTED
    assert payer.pending.bundle == pin
    payer.wait(5)
    answers = {answer for _, answer in payer.pushed}
    assert Answer.PENDING_CONFLICT in answers, "it was pinned"
    assert coin in [spend.coin for spend in payer.pending.bundle.spends], "it contains all of it"
    unpins = [bundle for name, bundle, _ in payer.table.ends[BEN].pushed if name == "unpin"]
    assert [payer.pending.bundle] == unpins[-1:]
    raises_are_taken(list(dict.fromkeys(paid(bundle, payer.fees) for bundle in unpins)))
    assert payer.is_mined()


# --- dropped bytes -------------------------------------------------------------------------------


def test_evicted_bytes_are_refused_as_known_and_offered_in_others(chain: RealChain) -> None:
    key = wallet_key(token_bytes(32), "others")
    coins = Genuine(chain).coins([(address_of(key), RICH + number) for number in range(15)])
    payer = leaving(chain, "evicted", rate=1)
    (first, answer) = payer.pushed[-1]
    assert answer is Answer.ACCEPTED
    own_cost = payer.pending.cost
    # Others pay more: they fill the room that is left, and then half of ours.
    data = chain.agg_sig_data()
    for coin in coins:
        cost = min(chain.room() + own_cost // 2, MOST_COST)
        assert chain.push(padded_spend(key, coin, 7 * cost, cost, data)).answer is Answer.ACCEPTED
        if cost < MOST_COST:
            break
    assert chain.pending(payer.coin.id) == []
    assert chain.push(first).answer is Answer.KNOWN
    hear(payer.table)
    assert (first, Answer.KNOWN) in payer.pushed
    assert payer.pending.bundle != first
    assert payer.pending.fee > 7 * payer.pending.cost
    assert not payer.table.ends[BEN].news_of(SpendDropped)
    assert payer.is_mined()


# --- fee coins -----------------------------------------------------------------------------------


def test_each_spend_has_a_fee_coin_of_its_own_split_off_beforehand(chain: RealChain) -> None:
    table = sit_on(chain, "several").open()
    table.propose(ANN, any_wish("spacepoker"), any_wish("calpoker"), any_wish("spacepoker"))
    for _ in range(14):
        table.step(decider("a"), decider("b"))
    fees = paying(table, ANN, rate=1)
    address = fees.wallet.coin.puzzle_hash
    farm(table)
    assert len(chain.coins_at(address)) >= 5
    table.command(ANN, GoOnChain())
    settle(table, decider("a"), decider("b"), limit=400)
    sound(table)
    accepted = [
        bundle
        for _, bundle, result in table.ends[ANN].pushed
        if result.answer is Answer.ACCEPTED and paid(bundle, fees)
    ]
    payers: dict[Coin, set[Coin]] = {}
    for bundle in accepted:
        own = [spend.coin for spend in bundle.spends if spend.coin.puzzle_hash == address]
        others = {spend.coin for spend in bundle.spends} - {*own}
        assert len(own) == 1
        if others:
            payers.setdefault(own[0], set()).update(others)
    assert len(payers) > 3
    assert all(len(coins) == 1 for coins in payers.values()), "each coin pays for one spend"
