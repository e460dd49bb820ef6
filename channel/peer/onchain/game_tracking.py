"""A game on chain: the coins that it went through, and what is to be done about the last one.

Source: the state channel, "Going on chain", from "On chain: moves must be in" on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from channel.chain.coins import Coin
from channel.chain.observations import CoinSeen
from channel.peer.endpoint import Endpoint
from channel.peer.onchain.signed_games import SignedGames
from channel.peer.onchain.tracked_coins import TrackedCoin, advance
from channel.peer.slashable import SlashableMove
from channel.protocol.spend_parsing import GameSpend, MovedTo, Slashed, TimedOut, game_spend
from channel.protocol.state import LiveGame, Side
from games import registry
from games.referee import GameCoin

LAST_CHANCE = 3
"""Blocks before its deadline in which a move no longer waits for anything."""

Decided = Mapping[GameCoin, LiveGame | None]
"""What we do where it was ours to choose: the move, or None to move no more. By the coin's
fields, not its id: in the same place we do the same again, whichever block it came back in."""


@dataclass(frozen=True, slots=True)
class View:
    """What a look at the chain has before it: the picture, and what we know and decided."""

    endpoint: Endpoint
    records: SignedGames
    decided: Decided
    judged: Mapping[bytes, TrackedCoin]
    picture: Mapping[bytes, CoinSeen]
    peak: int

    @property
    def side(self) -> Side:
        """Which side we are."""
        return self.endpoint.side

    def ours(self, game: LiveGame) -> LiveGame | None:
        """The move that we made, or mean to make, at this coin."""
        return self.records.sent_from(game) or self.decided.get(game.coin)

    def deep(self, height: int) -> bool:
        """Whether what happened at this height counts as final."""
        return self.peak - height >= self.endpoint.confirmations


@dataclass(frozen=True, slots=True)
class Track:
    """The coins of one game, oldest first, each with the coin as the chain has it.

    The last one's coin is None while the chain has not been asked for it. `end` is how it was
    spent, None while the node does not say; `lost`: in a way that no referee lets through.
    """

    coins: tuple[TrackedCoin, ...]
    seen: tuple[CoinSeen | None, ...]
    end: GameSpend | None = None
    lost: bool = False

    @property
    def tip(self) -> TrackedCoin:
        """The last coin."""
        return self.coins[-1]

    @property
    def tip_seen(self) -> CoinSeen | None:
        """The last coin as the chain has it."""
        return self.seen[-1]


def follow(view: View, start: TrackedCoin) -> Track:
    """All that became of a game coin."""
    coins, seen = [start], [view.picture.get(start.coin.id)]
    while True:
        tracked, now = coins[-1], seen[-1]
        if now is None or now.spent is None or now.solution is None:
            return Track(tuple(coins), tuple(seen))
        end = game_spend(tracked.game.coin, now.solution)
        if not isinstance(end, MovedTo):
            return Track(tuple(coins), tuple(seen), end, lost=end is None)
        child = tracked.child(end.coin)
        reached = view.judged.get(child.id) or advance(
            view.endpoint, tracked, end.coin, view.ours(tracked.game)
        )
        coins.append(reached)
        seen.append(view.picture.get(child.id))


# --- what is to be done --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Slash:
    """The last move was illegal: take everything."""

    fault: SlashableMove


@dataclass(frozen=True, slots=True)
class Move:
    """Make this move; `redo`: it was sent before. `risky`: it could not wait as it should."""

    after: LiveGame
    redo: bool
    risky: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """The timeout has come, and pays us something."""


@dataclass(frozen=True, slots=True)
class Ask:
    """It is our turn, and the player has not decided."""


@dataclass(frozen=True, slots=True)
class Give:
    """Nothing in it is ours, and nothing can be done about that."""


@dataclass(frozen=True, slots=True)
class Hold:
    """Nothing is to be done now."""


Todo: TypeAlias = Slash | Move | Claim | Ask | Give | Hold


def todo(view: View, tracked: TrackedCoin, born: int) -> Todo:
    """What to do about an unspent game coin that was made at this height."""
    game = tracked.game
    age = view.peak - born
    if tracked.slashable is not None:
        # No timelock, and everything to win: a slash is good until the coin is spent.
        return Slash(tracked.slashable)
    may_move = False
    if game.mover is view.side and game.coin.infohash_b:
        redo = view.records.sent_from(game)
        open_to_us = tracked.player is not None and not view.records.settled_by_us(game)
        undecided = redo is None and game.coin not in view.decided
        after = redo or view.decided.get(game.coin)
        may_move = open_to_us and (undecided or after is not None)
        if may_move and age < game.coin.timeout:
            return _move(view, tracked, age, after, redo is not None) if after else Ask()
    nothing_to_wait_for = game.mover is view.side and not may_move
    if not game.shares()[view.side] and (age >= game.coin.timeout or nothing_to_wait_for):
        return Give()
    return Claim() if age >= game.coin.timeout else Hold()


def _move(view: View, tracked: TrackedCoin, age: int, after: LiveGame, redo: bool) -> Todo:
    """Our move, unless it has to wait until what it answers is safe from reorganisations."""
    safe = (
        redo
        or tracked.first
        or age >= view.endpoint.confirmations
        or not registry.get(tracked.game.terms.game).reveals
    )
    if not safe and age < tracked.game.coin.timeout - LAST_CHANCE:
        return Hold()
    return Move(after, redo, not safe)


# --- how it ended --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Payout:
    """What a game that ended pays, in mojos. `final`: as deep as we want it."""

    ours: int
    theirs: int
    final: bool


def payout(view: View, track: Track) -> Payout | None:
    """What a game paid, or will pay without our doing; None while that is open."""
    tracked, seen = track.tip, track.tip_seen
    if seen is None or track.lost or (seen.spent is not None and track.end is None):
        return None
    coin = tracked.game.coin
    deep = seen.spent is not None and view.deep(seen.spent)
    if isinstance(track.end, Slashed):
        ours = coin.amount if tracked.game.mover is view.side else 0
        return Payout(ours, coin.amount - ours, deep)
    ours = tracked.game.shares()[view.side]
    if track.end is None and not isinstance(todo(view, tracked, seen.born), Give):
        return None
    # A share of nothing stays so, whether and when the other side claims the rest, once no
    # reorganisation can bring back the time in which the game was to be moved.
    given = not ours and view.deep(seen.born + coin.timeout)
    return Payout(ours, coin.amount - ours, deep or given)


def slasher(view: View, tracked: TrackedCoin) -> str:
    """Who slashed at this coin, as its mover."""
    return "us" if tracked.game.mover is view.side else "them"


def paid_coins(view: View, track: Track, paid: Payout) -> tuple[Coin | None, Coin | None]:
    """The coins that a spent game coin paid us and the other side."""
    match track.end:
        case TimedOut(mover_address, waiter_address):
            pass
        case Slashed(mover_address):
            waiter_address = b""
        case _:
            return None, None
    parent = track.tip.coin.id
    we_move = track.tip.game.mover is view.side
    ours, theirs = mover_address, waiter_address
    if not we_move:
        ours, theirs = theirs, ours
    return (
        Coin(parent, ours, paid.ours) if paid.ours else None,
        Coin(parent, theirs, paid.theirs) if paid.theirs else None,
    )
