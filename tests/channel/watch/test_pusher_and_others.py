"""Fees of a watcher beside others: pins, the owner's spends, and a thief of the key."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from channelsim.channel.chain.coins import (
    REMARK,
    Bundle,
    Coin,
    Spend,
    condition,
    joined,
    signed_spend,
)
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import PendingBundle
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.fees.payment import payment
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import wallet_key
from channelsim.channel.watch.pusher import SpendIsDropped
from channelsim.channel.watch.watch_data import read_watch_data
from channelsim.channel.watch.watcher import Step
from channelsim.clsp.values import int_to_atom, to_list
from tests.channel.disputes import farm, hear, received, settle, settled, sound
from tests.channel.on_chain import Unroll, restored_state, reward, take
from tests.channel.table import ANN, BEN, TIMEOUT
from tests.channel.watch.test_watch import Watched, in_a_hand, newest_balance, replace_solution
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
