"""The embedded node behind the chain's interface: each kind of answer to a bundle."""

from __future__ import annotations

import msgspec
import pytest

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.constants import BLOCK_REWARD
from channelsim.channel.chain.interface import Answer, FarmableChain
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.half_signed import publish
from channelsim.channel.protocol.wallet import address_of, wallet_key
from tests.channel.table import ANN, BEN, Cheat, Table, sit


def unrolls(table: Table) -> list[Bundle]:
    """Both sides' spends of the one channel coin."""
    return [
        publish(table.channel, Cheat(table, index).keys, table.ends[index].play.newest)
        for index in (ANN, BEN)
    ]


def test_accepted_repeated_conflicting_spent() -> None:
    table = sit().open()
    first, other = unrolls(table)
    assert table.chain.push(first).answer is Answer.ACCEPTED
    assert table.chain.push(first).benign
    conflict = table.chain.push(other)
    assert (conflict.answer, conflict.benign) == (Answer.PENDING_CONFLICT, True)
    table.chain.farm()
    for bundle in (first, other):
        late = table.chain.push(bundle)
        assert (late.answer, late.benign) == (Answer.ALREADY_SPENT, True)


def test_an_invalid_spend_is_refused_with_the_nodes_reason() -> None:
    table = sit().open()
    first, other = unrolls(table)
    wrong = table.chain.push(msgspec.structs.replace(first, signature=other.signature))
    assert (wrong.answer, wrong.benign) == (Answer.REFUSED, False)
    assert wrong.error == "BAD_AGGREGATE_SIGNATURE"


def test_the_same_seed_gives_the_same_coins() -> None:
    address = address_of(wallet_key(b"secret", "funding"))
    coins = [SimulatedChain(seed).give(address, 1000) for seed in (1, 1)]
    assert coins[0] == coins[1]
    assert coins[0].amount >= 1000


def test_a_coin_is_reported_with_its_heights() -> None:
    table = sit().open()
    chain: FarmableChain = table.chain
    coin = table.channel.coin
    seen = chain.coin(coin.id)
    assert seen is not None
    assert (seen.coin, seen.spent) == (coin, None)
    assert [one.coin for one in chain.coins_at(coin.puzzle_hash)] == [coin]
    chain.push(unrolls(table)[0])
    chain.farm()
    spent = chain.coin(coin.id)
    assert spent is not None
    assert (spent.born, spent.spent) == (seen.born, chain.peak())
    assert chain.coins_at(coin.puzzle_hash) == []
    assert chain.coin(bytes(32)) is None


def test_no_coin_is_larger_than_a_block_reward() -> None:
    with pytest.raises(UsageError, match="smaller unit"):
        SimulatedChain(1).give(bytes(32), BLOCK_REWARD + 1)
