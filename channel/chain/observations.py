"""Observations of a node: a coin's record, a new tip with watched coins, a pending bundle."""

from __future__ import annotations

import msgspec

from channelsim.channel.chain.coins import Bundle, Coin


class CoinSeen(msgspec.Struct, frozen=True):
    """A coin on chain: the heights at which it was created and spent (None: not yet).

    `solution` is that of its spend, as plain serialized CLVM.
    """

    coin: Coin
    born: int
    spent: int | None
    solution: bytes | None = None


class Block(msgspec.Struct, frozen=True):
    """The chain has a new tip: its height, and every watched coin that exists.

    Of a watched coin that was spent, and whose solution the node does not give, the coins that it
    created are there too, without solutions.

    The same tip is reported again when the peer starts to watch a coin that exists already.
    After a reorganisation the height may be lower than before.
    """

    peak: int
    coins: tuple[CoinSeen, ...] = ()


class PendingBundle(msgspec.Struct, frozen=True):
    """A bundle in a node's mempool, with its fee in mojos and its cost, as the node gives them."""

    bundle: Bundle
    fee: int
    cost: int
