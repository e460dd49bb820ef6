"""What a player is told of the chain: every outcome by name, with its amounts and coins.

Each is a fact that holds until a reorganisation takes it back, and then `Undone` says so.
"Ours" and "theirs" are this peer's and the other's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from channel.chain.coins import Coin


@dataclass(frozen=True, slots=True)
class LeftForChain:
    """We stop playing by messages though the other side did no wrong, and publish this state."""

    reason: str
    published: int


@dataclass(frozen=True, slots=True)
class UnilateralClose:
    """The other side closes the channel on its own, which it may do at any time.

    Play by messages ends, and we follow it on chain; what it published is told as `UnrollSeen`.
    """

    height: int


@dataclass(frozen=True, slots=True)
class UnrollSeen:
    """The channel coin became the unroll coin of this state."""

    number: int
    coin: Coin
    height: int


@dataclass(frozen=True, slots=True)
class UnknownSpend:
    """A coin of the channel was spent in a way that we never signed: our keys must be known.

    Nothing can be done about it here; all records are kept.
    """

    coin: Coin
    height: int


@dataclass(frozen=True, slots=True)
class StateCounts:
    """The unroll coin was spent: this state is paid out, by its own timeout or a preemption.

    `rewards` are the balances' coins, the initiator's first (None: nothing to pay); `games`
    are the coins of the live games, by id. `stale`: newer states existed, and nobody preempted
    in time.
    """

    number: int
    preempted: bool
    stale: bool
    rewards: tuple[Coin | None, Coin | None]
    games: tuple[tuple[int, Coin], ...]
    height: int


@dataclass(frozen=True, slots=True)
class MovedOnChain:
    """A move was made on chain; `coin` is the game coin that it made."""

    game_id: int
    by_us: bool
    coin: Coin
    height: int


@dataclass(frozen=True, slots=True)
class IllegalOnChain:
    """The move that made this coin breaks `rule`; we slash it."""

    game_id: int
    rule: str
    coin: Coin


@dataclass(frozen=True, slots=True)
class RevealAtRisk:
    """Our move's deadline does not let it wait until the move that it answers is safe.

    Should a reorganisation of more than `depth` blocks come, the other side can answer again
    and knows what we revealed.
    """

    game_id: int
    coin: Coin
    depth: int


@dataclass(frozen=True, slots=True)
class GamePaid:
    """A game coin was paid out; a coin of None is a share of nothing.

    `slashed` says by whom its last move was slashed: "us", "them", or "" for a timeout.
    """

    game_id: int
    slashed: str
    ours: Coin | None
    theirs: Coin | None
    height: int


@dataclass(frozen=True, slots=True)
class Forfeited:
    """There is nothing in this coin for us, and nothing that we could still do about it."""

    game_id: int
    coin: Coin
    theirs: int


@dataclass(frozen=True, slots=True)
class GameVoid:
    """A game that had begun, or ended, does not exist in the state that counts."""

    game_id: int
    number: int


@dataclass(frozen=True, slots=True)
class GameEnded:
    """A game ended on chain, as deep as we want it: what we and the other side got, in mojos.

    `corrects`: it had ended off chain, at other amounts.
    """

    game_id: int
    ours: int
    theirs: int
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class ChannelSettled:
    """All of the channel's money is where it goes, as deep as we want it, in mojos.

    "Theirs" may still lie in game coins that pay us nothing: the other side can claim them.
    """

    number: int
    ours: int
    theirs: int


@dataclass(frozen=True, slots=True)
class ChannelClosed:
    """The channel coin was spent to these reward coins, by the clean shutdown."""

    rewards: tuple[Coin, ...]
    height: int


@dataclass(frozen=True, slots=True)
class Undone:
    """A reorganisation took this back: it is no longer so."""

    fact: Fact


Fact: TypeAlias = (
    UnrollSeen
    | UnknownSpend
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
"""What the picture of the chain says; taken back when it no longer says so."""

ChainNews: TypeAlias = LeftForChain | UnilateralClose | Fact | Undone
