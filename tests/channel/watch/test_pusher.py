"""Fees of a watcher: what its coins pay, and when they are raised."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from channelsim.channel.chain.coins import REMARK, Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.constants import LEAST_BLOCK_COST
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.chain.refusals import INVALID_BUNDLE, UNKNOWN_UNSPENT
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.protocol.wallet import wallet_key
from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    SpendIsDropped,
    StakeTooSmall,
)
from channelsim.channel.watch.watcher import Step
from channelsim.clsp.values import to_list
from tests.channel.disputes import hear, leave, publish_old, received, settle, settled, sound
from tests.channel.on_chain import reward, take
from tests.channel.table import ANN, BALANCE, BEN, CONFIRMATIONS, TIMEOUT, sit
from tests.channel.watch.test_watch import in_a_hand
from tests.channel.watch.test_watch import watched as writing
from tests.channel.watch.towers import (
    ADDRESS,
    COIN,
    KEY,
    MOST,
    WAIT,
    Tower,
    drop,
    left,
    money,
    preempting,
    stale,
    without_room,
)

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


@pytest.mark.parametrize("error", [INVALID_BUNDLE, UNKNOWN_UNSPENT])
def test_a_busy_node_is_asked_again_at_the_next_look_and_not_without_the_fee(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    """A spend that is offered without its fee coin can be pinned with no room for it."""
    tower = stale(tmp_path)
    chain, offers = tower.chain, []
    push = chain.push

    def busy(bundle: Bundle) -> PushResult:
        offers.append(bundle)
        return PushResult(Answer.REFUSED, error) if len(offers) < 3 else push(bundle)

    monkeypatch.setattr(chain, "push", busy)
    for _ in range(3):
        offered = tower.look()
    assert offered is not None
    assert offered.result.answer is Answer.ACCEPTED
    assert len(offers) == 3
    assert all(ADDRESS in {spend.coin.puzzle_hash for spend in one.spends} for one in offers)


@pytest.mark.parametrize("error", [INVALID_BUNDLE, UNKNOWN_UNSPENT])
def test_a_spend_that_no_node_takes_with_its_fee_coin_is_offered_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: str
) -> None:
    """Not before the blocks of a reorganisation, in which a node may know the coin again."""
    tower = stale(tmp_path)
    push = tower.chain.push

    def unknowing(bundle: Bundle) -> PushResult:
        if ADDRESS in {spend.coin.puzzle_hash for spend in bundle.spends}:
            return PushResult(Answer.REFUSED, error)
        return push(bundle)

    monkeypatch.setattr(tower.chain, "push", unknowing)
    is_pending = []
    for _ in range(CONFIRMATIONS + 2):
        assert tower.look() is not None
        is_pending.append(bool(tower.pending()))
        without_room(tower.chain)
    assert is_pending == [False] * (CONFIRMATIONS + 1) + [True]


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
    """The node that lists coins may be behind, or the thief of the key may have been faster.

    One that does not know the coin is asked again, for some blocks: alone, a spend can be pinned.
    """
    tower = stale(tmp_path)
    monkeypatch.setattr(tower.chain, "fee_rate", lambda: 2)
    gone = Coin(bytes(32), ADDRESS, 3 * COIN)
    if spent:
        (gone,) = money(tower.chain, COIN)
        stolen = signed_spend(KEY, gone, to_list([]), tower.chain.agg_sig_data())
        take(tower.ours.table, stolen)
    monkeypatch.setattr(tower.chain, "coins_at", lambda _: [CoinSeen(gone, 1, None)])
    offered = tower.look()
    for _ in range(0 if spent else tower.data.channel.confirmations + 1):
        assert offered is not None
        if offered.result.answer is Answer.ACCEPTED:
            break
        tower.chain.farm()
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
