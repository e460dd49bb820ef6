"""Records are enough: every received state, restored from disk, is published on the real node.

States come from random hands, two games at once among them. A published state is timed out or
preempted, its coins are exactly the expected ones, and game coins can be claimed.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle, joined
from channelsim.channel.chain.interface import Answer
from channelsim.channel.crypto import bls
from channelsim.channel.peer.interface import ChannelOpen
from channelsim.channel.protocol.half_signed import preempt, publish, time_out, unroll_coin
from channelsim.channel.protocol.state import ChannelState
from channelsim.games.referee import GameCoin
from tests.channel.on_chain import (
    StoredState,
    Unroll,
    exists,
    games_of,
    received_states,
    refused,
    restored_state,
    reward,
    take,
)
from tests.channel.table import ANN, BALANCE, BEN, Cheat, Table, by_policy, sit, wish

SEEDS = ("one", "two")


def play(seed: str) -> Table:
    """A few random hands, the last group cut off in the middle."""
    table = sit(seed).open()
    decide = by_policy("random", seed), by_policy("aggressive", seed)
    table.propose(ANN).go_on(*decide)
    table.propose(BEN, wish(), wish(unit=50, alice=False))
    for _ in range(14):
        table.step(*decide)
    return table


def again(seed: str, index: int, number: int) -> tuple[Table, StoredState]:
    """The same session once more, on a node of its own, and one of its states."""
    table = play(seed)
    return table, restored_state(table, index, number)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("index", [ANN, BEN])
def test_any_received_state_can_be_published_and_timed_out(seed: str, index: int) -> None:
    table = play(seed)
    every = received_states(table, index)
    assert all(number % 2 == index for number in every)
    for number in {every[0], every[1], every[len(every) // 2], every[-1]}:
        table, state = again(seed, index, number)
        unroll = Unroll(table, state)
        take(table, unroll.publish(index))
        assert exists(table, unroll.coin)
        # Not before its time: with a coin of age t - 1 it is kept, with age t it passes.
        table.chain.farm(table.channel.unroll_timeout - 1)
        assert table.chain.push(unroll.time_out()).answer is Answer.TOO_EARLY
        table.chain.farm()
        take(table, unroll.time_out())
        paid_out(table, unroll)


def paid_out(table: Table, unroll: Unroll) -> None:
    """The reward and game coins are there, to the mojo; and the games can be timed out."""
    rewards = [
        (address, amount)
        for address, amount in unroll.outputs()
        if address in table.channel.rewards
    ]
    games = games_of(table, unroll)
    assert unroll.outputs() == rewards + [(game.coin.puzzle_hash, game.amount) for game in games]
    assert sum(amount for _, amount in unroll.outputs()) == table.channel.coin.amount
    for address, amount in rewards:
        assert [seen.coin.amount for seen in table.chain.coins_at(address)] == [amount]
    due = [reward(table, side) for side in (ANN, BEN)]
    for game in games:
        assert exists(table, game.coin)
        mover_share, waiter_share = game.shares
        due[game.mover] += mover_share
        due[game.mover.other] += waiter_share
    if games:
        table.chain.farm(games[0].timeout - 2)
        assert table.chain.push(games[0].claim()).answer is Answer.TOO_EARLY
        table.chain.farm(2)
    for game in games:
        take(table, game.claim())
    assert [reward(table, side) for side in (ANN, BEN)] == due
    assert sum(due) == table.channel.coin.amount


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("index", [ANN, BEN])
def test_an_older_state_is_preempted_by_the_other_side_at_once(seed: str, index: int) -> None:
    table = play(seed)
    for old in (received_states(table, index)[0], received_states(table, index)[-2]):
        table, state = again(seed, index, old)
        unroll = Unroll(table, state)
        newest = restored_state(table, 1 - index, received_states(table, 1 - index)[-1])
        assert newest.number > old
        take(table, unroll.publish(index))
        # In the very block after, long before the timeout.
        bundle = unroll.preempt(newest, 1 - index)
        take(table, bundle)
        for puzzle_hash, amount in Unroll(table, newest).outputs():
            coins = [seen.coin for seen in table.chain.coins_at(puzzle_hash)]
            assert [(coin.parent, coin.amount) for coin in coins] == [(unroll.coin.id, amount)]


def test_a_preemption_in_one_bundle_with_what_it_preempts() -> None:
    table = play("one")
    unroll = Unroll(table, restored_state(table, ANN, received_states(table, ANN)[0]))
    newest = restored_state(table, BEN, received_states(table, BEN)[-1])
    take(table, joined(unroll.publish(ANN), unroll.preempt(newest, BEN)))


def test_no_side_preempts_with_an_older_state_or_one_of_the_same_parity() -> None:
    table = play("one")
    mine, theirs = received_states(table, ANN), received_states(table, BEN)
    states = {n: restored_state(table, n % 2, n) for n in mine + theirs}
    published = mine[2]
    unroll = Unroll(table, states[published])
    take(table, unroll.publish(ANN))
    for n in mine:
        # Signed by both: one's own half added to the other's.
        assert refused(table, unroll.preempt(states[n], ANN)) == "GENERATOR_RUNTIME_ERROR", n
    for n in (n for n in theirs if n < published):
        assert refused(table, unroll.preempt(states[n], BEN)) == "GENERATOR_RUNTIME_ERROR", n
    newer = [n for n in theirs if n > published]
    take(table, unroll.preempt(states[newer[0]], BEN))


def test_a_preemption_needs_both_halves() -> None:
    table = play("one")
    unroll = Unroll(table, restored_state(table, ANN, received_states(table, ANN)[0]))
    newest = restored_state(table, BEN, received_states(table, BEN)[-1])
    take(table, unroll.publish(ANN))
    good = unroll.preempt(newest, BEN)
    half = replace(good, signature=newest.halves[1])
    assert refused(table, half) == "BAD_AGGREGATE_SIGNATURE"
    doubled = replace(good, signature=bls.add(newest.halves[1], newest.halves[1]))
    assert refused(table, doubled) == "BAD_AGGREGATE_SIGNATURE"
    take(table, good)


@pytest.mark.parametrize("index", [ANN, BEN])
def test_a_sender_cannot_complete_its_own_state(index: int) -> None:
    """It has its own half of what it sent, and nothing else: the opening states included."""
    table = play("one")
    for number in received_states(table, 1 - index):
        assert number % 2 != index
        state = restored_state(table, index, number, received=False)
        assert state.halves == ()
        unroll = Unroll(table, state)
        assert refused(table, unroll.publish(index)) == "BAD_AGGREGATE_SIGNATURE"
        # Its own half twice, or its half of the opening state that it did receive.
        own = unroll.publish(index)
        doubled = Bundle(own.spends, bls.add(own.signature, own.signature))
        assert refused(table, doubled) == "BAD_AGGREGATE_SIGNATURE"
    first = restored_state(table, index, index)
    assert Unroll(table, first).publish(index)


def test_the_opening_states_pay_the_contributions() -> None:
    for index in (ANN, BEN):
        table = sit(contributions=(1000, 3000)).open()
        unroll = Unroll(table, restored_state(table, index, index))
        take(table, unroll.publish(index))
        table.chain.farm(table.channel.unroll_timeout)
        take(table, unroll.time_out())
        assert (reward(table, ANN), reward(table, BEN)) == (1000, 3000)


def test_state_1_preempts_state_0_and_not_the_other_way_round() -> None:
    table = sit().open()
    zero, one = restored_state(table, ANN, 0), restored_state(table, BEN, 1)
    take(table, Unroll(table, zero).publish(ANN))
    take(table, Unroll(table, zero).preempt(one, BEN))
    table = sit().open()
    take(table, Unroll(table, one).publish(BEN))
    assert refused(table, Unroll(table, one).preempt(zero, ANN)) == "GENERATOR_RUNTIME_ERROR"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_records_are_those_of_the_typed_model(seed: str) -> None:
    """`signed` builds the same bytes from a live state as are stored on disk."""
    table = play(seed)
    for index, end in enumerate(table.ends):
        newest = end.play.newest
        state = restored_state(table, index, newest.state.number)
        unroll = Unroll(table, state)
        secret = Cheat(table, index).keys
        assert publish(table.channel, secret, newest) == unroll.publish(index)
        assert time_out(table.channel, newest.state) == unroll.time_out()
        assert unroll_coin(table.channel, newest.state) == unroll.coin
        assert table.channel.unroll_puzzle(newest.state) == unroll.puzzle
        older = restored_state(table, 1 - index, received_states(table, 1 - index)[0])
        first = ChannelState(older.number, (BALANCE, BALANCE))
        assert preempt(table.channel, secret, newest, first) == Unroll(table, older).preempt(
            state, index
        )
        for game, record in zip(newest.state.games, state.games, strict=True):
            assert record.game_id == game.id
            assert record.coin == game.coin.atoms()
            assert isinstance(game.coin, GameCoin)


def test_both_sides_store_every_state() -> None:
    """Received by one, sent by the other; conditions and puzzle hashes alike."""
    table = play("two")
    for index in (ANN, BEN):
        for number in received_states(table, index):
            ours, theirs = (
                restored_state(table, index, number),
                restored_state(table, 1 - index, number, False),
            )
            assert ours.conditions == theirs.conditions
            assert ours.unroll_puzzle_hash == theirs.unroll_puzzle_hash
            assert ours.games == theirs.games
            assert len(ours.halves) == 2
            assert theirs.halves == ()
    assert table.ends[ANN].news_of(ChannelOpen)
