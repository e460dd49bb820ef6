"""What a full node tells of the chain: coins, and the tip with the coins that are watched."""

from __future__ import annotations

from dataclasses import dataclass

from channel.chain.coins import Coin


@dataclass(frozen=True, slots=True)
class CoinSeen:
    """A coin on chain: the heights at which it was made and (None: not yet) spent.

    `solution` is what it was spent with, as plain serialized CLVM.
    """

    coin: Coin
    born: int
    spent: int | None
    solution: bytes | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """The chain has a new tip: its height, and every watched coin that exists.

    It is given again, with the same tip, when a coin is there already that is watched only
    since then. After a reorganisation the height may be lower than before.
    """

    peak: int
    coins: tuple[CoinSeen, ...] = ()
