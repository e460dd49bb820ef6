"""Coins that fees can be paid from: the wallet coin set aside for them, and what came of it.

All of them are at one address of ours, and only our own spends make them. They are found from the
first one on with every block, because a reorganisation may take them back.
Source: spec/channel.md, "Fees".
"""

from __future__ import annotations

from dataclasses import dataclass

from channelsim.channel.chain.coins import Bundle, Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.protocol.spend_parsing import created_coins, reserved_fee


@dataclass(frozen=True, slots=True)
class FeeCoins:
    """The unspent coins for fees, the smallest first; all to watch; and the fees paid, in mojos."""

    unspent: tuple[Coin, ...]
    watched: tuple[Coin, ...]
    paid: int


def find_fee_coins(first: Coin, block: Block) -> FeeCoins:
    """Find the coins that came of the first one, as this block has them."""
    there = {seen.coin: seen for seen in block.coins}
    unspent, watched, paid = [], [first], 0
    for coin in watched:
        seen = there.get(coin)
        if seen is None:
            continue
        if seen.spent is None:
            unspent.append(coin)
            continue
        children = _children(seen, block)
        watched += children
        paid += _fee(seen, children)
    unspent.sort(key=lambda coin: (coin.amount, coin.id))
    return FeeCoins(tuple(unspent), tuple(watched), paid)


def change_of(coin: Coin, bundle: Bundle) -> Coin | None:
    """The coin that a bundle leaves of a fee coin: the largest, or the coin if it is not spent."""
    spends = {spend.coin: spend.solution for spend in bundle.spends}
    while coin in spends:
        made = _made(coin, spends[coin])
        if not made:
            return None
        coin = max(made, key=lambda child: child.amount)
    return coin


def paid_by(coin: Coin, bundle: Bundle) -> int:
    """The mojos that a bundle takes from a fee coin: a split leaves more than the largest coin."""
    spends = {spend.coin: spend.solution for spend in bundle.spends}
    paid = 0
    while coin in spends:
        made = _made(coin, spends[coin])
        paid += coin.amount - sum(child.amount for child in made)
        if not made:
            break
        coin = max(made, key=lambda child: child.amount)
    return paid


def _children(seen: CoinSeen, block: Block) -> list[Coin]:
    """The coins at our address that a coin of ours was spent to."""
    coin = seen.coin
    if seen.solution is not None:
        return _made(coin, seen.solution)
    # A miner can make the solution of our spend too large for a node to give: then the block has
    # the coins that the spend created.
    children = (other.coin for other in block.coins if other.coin.parent == coin.id)
    return [child for child in children if child.puzzle_hash == coin.puzzle_hash]


def _made(coin: Coin, solution: bytes) -> list[Coin]:
    return [
        Coin(coin.id, address, amount)
        for address, amount in created_coins(solution)
        if address == coin.puzzle_hash
    ]


def _fee(seen: CoinSeen, children: list[Coin]) -> int:
    """The fee that the spend of this coin paid, in mojos.

    The wallet may spend the coin for something else: such a spend pays none of our fees.
    """
    if seen.solution is not None:
        return reserved_fee(seen.solution)
    return seen.coin.amount - sum(child.amount for child in children)
