"""Fees of a watcher: what its coins pay, when they are raised, and what they never do."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from chia_rs import PrivateKey

from channelsim.channel.chain.coins import (
    REMARK,
    Bundle,
    Coin,
    Spend,
    condition,
    joined,
    signed_spend,
)
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import CoinSeen, PendingBundle
from channelsim.channel.chain.refusals import INVALID_BUNDLE
from channelsim.channel.chain.simulator import LEAST_BLOCK_COST, NodeSettings, SimulatedChain
from channelsim.channel.chain.validation import name_of_bundle
from channelsim.channel.peer.fees.payment import payment
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    Offered,
    Pusher,
    SpendIsDropped,
    StakeTooSmall,
)
from channelsim.channel.watch.watch_data import read_watch_data
from channelsim.channel.watch.watcher import Sight, Step, Watcher
from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import to_list
from tests.channel.disputes import farm, hear, leave, publish_old, received, settle, settled, sound
from tests.channel.on_chain import Unroll, restored_state, reward, take
from tests.channel.table import ANN, BALANCE, BEN, TIMEOUT, sit
from tests.channel.watch.test_watch import Watched, in_a_hand, newest_balance, replace_solution
from tests.channel.watch.test_watch import watched as writing

KEY = wallet_key(b"tower", "fees")
ADDRESS = address_of(KEY)
MOST = 100 * LEAST_RAISE
COIN = 2 * MOST
WAIT = 2


def money(chain: SimulatedChain, *amounts: int, key: PrivateKey = KEY) -> list[Coin]:
    """Coins of exactly these amounts at a key's address."""
    address = address_of(key)
    coin = chain.give(address, sum(amounts))
    outputs = [(address, amount) for amount in amounts]
    made = [condition(51, *(place, int_to_atom(amount))) for place, amount in outputs]
    rest = condition(51, bytes(32), int_to_atom(coin.amount - sum(amounts)))
    spend = signed_spend(key, coin, to_list([*made, rest]), chain.agg_sig_data())
    assert chain.push(spend).answer is Answer.ACCEPTED
    chain.farm()
    return [Coin(coin.id, *output) for output in outputs]


def left(chain: SimulatedChain) -> int:
    """The money at the address of the fee key."""
    return sum(seen.coin.amount for seen in chain.coins_at(ADDRESS))


def without_room(chain: SimulatedChain, blocks: int = 1) -> None:
    """Blocks that have no room for what is pending."""
    for _ in range(blocks):
        chain.ledger.add_empty(1)
        chain.mempool.add_block(chain.ledger.tip, ())


@dataclass
class Tower:
    """A watcher's process with fees, and what it was answered."""

    ours: Watched
    most: int | None = MOST
    keys: tuple[PrivateKey, ...] = (KEY,)
    pusher: Pusher = field(init=False)
    chain: SimulatedChain = field(init=False)
    notices: list[Notice] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chain = self.ours.table.chain
        self.restart()

    def restart(self) -> None:
        """Begin anew, with nothing but the files."""
        self.data = self.ours.copied()
        self.pusher = Pusher(self.data.channel, self.keys, self.most)

    def look(self, chain: SimulatedChain | None = None) -> Offered | None:
        watcher = Watcher(self.data, WAIT)
        offered = self.pusher.push(chain or self.chain, watcher, watcher.look(self.chain))
        self.notices += [one for one in self.pusher.notices if one not in self.notices]
        return offered

    def sight(self) -> Sight:
        return Watcher(self.data, WAIT).look(self.chain)

    def pending(self) -> list[PendingBundle]:
        spend = self.sight().spend
        assert spend is not None
        return self.chain.pending(spend.spends[0].coin.id)

    def fee(self) -> int:
        """The highest fee of the pending bundles with our spend.

        There are several of a timeout form, which needs no signature.
        """
        return max(pending.fee for pending in self.pending())


def stale(folder: Path, *, most: int | None = MOST, coins: Sequence[int] = (COIN,)) -> Tower:
    """A tower, whose watcher has to preempt from now on; the owner's peer is dead."""
    ours = in_a_hand(folder, messages=12)
    if coins:
        money(ours.table.chain, *coins)
    return preempting(Tower(ours, most))


def preempting(tower: Tower) -> Tower:
    """Let the counterparty publish a stale state, and wait until a preemption is due."""
    table = tower.ours.table
    table.mail.clear()
    publish_old(table, BEN, received(table, BEN)[0])
    table.chain.farm(1 + WAIT)
    assert (tower.sight().step, tower.sight().peak) == (Step.STALE, tower.sight().due)
    return tower


# --- the fee of a spend --------------------------------------------------------------------------


def test_a_preemption_is_raised_until_it_is_in_and_the_owner_pays_nothing(tmp_path: Path) -> None:
    tower = stale(tmp_path)
    table = tower.ours.table
    fees = []
    deadline = tower.sight().latest
    assert deadline is not None
    while table.chain.peak() < deadline:
        offered = tower.look()
        assert offered is not None
        assert offered.result.answer is Answer.ACCEPTED
        fees.append(tower.fee())
        assert offered.fee == fees[-1]
        assert tower.look() == offered, "a raise for each block, not for each look"
        assert tower.fee() == fees[-1]
        without_room(table.chain)
    assert fees[0] == 0, "the node's estimate"
    assert all(after == before or after >= before + LEAST_RAISE for before, after in pairwise(fees))
    assert fees[-1] == MOST
    assert max(fees[: len(fees) // 2]) < MOST, "it rises by steps"
    assert tower.notices == [FeeAtMaximum(MOST, coin_is_small=False)]
    table.chain.farm()
    assert tower.look() is None
    assert left(table.chain) == COIN - MOST
    hear(table)
    settle(table)
    sound(table)
    assert settled(table.ends[ANN]).number == tower.data.newest.state.number


def test_a_fee_begins_with_the_estimate_of_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tower = stale(tmp_path)
    monkeypatch.setattr(tower.chain, "fee_rate", lambda: 2)
    assert tower.look() is not None
    (pending,) = tower.pending()
    assert pending.fee == 2 * pending.cost


def test_a_timeout_form_costs_less_than_it_brings(tmp_path: Path) -> None:
    """It has no deadline, so that its fee rises late, and stays below what it pays the owner."""
    stakes = (3 * LEAST_RAISE, 3 * LEAST_RAISE)
    ours = writing(tmp_path, sit("small stakes", contributions=stakes).open())
    table = ours.table
    money(table.chain, COIN)
    tower = Tower(ours)
    leave(table, ANN)
    table.chain.farm(1 + TIMEOUT)
    fees = []
    for _ in range(40):
        assert tower.look() is not None
        fees.append(tower.fee())
        without_room(table.chain)
    assert fees[:3] == [0, 0, 0]
    assert fees[-1] == 3 * LEAST_RAISE - 1
    table.chain.farm()
    assert tower.look() is None
    assert left(table.chain) == COIN - fees[-1]
    assert reward(table, ANN) == stakes[ANN]


def test_by_default_a_hundredth_of_the_stake_is_the_most(tmp_path: Path) -> None:
    each = 50 * 20 * LEAST_RAISE
    ours = writing(tmp_path, sit("large stakes", contributions=(each, each)).open().propose(ANN))
    table = ours.table
    while len(table.sent) < 12:
        assert table.step()
    money(table.chain, COIN)
    tower = preempting(Tower(ours, most=None))
    for _ in range(TIMEOUT - WAIT - 1):
        assert tower.look() is not None
        without_room(table.chain)
    assert tower.fee() == 2 * each // 100 == 20 * LEAST_RAISE


def test_a_crowd_that_fills_blocks_and_the_mempool_is_outbid(tmp_path: Path) -> None:
    """With its fee coin the watcher is in before the timeout; without one it is not."""
    rate, each = 10, LEAST_BLOCK_COST // 2 - 10_000_000
    small = NodeSettings(block_cost=LEAST_BLOCK_COST, pool_cost=2 * LEAST_BLOCK_COST)
    confirmed = {}
    for keys in ((), (KEY,)):
        chain = SimulatedChain(7, small)
        table = sit("crowd", chain=chain).open().propose(ANN)
        ours = writing(tmp_path / f"{len(keys)}", table)
        while len(table.sent) < 12:
            assert table.step()
        money(chain, 100 * LEAST_RAISE)
        others = wallet_key(b"crowd", "coins")
        amounts = [rate * each + number for number in range(1, 21)]
        crowd = [coin for _ in range(3) for coin in money(chain, *amounts, key=others)]
        tower = preempting(Tower(ours, 100 * LEAST_RAISE, keys))
        deadline = tower.sight().latest
        assert deadline is not None
        while chain.peak() < deadline and tower.sight().step is Step.STALE:
            while crowd and len(chain.mempool) < 4:
                padding = condition(REMARK, bytes([len(crowd)]) * (each // 12_010))
                spend = signed_spend(others, crowd.pop(), to_list([padding]), chain.agg_sig_data())
                assert chain.push(spend).benign
            tower.look()
            chain.farm()
        confirmed[keys] = tower.sight().step is Step.PAID
        answers = [len(crowd), tower.notices]
        assert crowd, answers
    assert confirmed == {(): False, (KEY,): True}


# --- a restart -----------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [1, 4, 7])
def test_a_restart_goes_on_with_the_fee_for_the_age_of_the_spend(
    tmp_path: Path, blocks: int
) -> None:
    """It has no memory: what is pending shows what to exceed, the age what the fee should be."""
    tower = stale(tmp_path, coins=(COIN, COIN + 1))
    other = Tower(tower.ours)
    fees = []
    for _ in range(blocks):
        tower.look()
        without_room(tower.chain)
    for _ in range(4):
        before = tower.pending()
        assert other.look() is not None
        (pending,) = tower.pending()
        fees.append(pending.fee)
        assert pending.fee >= before[0].fee
        spent = {spend.coin for spend in pending.bundle.spends if spend.coin.puzzle_hash == ADDRESS}
        assert len(spent) <= 1, "one coin of ours, for one fee"
        other.restart()
        without_room(tower.chain)
    assert fees == sorted(set(fees)) or fees[-1] == MOST
    tower.chain.farm()
    assert left(tower.chain) == 2 * COIN + 1 - fees[-1] >= 2 * COIN + 1 - MOST


def test_a_restart_goes_on_with_the_coin_that_pays_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one that would do as well must not pay once more."""
    tower = stale(tmp_path, coins=(COIN, 2 * COIN))
    with monkeypatch.context() as patched:
        large = [seen for seen in tower.chain.coins_at(ADDRESS) if seen.coin.amount == 2 * COIN]
        patched.setattr(tower.chain, "coins_at", lambda _: large)
        without_room(tower.chain, 3)
        assert tower.look() is not None
    assert 0 < tower.fee() < MOST
    for _ in range(TIMEOUT):
        tower.restart()
        assert tower.look() is not None
        without_room(tower.chain)
    (pending,) = tower.pending()
    paying = [spend.coin for spend in pending.bundle.spends if spend.coin.puzzle_hash == ADDRESS]
    assert (paying, pending.fee) == ([large[0].coin], MOST)


def test_a_restart_goes_on_with_both_coins_that_pay_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A higher maximum needs a second coin; with a third one, a fee could be paid twice."""
    small = 3 * LEAST_RAISE
    tower = stale(tmp_path, most=small, coins=(small, COIN + 1, COIN))
    there = tower.chain.coins_at(ADDRESS)
    with monkeypatch.context() as patched:
        two = [seen for seen in there if seen.coin.amount != COIN]
        patched.setattr(tower.chain, "coins_at", lambda _: two)
        without_room(tower.chain, 6)
        assert tower.look() is not None
        assert tower.fee() == small
        tower.most = MOST
        for _ in range(2):
            tower.restart()
            without_room(tower.chain)
            assert tower.look() is not None
    fees = []
    for _ in range(3):
        tower.restart()
        assert tower.look() is not None
        (pending,) = tower.pending()
        fees.append(pending.fee)
        paying = {
            spend.coin.amount
            for spend in pending.bundle.spends
            if spend.coin.puzzle_hash == ADDRESS
        }
        assert paying == {small, COIN + 1}
        without_room(tower.chain)
    assert fees == sorted(fees)
    assert fees[-1] == MOST


# --- pins and dropped bytes ----------------------------------------------------------------------


def pinned(tower: Tower, fee: int) -> Bundle:
    """Let the counterparty take what is pending of ours into a costly bundle of low rate."""
    thief = wallet_key(b"thief", "coins")
    (coin,) = money(tower.chain, 10 * fee, key=thief)
    preempting(tower)
    tower.look()
    (pending,) = tower.pending()
    padding = condition(REMARK, bytes(20_000))
    change = condition(51, coin.puzzle_hash, int_to_atom(coin.amount - fee))
    own = signed_spend(thief, coin, to_list([padding, change]), tower.chain.agg_sig_data())
    pin = joined(pending.bundle, own)
    assert tower.chain.push(pin).answer is Answer.ACCEPTED
    assert [one.bundle for one in tower.pending()] == [pin]
    return pin


@pytest.mark.parametrize("restarts", [False, True])
def test_a_pin_is_joined_and_paid_for(tmp_path: Path, restarts: bool) -> None:
    ours = in_a_hand(tmp_path, messages=12)
    money(ours.table.chain, COIN)
    tower = Tower(ours)
    pin = pinned(tower, LEAST_RAISE)
    for _ in range(3):
        without_room(tower.chain)
        if restarts:
            tower.restart()
        offered = tower.look()
        assert offered is not None
        (pending,) = tower.pending()
        assert offered.result.answer is Answer.ACCEPTED
        assert tower.look() == offered
        assert tower.pending() == [pending], "a raise for each block, not for each look"
    assert pending.fee > LEAST_RAISE
    coins = [spend.coin for spend in pending.bundle.spends]
    assert {spend.coin for spend in pin.spends} <= set(coins)
    assert len(coins) == len(pin.spends), "a higher fee in the place of the last one"
    tower.chain.farm()
    assert tower.sight().step is Step.PAID
    assert COIN - MOST <= left(tower.chain) < COIN


def test_a_busy_node_is_asked_again_at_the_next_look_and_not_without_the_fee(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spend that is offered without its fee coin can be pinned with no room for it."""
    tower = stale(tmp_path)
    chain, offers = tower.chain, []
    push = chain.push

    def busy(bundle: Bundle) -> PushResult:
        offers.append(bundle)
        return PushResult(Answer.REFUSED, INVALID_BUNDLE) if len(offers) < 3 else push(bundle)

    monkeypatch.setattr(chain, "push", busy)
    for _ in range(3):
        offered = tower.look()
    assert offered is not None
    assert offered.result.answer is Answer.ACCEPTED
    assert len(offers) == 3
    assert all(ADDRESS in {spend.coin.puzzle_hash for spend in one.spends} for one in offers)


def test_what_the_node_has_dropped_is_offered_in_other_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a fee it cannot be, and the user hears of it."""
    tower = stale(tmp_path)
    plain = Tower(tower.ours, keys=())
    spend = tower.sight().spend
    assert spend is not None
    drop(tower.chain, spend)
    offered = plain.look()
    assert offered is not None
    assert offered.result.answer is Answer.KNOWN
    assert plain.notices == [SpendIsDropped()]
    pushed = []

    def push(bundle: Bundle) -> PushResult:
        pushed.append(bundle)
        if len(pushed) <= 2:
            drop(tower.chain, bundle)
        return SimulatedChain.push(tower.chain, bundle)

    monkeypatch.setattr(tower.chain, "push", push)
    offered = tower.look()
    assert offered is not None
    assert (offered.result.answer, tower.notices) == (Answer.ACCEPTED, [])
    assert tower.fee() == offered.fee > 0
    assert [one.bundle for one in tower.pending()] == pushed[2:]


def drop(chain: SimulatedChain, bundle: Bundle) -> None:
    """Let the node take these bytes no more, as after it has evicted them."""
    chain.mempool.remember(name_of_bundle(bundle))


# --- the owner and the watcher -------------------------------------------------------------------


def knowing_less(folder: Path) -> tuple[Tower, Bundle]:
    """A tower whose copy is old, and the preemption with the owner's newest state."""
    ours = in_a_hand(folder / "watch", messages=12)
    old = folder / "old"
    shutil.copytree(ours.folder, old)
    while len(ours.table.sent) < 19:
        assert ours.table.step()
    money(ours.table.chain, COIN)
    tower = preempting(Tower(Watched(ours.table, old)))
    spend = ours.look(WAIT).spend
    assert spend is not None
    assert spend != tower.sight().spend
    return tower, spend


@pytest.mark.parametrize("case", ["no room", "restarts"])
def test_a_fee_never_drives_out_a_newer_state_of_the_owner_but_pays_for_it(
    tmp_path: Path, case: str
) -> None:
    """The owner comes back late and knows more than the copy; its spend has no fee."""
    tower, _ = knowing_less(tmp_path)
    table = tower.ours.table
    newest = table.ends[ANN].play.newest.state.number
    assert tower.data.newest.state.number < newest
    hear(table, (BEN,))
    (before,) = tower.pending()
    assert before.fee == 0
    for number in range(6):
        offered = tower.look()
        assert offered is not None
        assert offered.result.answer is Answer.ACCEPTED
        (pending,) = tower.pending()
        assert set(before.bundle.spends) <= set(pending.bundle.spends)
        without_room(table.chain)
        if case == "restarts" and number == 4:
            tower.restart()
    paid = pending.fee
    assert 0 < paid <= MOST
    farm(table)
    settle(table)
    sound(table)
    assert settled(table.ends[ANN]).number == newest
    assert left(table.chain) == COIN - paid


def test_data_that_are_copied_again_count_more_than_what_was_pending(tmp_path: Path) -> None:
    tower, newest = knowing_less(tmp_path)
    number = tower.data.newest.state.number + 2
    table = tower.ours.table
    state = restored_state(table, ANN, number)
    published = restored_state(table, BEN, received(table, BEN)[0])
    between = Unroll(table, published).preempt(state, ANN)
    assert between != newest
    assert tower.chain.push(between).answer is Answer.ACCEPTED
    assert tower.look() is not None
    tower.data = read_watch_data(tmp_path / "watch")
    assert tower.sight().spend == newest
    without_room(tower.chain, 3)
    assert tower.look() is not None
    (pending,) = tower.pending()
    assert set(newest.spends) <= set(pending.bundle.spends)
    assert pending.fee > 0


@pytest.mark.parametrize("lie", ["no conditions", "no signature", "no coin"])
def test_a_node_that_makes_up_a_newer_spend_keeps_ours_out_of_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lie: str
) -> None:
    """One of several nodes may lie about its mempool; the others take our spend."""
    tower, newer = knowing_less(tmp_path)
    (spend,) = newer.spends
    none = signed_spend(KEY, Coin(bytes(32), ADDRESS, 1), to_list([]), tower.chain.agg_sig_data())
    bundle = {
        "no conditions": Bundle((Spend(spend.coin, spend.puzzle, b"\x80"),), newer.signature),
        "no signature": Bundle(newer.spends, NO_SIGNATURE),
        "no coin": joined(none, newer),
    }[lie]
    unroll, pending = spend.coin.id, tower.chain.pending

    def lying(coin_id: bytes) -> list[PendingBundle]:
        made_up = [PendingBundle(bundle, 0, 10**7)] if coin_id == unroll else []
        return [*made_up, *pending(coin_id)]

    with monkeypatch.context() as patched:
        patched.setattr(tower.chain, "pending", lying)
        for _ in range(4):
            assert tower.look() is not None
            without_room(tower.chain)
    ours = tower.sight().spend
    assert ours is not None
    (taken,) = tower.pending()
    assert set(ours.spends) <= set(taken.bundle.spends)
    assert (taken.fee > 0) is (lie != "no coin")


def test_the_owner_and_the_watcher_do_not_keep_each_other_out(tmp_path: Path) -> None:
    """Both preempt with the same state: either spend is as good."""
    tower = stale(tmp_path)
    table = tower.ours.table
    assert tower.look() is not None
    without_room(table.chain)
    assert tower.look() is not None
    hear(table, (BEN,))
    farm(table)
    settle(table)
    sound(table)
    assert settled(table.ends[ANN]).number == tower.data.newest.state.number


# --- going on without fees -----------------------------------------------------------------------


def test_a_watcher_without_coins_pushes_without_a_fee_and_says_where_to_send_some(
    tmp_path: Path,
) -> None:
    tower = stale(tmp_path, coins=(LEAST_RAISE - 1,))
    offered = tower.look()
    assert offered is not None
    assert (offered.result.answer, offered.fee) == (Answer.ACCEPTED, 0)
    assert tower.notices == [NoFeeCoin(ADDRESS, LEAST_RAISE)]
    without_room(tower.chain, 3)
    money(tower.chain, COIN)
    assert tower.sight().step is Step.PAID, "the block with the money had room"


def test_coins_that_come_later_are_used(tmp_path: Path) -> None:
    ours = in_a_hand(tmp_path, messages=12)
    tower = Tower(ours)
    assert tower.look() is None
    assert tower.notices == [NoFeeCoin(ADDRESS, LEAST_RAISE)]
    money(tower.chain, COIN)
    assert tower.look() is None
    assert tower.pusher.notices == ()
    preempting(tower)
    without_room(tower.chain, 3)
    assert tower.look() is not None
    assert tower.fee() > 0


def test_a_small_coin_is_used_up_and_the_user_hears_of_it(tmp_path: Path) -> None:
    tower = stale(tmp_path, coins=(3 * LEAST_RAISE,))
    for _ in range(TIMEOUT - WAIT - 1):
        assert tower.look() is not None
        without_room(tower.chain)
    assert tower.fee() == 3 * LEAST_RAISE
    assert tower.notices == [FeeAtMaximum(3 * LEAST_RAISE, coin_is_small=True)]
    tower.chain.farm()
    assert tower.look() is None
    assert tower.pusher.notices == (NoFeeCoin(ADDRESS, LEAST_RAISE),)


@pytest.mark.parametrize("spent", [False, True])
def test_a_fee_coin_that_is_gone_keeps_nothing_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spent: bool
) -> None:
    """The node that lists coins may be behind, or the thief of the key may have been faster."""
    tower = stale(tmp_path)
    monkeypatch.setattr(tower.chain, "fee_rate", lambda: 2)
    gone = Coin(bytes(32), ADDRESS, 3 * COIN)
    if spent:
        (gone,) = money(tower.chain, COIN)
        stolen = signed_spend(KEY, gone, to_list([]), tower.chain.agg_sig_data())
        take(tower.ours.table, stolen)
    monkeypatch.setattr(tower.chain, "coins_at", lambda _: [CoinSeen(gone, 1, None)])
    offered = tower.look()
    assert offered is not None
    assert offered.result.answer is Answer.ACCEPTED
    assert tower.fee() == 0


def test_a_spend_that_is_due_does_not_wait_for_long_lists_of_coins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody can send many small coins to the address, which the chain shows."""
    tower = stale(tmp_path)
    assert tower.look() is not None
    listed = []

    def coins_at(address: bytes) -> list[CoinSeen]:
        listed.append(address)
        return SimulatedChain.coins_at(tower.chain, address)

    monkeypatch.setattr(tower.chain, "coins_at", coins_at)
    for _ in range(4):
        without_room(tower.chain)
        assert tower.look() is not None
    assert (listed, tower.fee() > 0) == ([], True)
    tower.chain.farm()
    assert tower.look() is None
    tower.chain.reorganise(1, 2, keep=False)
    assert tower.look() is not None
    assert listed == 2 * [ADDRESS], "once for each change"


@pytest.mark.parametrize("call", ["fee_rate", "coins_at", "pending"])
def test_a_node_that_does_not_answer_about_fees_stops_no_spend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fails(*_: object) -> int:
        raise NodeError("the node has no such call")

    tower = stale(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(tower.chain, call, fails)
        offered = tower.look()
        assert offered is not None
        assert offered.result.answer is Answer.ACCEPTED
    assert tower.notices == [FeesUnknown("the node has no such call")]
    tower.chain.farm()
    assert tower.sight().step is Step.PAID


@pytest.mark.parametrize(
    ("most", "notices"),
    [(0, []), (None, [StakeTooSmall(2 * BALANCE // 100)])],
    ids=["forbidden", "by default"],
)
def test_no_fee_is_paid_if_it_is_forbidden_or_the_stake_is_too_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int | None, notices: list[Notice]
) -> None:
    tower = stale(tmp_path, most=most)
    monkeypatch.setattr(tower.chain, "fee_rate", lambda: 1000)
    for _ in range(6):
        offered = tower.look()
        assert offered is not None
        assert (offered.result, offered.fee) == (PushResult(Answer.ACCEPTED), 0)
        without_room(tower.chain)
    assert tower.notices == notices
    tower.chain.farm()
    assert tower.look() is None
    tower.chain.reorganise(1, 2, keep=False)
    spend = tower.sight().spend
    assert spend is not None
    drop(tower.chain, spend)
    offered = tower.look()
    assert offered is not None
    assert (offered.result.answer, offered.fee) == (Answer.KNOWN, 0)
    assert tower.notices == [*notices, SpendIsDropped()]
    assert left(tower.chain) == COIN


def test_two_watchers_with_one_key_do_not_keep_each_other_out(tmp_path: Path) -> None:
    """Both would pay from the same coin, for different channels: one goes without a fee."""
    chain = SimulatedChain(7)
    towers = []
    for number, seed in enumerate(("first", "second")):
        table = sit(seed, chain=chain).open().propose(ANN)
        ours = writing(tmp_path / f"{number}", table)
        while len(table.sent) < 12:
            assert table.step()
        table.mail.clear()
        publish_old(table, BEN, received(table, BEN)[0])
        towers.append(Tower(ours))
    money(chain, COIN)
    chain.farm(WAIT + 2)
    for _ in range(6):
        for tower in towers:
            offered = tower.look()
            assert offered is not None
            assert offered.result.answer is Answer.ACCEPTED
            assert tower.pending()
        without_room(chain)
    chain.farm()
    assert [tower.sight().step for tower in towers] == [Step.PAID, Step.PAID]
    assert COIN - 2 * MOST <= left(chain) < COIN


# --- a thief -------------------------------------------------------------------------------------


def test_a_thief_of_the_fee_key_gets_its_coins_and_nothing_of_the_channel(tmp_path: Path) -> None:
    """The folder and the key are all that a watcher has: no spend of theirs moves other money."""
    ours = in_a_hand(tmp_path)
    table, data = ours.table, read_watch_data(tmp_path)
    chain, channel, signature = table.chain, table.channel, data.newest.signature
    coin, other, _ = money(chain, COIN, COIN + 1, COIN + 2)
    newest = restored_state(table, ANN, data.newest.state.number)
    unroll = Unroll(table, newest)

    def refused(*spends: Spend) -> None:
        for spend in spends:
            for signed in (signature, NO_SIGNATURE):
                bundle = Bundle((spend,), signed)
                # A node does not judge the same bytes twice.
                fee = MOST + chain.peak()
                paying = joined(bundle, payment(KEY, coin, fee, bundle, chain.agg_sig_data()))
                result = chain.push(paying)
                assert result.answer is Answer.REFUSED, result

    # The channel coin and, before its timeout, the unroll coin of the newest state.
    publication = unroll.publish(ANN)
    refused(*publication.spends)
    take(table, publication)
    refused(*(replace_solution(unroll, state.conditions) for state in data.states.values()))
    # Of a spend that is theirs to make, the outputs are fixed: a fee coin adds no other.
    (spend,) = unroll.time_out().spends
    to_thief = to_list([condition(51, ADDRESS, int_to_atom(channel.coin.amount))])
    stolen = signed_spend(KEY, spend.coin, to_thief, chain.agg_sig_data()).spends
    refused(*stolen)
    chain.farm(TIMEOUT)
    refused(*stolen)
    take(
        table,
        joined(
            unroll.time_out(), payment(KEY, coin, MOST, unroll.time_out(), channel.agg_sig_data)
        ),
    )
    assert reward(table, ANN) == newest_balance(table)
    # Rewards and wallets have other keys.
    for address in {table.ends[ANN].peer.config.reward_address, *data.channel.rewards}:
        for seen in chain.coins_at(address):
            refused(*signed_spend(KEY, seen.coin, to_list([]), chain.agg_sig_data()).spends)
    take(table, signed_spend(KEY, other, to_list([]), chain.agg_sig_data()))
    assert left(chain) == COIN + 2 + COIN - MOST


def test_the_folder_of_a_watcher_says_nothing_of_its_fee_key(tmp_path: Path) -> None:
    tower = stale(tmp_path)
    tower.look()
    for path in tmp_path.rglob("*"):
        assert bytes(KEY).hex().encode() not in path.read_bytes()
        assert ADDRESS.hex().encode() not in path.read_bytes()
