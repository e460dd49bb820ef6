"""Peers that pay fees: their wallets, what they push, and what that pays."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.chain.coins import Bundle, Coin, condition, signed_spend
from channelsim.channel.chain.interface import Answer
from channelsim.channel.chain.mempool_items import LEAST_RAISE
from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.peer.fee_settings import Fees
from channelsim.channel.peer.interface import FeeRate, Push
from channelsim.channel.protocol.spend_parsing import reserved_fee
from channelsim.channel.protocol.wallet import Wallet, address_of, wallet_key
from channelsim.clsp.values import int_to_atom, to_list
from tests.channel.disputes import farm, hear, with_config
from tests.channel.table import Table

MILLION = 1_000_000
MOST = 100 * LEAST_RAISE
PURSE = 20 * MOST


def fee_wallet(table: Table, index: int, amount: int = PURSE) -> Wallet:
    """A wallet coin of its own for this side, of exactly this amount."""
    key = wallet_key(derive(b"wallet", "player", index), "fees")
    coin = table.chain.give(address_of(key), amount)
    pieces = [condition(51, coin.puzzle_hash, int_to_atom(amount))]
    pieces.append(condition(51, bytes(32), int_to_atom(coin.amount - amount)))
    spend = signed_spend(key, coin, to_list(pieces), table.chain.agg_sig_data())
    assert table.chain.push(spend).answer is Answer.ACCEPTED
    farm(table)
    return Wallet(key, Coin(coin.id, coin.puzzle_hash, amount))


def paying(
    table: Table, index: int, most: int | None = MOST, in_all: int | None = None, rate: int = 0
) -> Fees:
    """Let this side pay fees, and hear of this rate."""
    in_all = 20 * most if in_all is None and most is not None else in_all
    fees = Fees(fee_wallet(table, index), most, in_all)
    with_config(table, index, fees=fees)
    table.handle(index, FeeRate(rate))
    hear(table)
    return fees


def paid(bundle: Bundle, fees: Fees) -> int:
    """The fee that coins at the wallet's address pay in a bundle."""
    address = fees.wallet.coin.puzzle_hash
    return sum(
        reserved_fee(one.solution) for one in bundle.spends if one.coin.puzzle_hash == address
    )


def pushes(effects: Sequence[object], *names: str) -> list[Push]:
    found = [effect for effect in effects if isinstance(effect, Push)]
    return [push for push in found if not names or push.name in names]


def full_blocks(table: Table, index: int, blocks: int) -> list[list[Push]]:
    """What this side pushes with blocks that are full of others; they are its node's alone."""
    peak, found = table.chain.peak(), []
    for number in range(1, blocks + 1):
        coins = [table.chain.coin(coin.id) for coin in table.ends[index].watched]
        block = Block(peak + number, tuple(coin for coin in coins if coin))
        found.append(pushes(table.ends[index].peer.handle(block)))
    return found


def left(table: Table, fees: Fees) -> int:
    """The money at the wallet's address."""
    return sum(seen.coin.amount for seen in table.chain.coins_at(fees.wallet.coin.puzzle_hash))


def pay(wallet: Wallet, fee: int, table: Table) -> Bundle:
    """A spend of this wallet's coin, to itself, that leaves a fee."""
    coin = wallet.coin
    conditions = to_list([condition(51, coin.puzzle_hash, int_to_atom(coin.amount - fee))])
    return signed_spend(wallet.key, coin, conditions, table.channel.agg_sig_data)


def taken(table: Table, index: int) -> list[str]:
    """The names of the pushes that the node took."""
    accepted = Answer.ACCEPTED
    return [name for name, _, result in table.ends[index].pushed if result.answer is accepted]


def last(table: Table, index: int, wanted: str) -> Bundle:
    """The last bundle of this name that was pushed, which the node took."""
    pushed = [
        (bundle, result) for name, bundle, result in table.ends[index].pushed if name == wanted
    ]
    assert pushed[-1][1].answer is Answer.ACCEPTED
    return pushed[-1][0]
