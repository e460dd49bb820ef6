"""Solutions as the chain gives them: what they say, and what says nothing."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    Fact,
    MovedOnChain,
    StateCounts,
    Undone,
    UnknownSpend,
    UnrollSeen,
)
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import Close, FeeRate, GoOnChain, Push, Tell
from channelsim.channel.peer.machine import Phase
from channelsim.channel.peer.onchain.scan import scan
from channelsim.channel.protocol.spend_parsing import (
    MovedTo,
    Slashed,
    TimedOut,
    channel_conditions,
    created_coins,
    game_spend,
    pays,
    unroll_number,
)
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.clsp.values import Value, serialize, to_list, tree_hash
from channelsim.games.referee import move_solution, timeout_solution
from tests.channel.disputes import at_move, facts, hear, leave, settle, sound, with_config
from tests.channel.on_chain import Unroll, received_states, restored_state, take
from tests.channel.table import ANN, BEN, CONFIRMATIONS, End, Table, sit

GARBAGE = (b"", b"\xff", b"\xfe\x01", b"\x80", b"\xff\x80\x80", serialize(b"abc"))


def on_chain() -> Table:
    table = at_move(16)
    table.mail.clear()
    leave(table, ANN)
    return table


def phase(end: End) -> Phase:
    return end.peer.phase


def test_the_three_ways_to_spend_a_game_coin() -> None:
    (game,) = at_move(16).ends[ANN].state.games
    assert game.before is not None
    before, after = game.before.coin, game.coin
    assert game_spend(before, serialize(move_solution(after))) == MovedTo(after)
    claim = timeout_solution(before, bytes(32), bytes([1]) * 32)
    assert game_spend(before, serialize(claim)) == TimedOut(bytes(32), bytes([1]) * 32)
    pair: Value = (b"a", b"b")
    slash = to_list([b"", pair, b"", bytes(32)])
    assert game_spend(before, serialize(slash)) == Slashed(bytes(32))


@pytest.mark.parametrize("solution", GARBAGE)
def test_a_malformed_solution_is_not_parsed(solution: bytes) -> None:
    table = at_move(16)
    state = table.ends[ANN].state
    (game,) = state.games
    assert game_spend(game.coin, solution) is None
    assert channel_conditions(solution) is None
    assert unroll_number(table.channel, state, solution) is None
    assert not pays(table.channel, state, solution)


def test_a_spend_that_no_referee_accepts_is_not_parsed() -> None:
    (game,) = at_move(16).ends[ANN].state.games
    coin = game.coin
    long = bytes(coin.max_move_size + 1)
    for items in ([long, b"", b"", b""], [b"", b"", b"\x7f" * 9, b""], [b"", b"x", b"", b""]):
        assert game_spend(coin, serialize(to_list(items))) is None
    assert game_spend(coin, serialize(to_list([b""] * 5))) is None
    over = replace(coin, infohash_b=b"")
    assert game_spend(over, serialize(to_list([b""] * 4))) is None


def test_a_state_by_its_timeout_and_by_its_number() -> None:
    table = at_move(16)
    channel, state = table.channel, table.ends[ANN].state
    newer = replace(state, number=state.number + 1)
    timed_out = serialize(channel.timeout_conditions(state))
    preempted = serialize(channel.preemption_conditions(newer))
    assert unroll_number(channel, state, timed_out) == state.number
    assert unroll_number(channel, state, preempted) == newer.number
    assert pays(channel, newer, preempted)
    assert not pays(channel, state, preempted)
    # A number in more bytes than it needs is none that anybody signed.
    fat = to_list([to_list([b"\x01", b"\x00\x05"])])
    assert unroll_number(channel, state, serialize(fat)) is None


def test_what_follows_the_conditions_in_a_channel_spend_does_not_count() -> None:
    """Nobody signs it: a stranger may put there what it likes."""
    conditions = to_list([to_list([b"\x33", bytes(32), b"\x01"])])
    quoted: Value = (b"\x01", conditions)
    for rest in (b"", b"garbage", (b"a", b"b")):
        assert channel_conditions(serialize(to_list([b"", quoted, rest]))) == tree_hash(conditions)


class LateSolutions(SimulatedChain):
    """The node of a table, which leaves out the solution of a spent coin the first few times."""

    def __init__(self, chain: SimulatedChain, times: int, only: bytes | None = None) -> None:
        self.__dict__ = chain.__dict__
        self.times, self.only = times, only
        self.asked: Counter[bytes] = Counter()

    def coin(self, coin_id: bytes) -> CoinSeen | None:
        seen = super().coin(coin_id)
        if seen is None or seen.spent is None or self.only not in (None, coin_id):
            return seen
        self.asked[coin_id] += 1
        return replace(seen, solution=None) if self.asked[coin_id] <= self.times else seen


@pytest.mark.parametrize("times", [1, 2, 5, 9])
def test_a_spend_without_its_solution_is_not_known_yet(times: int) -> None:
    table = on_chain()
    table.chain = LateSolutions(table.chain, times)
    settle(table)
    sound(table)
    for end in table.ends:
        assert not end.news_of(UnknownSpend)
        assert not end.news_of(Undone)


@pytest.mark.parametrize("index", [ANN, BEN])
def test_an_old_state_is_preempted_though_the_node_never_gives_the_channel_spend(
    index: int,
) -> None:
    """The rest of that solution, after the conditions, may be too large for a node to give."""
    table = at_move(16)
    oldest = received_states(table, 1 - index)[0]
    table.mail.clear()
    take(table, Unroll(table, restored_state(table, 1 - index, oldest)).publish(1 - index))
    table.chain = LateSolutions(table.chain, 10**9, table.channel.coin.id)
    settle(table)
    sound(table)
    (state,) = facts(table.ends[index], StateCounts)
    assert isinstance(state, StateCounts)
    assert state.number > oldest
    assert not state.stale


def test_a_shutdown_is_known_by_its_coins_though_the_node_never_gives_its_solution() -> None:
    """Its sender has gone on chain, and the other side publishes the completion."""
    table = sit().open()
    table.command(BEN, Close())
    table.receive(ANN, table.take_mail())
    table.mail.clear()
    table.chain = LateSolutions(table.chain, 10**9, table.channel.coin.id)
    table.command(BEN, GoOnChain())
    table.farm(2 + CONFIRMATIONS)
    for end in table.ends:
        assert phase(end) is Phase.CLOSED
        assert end.news_of(ChannelClosed)
        assert not end.news_of(UnknownSpend)


def test_the_lineage_is_read_again_only_when_a_coin_changes() -> None:
    table = on_chain()
    settle(table)
    for end in table.ends:
        dispute = end.peer.state.dispute
        assert dispute is not None
        assert dispute.lineage is not None
        same, _ = scan(dispute, Block(dispute.block.peak + 1, (*dispute.block.coins,)))
        assert same.lineage is dispute.lineage
        without, _ = scan(dispute, Block(dispute.block.peak + 1, dispute.block.coins[:1]))
        assert without.lineage is not None
        assert without.lineage.channel == dispute.lineage.channel
        assert without.lineage.unroll is None


def test_facts_are_not_undone_while_the_node_omits_solutions() -> None:
    table = on_chain()
    settle(table)
    for end in table.ends:
        dispute = end.peer.state.dispute
        assert dispute is not None
        block = dispute.block
        blind = tuple(replace(seen, solution=None) for seen in block.coins)
        effects = end.peer.handle(Block(block.peak + 1, blind))
        assert not [effect for effect in effects if isinstance(effect, Tell | Push)]
        assert phase(end) is Phase.CLOSED
        assert end.peer.handle(Block(block.peak + 2, block.coins)) == []


@pytest.mark.parametrize("index", [ANN, BEN])
def test_a_replaced_solution_is_forgotten(index: int) -> None:
    """One old state is published, then another one at the same height, without its solution."""
    table = at_move(16)
    end, thief = table.ends[index], 1 - index
    first, second = (
        Unroll(table, restored_state(table, thief, number))
        for number in received_states(table, thief)[:2]
    )
    table.mail.clear()
    height = table.chain.peak() + 1
    born = height - 9
    coin = table.channel.coin
    solution = first.publish(thief).spends[0].solution
    end.peer.handle(
        Block(height, (CoinSeen(coin, born, height, solution), CoinSeen(first.coin, height, None)))
    )
    effects = end.peer.handle(
        Block(height + 1, (CoinSeen(coin, born, height), CoinSeen(second.coin, height, None)))
    )
    (preemption,) = [effect for effect in effects if isinstance(effect, Push)]
    assert preemption.name == "preempt"
    assert preemption.bundle.spends[0].coin == second.coin


@pytest.mark.parametrize("index", [ANN, BEN])
def test_fees_go_on_though_the_node_does_not_say_how_the_fee_coin_was_spent(index: int) -> None:
    table = at_move(16)
    end, thief = table.ends[index], 1 - index
    key = wallet_key(b"purse" + bytes([index]), "fees")
    fees = Fees(Wallet(key, table.chain.give(address_of(key), 10**12)), 10**9, 10**11)
    with_config(table, index, fees=fees)
    table.handle(index, FeeRate(1))
    old = Unroll(table, restored_state(table, thief, received_states(table, thief)[0]))
    table.mail.clear()
    height, coin = table.chain.peak() + 1, table.channel.coin
    published = CoinSeen(coin, height - 9, height, old.publish(thief).spends[0].solution)
    unroll, wallet_coin = CoinSeen(old.coin, height, None), CoinSeen(fees.wallet.coin, 1, None)
    pushed = end.peer.handle(Block(height, (published, unroll, wallet_coin)))
    paid = next(one.bundle for one in pushed if isinstance(one, Push) and one.name == "preempt+fee")
    # A reorganisation took the preemption back, but for the spend of the fee coin by another fee.
    payer = paid.spends[-1]
    assert payer.coin == fees.wallet.coin
    ((address, amount),) = created_coins(payer.solution)
    change = CoinSeen(Coin(payer.coin.id, address, amount), height + 1, None)
    spent = replace(wallet_coin, spent=height + 1)
    for _ in range(2):
        pushed = end.peer.handle(Block(height + 1, (published, unroll, spent, change)))
    assert "preempt+fee" in {one.name for one in pushed if isinstance(one, Push)}


def test_a_solution_is_read_within_limits() -> None:
    """Whatever a node gives as one: deep, long, or with parts that refer to each other."""
    table = at_move(16)
    state = table.ends[ANN].state
    (game,) = state.games
    conditions = to_list([to_list([b"\x33", bytes(32), b"\x01"])])
    deep = b"\xff" * 900_000 + b"\x80" * 900_001
    wide = b"\xff\x80" * 900_000 + b"\x80"
    atom = serialize(bytes(1_900_000))
    # Each pair of a list of references to the rest before it doubles what is written out.
    shared = b"\xff" * 60 + b"\x80" + b"\xfe\x02" * 60
    huge = serialize(b"\x7f" * 5000)
    numbers = b"\xff\x80\xff\x80\xff" + huge + b"\xff" + huge + b"\x80"
    tagged = b"\xff\xff\x01\xff" + huge + b"\x80\x80"
    for solution in (deep, wide, atom, shared, numbers, tagged, bytes(3_000_000)):
        assert game_spend(game.coin, solution) is None
        assert unroll_number(table.channel, state, solution) is None
        assert not pays(table.channel, state, solution)
        assert channel_conditions(solution) is None
        assert created_coins(solution) == ()
        if len(solution) > 1_900_000:
            continue
        # Where nobody signs it, it does not matter.
        padded = b"\xff\x80\xff\xff\x01" + serialize(conditions) + b"\xff" + solution + b"\x80"
        assert channel_conditions(padded) == tree_hash(conditions)
        assert created_coins(padded) == ((bytes(32), 1),)


def test_a_coin_that_the_node_has_not_reported_is_awaited() -> None:
    """Its parent is spent, but it is not in the block; nothing is pushed or reported twice."""
    table = on_chain()
    settle(table)
    end = table.ends[ANN]
    dispute = end.peer.state.dispute
    assert dispute is not None
    block = dispute.block
    kinds: dict[type[Fact], int] = {UnrollSeen: 0, StateCounts: 0, MovedOnChain: 0}
    for place in range(1, len(block.coins)):
        fewer = (*block.coins[:place], *block.coins[place + 1 :])
        end.peer.handle(Block(block.peak, fewer))
        for kind in kinds:
            kinds[kind] += len(facts(end, kind))
    assert kinds[UnrollSeen] == len(block.coins) - 1
    end.peer.handle(block)
    hear(table)
    assert end.peer.phase is Phase.CLOSED
