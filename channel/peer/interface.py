"""What goes into a peer's state machine, and what comes out of it: two closed unions.

Events: bytes from the other peer, news from the chain, commands of the player. Effects are
carried out by a driver, in order; a `Store` comes before everything that follows from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from channel.chain.coins import Bundle, Coin
from channel.chain.observations import Block
from channel.errors import Blame
from channel.peer.chain_news import ChainNews
from channel.protocol.proposals import Wish
from channel.protocol.state import Group, LiveGame
from games.contract import Action, Player, Position

# --- events ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Received:
    """A message from the other peer, not yet looked at."""

    message: bytes


@dataclass(frozen=True, slots=True)
class ProposeGames:
    """The player offers a group of games."""

    wishes: tuple[Wish, ...]


@dataclass(frozen=True, slots=True)
class AcceptGames:
    """The player takes up a proposal of the other side."""

    group_id: int


@dataclass(frozen=True, slots=True)
class CancelGames:
    """The player refuses a proposal, or withdraws one."""

    group_id: int
    reason: str


@dataclass(frozen=True, slots=True)
class Act:
    """The player's decision in a game, answering `YourTurn`."""

    game_id: int
    action: Action


@dataclass(frozen=True, slots=True)
class Close:
    """The player wants a clean shutdown, as soon as no game is live."""


@dataclass(frozen=True, slots=True)
class GoOnChain:
    """The player wants to go on chain, whatever the other side says."""

    reason: str = "the player wants to"


@dataclass(frozen=True, slots=True)
class Pinned:
    """A bundle that we pushed conflicts with these, which are in the mempool."""

    bundle: Bundle
    pending: tuple[Bundle, ...]


Command: TypeAlias = ProposeGames | AcceptGames | CancelGames | Act | Close | GoOnChain
Event: TypeAlias = Received | Block | Pinned | Command

# --- effects -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Bytes for the other peer."""

    message: bytes


@dataclass(frozen=True, slots=True)
class Push:
    """A bundle for the mempool; a repeat of what is pending or mined is no failure."""

    name: str
    bundle: Bundle


@dataclass(frozen=True, slots=True)
class Store:
    """Bytes to write to disk under this name before any later effect is carried out.

    They replace what the name had; empty bytes remove it.
    """

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Watch:
    """Report this coin with every block from now on; also with this one, if it is there."""

    coin: Coin


@dataclass(frozen=True, slots=True)
class Tell:
    """Something for the player to know."""

    news: News


Effect: TypeAlias = Send | Push | Store | Watch | Tell

# --- news for the player -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FundingSent:
    """The funding bundle is complete; the channel coin will have this id."""

    coin: Coin
    deadline: int


@dataclass(frozen=True, slots=True)
class ChannelOpen:
    """The channel coin is deep enough to play."""

    coin: Coin
    height: int


@dataclass(frozen=True, slots=True)
class OpeningFailed:
    """The funding did not get in by its deadline; the wallet coins are free again."""

    deadline: int


@dataclass(frozen=True, slots=True)
class Proposed:
    """The other side offers these games."""

    group: Group


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A proposal ended without a game."""

    group: Group
    mine: bool
    reason: str


@dataclass(frozen=True, slots=True)
class NotProposed:
    """What we were to propose was never sent, and will not be."""

    wishes: tuple[Wish, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class GameStarted:
    """A proposal was accepted; this is one of its games, and our seat in it."""

    game: LiveGame
    player: Player


@dataclass(frozen=True, slots=True)
class YourTurn:
    """We hold the potato and the move in this game: answer with `Act`."""

    game_id: int


@dataclass(frozen=True, slots=True)
class Acted:
    """We sent a move or (where `after` is `before`) a settlement; `player` is our seat now."""

    game_id: int
    action: Action
    before: Position
    after: Position
    player: Player


@dataclass(frozen=True, slots=True)
class Moved:
    """The other side's move was found legal, by `runs` runs of its program; our seat now.

    `disagreements` tells where Python rules and program did not say the same.
    """

    game_id: int
    after: Position
    player: Player
    runs: int
    disagreements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GameSettled:
    """A game ended off chain: what we and the other side were paid, and who settled."""

    game_id: int
    by_us: bool
    ours: int
    theirs: int


@dataclass(frozen=True, slots=True)
class SawCards:
    """An early reveal of the other side fitted: our seat may see more now."""

    game_id: int
    player: Player


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that changes nothing and harms nobody was dropped: why."""

    reason: str


@dataclass(frozen=True, slots=True)
class ShutdownStarted:
    """The channel is being closed cleanly, at these balances (initiator's, receiver's)."""

    by_us: bool
    balances: tuple[int, int]


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """We stop playing by messages: why, and the state that we publish (None: none yet).

    `slashable` are the games in which an illegal move can be punished on chain.
    """

    blame: Blame
    published: int | None
    slashable: tuple[int, ...] = ()


News: TypeAlias = (
    FundingSent
    | ChannelOpen
    | OpeningFailed
    | Proposed
    | Cancelled
    | NotProposed
    | GameStarted
    | YourTurn
    | Acted
    | Moved
    | GameSettled
    | SawCards
    | Ignored
    | ShutdownStarted
    | BrokenOff
    | ChainNews
)
