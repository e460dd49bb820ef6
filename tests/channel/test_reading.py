"""Solutions as the chain gives them: what they say, and what says nothing."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from channel.events import Block, Tell
from channel.onchain.news import MovedOnChain, StateCounts, Undone, UnknownSpend, UnrollSeen
from channel.onchain.reading import (
    MovedTo,
    Slashed,
    TimedOut,
    channel_conditions,
    game_spend,
    pays,
    unroll_number,
)
from channel.peer import Phase
from clsp.values import Value, serialize, to_list, tree_hash
from games.referee import move_solution, timeout_solution
from tests.channel.disputes import at_move, facts, hear, leave, settle
from tests.channel.table import ANN, BEN, End, Table

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
def test_what_is_no_solution_says_nothing(solution: bytes) -> None:
    table = at_move(16)
    state = table.ends[ANN].state
    (game,) = state.games
    assert game_spend(game.coin, solution) is None
    assert channel_conditions(solution) is None
    assert unroll_number(table.channel, state, solution) is None
    assert not pays(table.channel, state, solution)


def test_what_no_referee_lets_through_says_nothing() -> None:
    (game,) = at_move(16).ends[ANN].state.games
    coin = game.coin
    long = bytes(coin.max_move_size + 1)
    for items in ([long, b"", b"", b""], [b"", b"", b"\x7f" * 9, b""], [b"", b"x", b"", b""]):
        assert game_spend(coin, serialize(to_list(items))) is None
    assert game_spend(coin, serialize(to_list([b""] * 5))) is None
    over = msgspec.structs.replace(coin, infohash_b=b"")
    assert game_spend(over, serialize(to_list([b""] * 4))) is None


def test_a_state_by_its_timeout_and_by_its_number() -> None:
    table = at_move(16)
    channel, state = table.channel, table.ends[ANN].state
    newer = msgspec.structs.replace(state, number=state.number + 1)
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


@pytest.mark.parametrize("index", [ANN, BEN])
def test_a_node_that_does_not_know_a_solution_yet_is_asked_again(index: int) -> None:
    """Reported as unknown, and corrected with the next block."""
    table = on_chain()
    settle(table)
    end = table.ends[index]
    dispute = end.peer._dispute
    assert dispute is not None
    picture = dispute.picture
    for place, seen in enumerate(picture.coins):
        if seen.spent is None:
            continue
        blind = (*picture.coins[:place], replace(seen, solution=None), *picture.coins[place + 1 :])
        effects = end.peer.handle(Block(picture.peak, blind))
        told = [effect.news for effect in effects if isinstance(effect, Tell)]
        assert any(isinstance(news, UnknownSpend) for news in told), seen
        assert any(isinstance(news, Undone) for news in told)
        assert phase(end) is Phase.ON_CHAIN
        end.peer.handle(picture)
        assert phase(end) is Phase.CLOSED


def test_a_coin_that_the_node_has_not_told_of_is_waited_for() -> None:
    """Its parent is spent, but it is not in the picture: nothing is pushed, nothing told twice."""
    table = on_chain()
    settle(table)
    end = table.ends[ANN]
    dispute = end.peer._dispute
    assert dispute is not None
    picture = dispute.picture
    kinds = {UnrollSeen: 0, StateCounts: 0, MovedOnChain: 0}
    for place in range(1, len(picture.coins)):
        fewer = (*picture.coins[:place], *picture.coins[place + 1 :])
        end.peer.handle(Block(picture.peak, fewer))
        for kind in kinds:
            kinds[kind] += len(facts(end, kind))
    assert kinds[UnrollSeen] == len(picture.coins) - 1
    end.peer.handle(picture)
    hear(table)
    assert end.peer.phase is Phase.CLOSED
