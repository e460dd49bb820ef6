"""News from the chain for the player: each outcome by name, with its amounts and coins.

Each fact holds until a reorganisation undoes it, which `Undone` reports.
"Ours" and "theirs" are this peer's and the other's.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from channelsim.channel.chain.coins import Coin


class LeftForChain(msgspec.Struct, frozen=True):
    """We close the channel unilaterally, though the other side broke no rule, at this state."""

    reason: str
    published: int


class UnilateralClose(msgspec.Struct, frozen=True):
    """The other side closes the channel unilaterally, which it may do at any time.

    Off-chain play ends, and we follow it on chain; `UnrollSeen` reports the published state.
    """

    height: int


class UnrollSeen(msgspec.Struct, frozen=True):
    """The channel coin became the unroll coin of this state."""

    number: int
    coin: Coin
    height: int


class UnknownSpend(msgspec.Struct, frozen=True):
    """A coin of the channel was spent in a way that our store does not know.

    It is an old copy, or our keys have leaked. The peer takes what the spend pays it.
    """

    coin: Coin
    height: int


class UnknownGame(msgspec.Struct, frozen=True):
    """A game in the state that was paid out, in a position that this copy of the store lacks.

    The peer can do nothing about this coin.
    """

    coin: Coin
    height: int


class StateCounts(msgspec.Struct, frozen=True):
    """The unroll coin was spent, by its timeout or a preemption: this state is paid out.

    `rewards` are the balances' coins, the initiator's first (None: nothing to pay); `games`
    are the coins of the live games, by id. `stale`: newer states existed, but
    none of them preempted it in time.
    """

    number: int
    preempted: bool
    stale: bool
    rewards: tuple[Coin | None, Coin | None]
    games: tuple[tuple[int, Coin], ...]
    height: int


class MovedOnChain(msgspec.Struct, frozen=True):
    """A move was made on chain; `coin` is the game coin that it made."""

    game_id: int
    by_us: bool
    coin: Coin
    height: int


class IllegalOnChain(msgspec.Struct, frozen=True):
    """The move that made this coin breaks `rule`; we slash it."""

    game_id: int
    rule: str
    coin: Coin


class RevealAtRisk(msgspec.Struct, frozen=True):
    """Our move cannot wait until the move that it answers is deep: its deadline is near.

    After a reorganisation of more than `depth` blocks the other side could make its move again,
    knowing what we revealed.
    """

    game_id: int
    coin: Coin
    depth: int


class GamePaid(msgspec.Struct, frozen=True):
    """A game coin was paid out; a coin of None is a share of nothing.

    `slashed` says by whom its last move was slashed: "us", "them", or "" for a timeout.
    """

    game_id: int
    slashed: str
    ours: Coin | None
    theirs: Coin | None
    height: int


class Forfeited(msgspec.Struct, frozen=True):
    """This coin pays us nothing, and we can do nothing about it."""

    game_id: int
    coin: Coin
    theirs: int


class GameVoid(msgspec.Struct, frozen=True):
    """A game of a newer state does not exist in the state that was paid out."""

    game_id: int
    number: int


class GameEnded(msgspec.Struct, frozen=True):
    """A game ended on chain, at confirmation depth: what both sides got, in mojos.

    `corrects`: it had ended off chain with other amounts.
    """

    game_id: int
    ours: int
    theirs: int
    corrects: bool = False


class ChannelSettled(msgspec.Struct, frozen=True):
    """All of the channel's money is paid out, at confirmation depth, in mojos.

    `theirs` may include game coins that pay us nothing, and that the other side has not claimed.
    """

    number: int
    ours: int
    theirs: int


class ChannelClosed(msgspec.Struct, frozen=True):
    """The clean shutdown spent the channel coin to these reward coins."""

    rewards: tuple[Coin, ...]
    height: int


class Undone(msgspec.Struct, frozen=True):
    """A reorganisation undid this fact."""

    fact: Fact


Fact: TypeAlias = (
    UnrollSeen
    | UnknownSpend
    | UnknownGame
    | StateCounts
    | MovedOnChain
    | IllegalOnChain
    | RevealAtRisk
    | GamePaid
    | Forfeited
    | GameVoid
    | GameEnded
    | ChannelSettled
    | ChannelClosed
)
"""A fact that holds on chain until `Undone` says that a reorganisation undid it."""

ChainNews: TypeAlias = LeftForChain | UnilateralClose | Fact | Undone
