"""Decisions about unspent game coins, and payouts of the games that ended.

Source: spec/channel.md, "Playing on chain".
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.onchain.dispute import ChainView
from channelsim.channel.peer.onchain.lineage import Track, TrackedCoin
from channelsim.channel.peer.slashable import SlashableMove
from channelsim.channel.protocol.spend_parsing import Slashed, TimedOut
from channelsim.channel.protocol.state import LiveGame
from channelsim.games import registry

LAST_CHANCE = 3
"""Blocks before its deadline in which a move no longer waits, multiplied by the spacing."""


class SlashMove(msgspec.Struct, frozen=True):
    """Slash: the last move was illegal, and we take everything."""

    illegal: SlashableMove


class MakeMove(msgspec.Struct, frozen=True):
    """Make this move; `redo`: it was sent off chain. `risky`: it could not wait long enough."""

    after: LiveGame
    redo: bool
    risky: bool


class ClaimTimeout(msgspec.Struct, frozen=True):
    """Claim: the timeout has come, and pays us something."""


class AskPlayer(msgspec.Struct, frozen=True):
    """Ask the player, who has not decided yet."""


class LetGo(msgspec.Struct, frozen=True):
    """Forfeit: nothing in the coin is ours, and no spend can change that."""


class Wait(msgspec.Struct, frozen=True):
    """Do nothing with this block."""


Decision: TypeAlias = SlashMove | MakeMove | ClaimTimeout | AskPlayer | LetGo | Wait


def decide(view: ChainView, tracked: TrackedCoin, born: int) -> Decision:
    """Decide what to do about an unspent game coin that was made at this height."""
    game = tracked.game
    age = view.peak - born
    if tracked.slashable is not None:
        # No timelock, and everything to win: a slash is possible until the coin is spent.
        return SlashMove(tracked.slashable)
    may_move = False
    if game.mover is view.side and game.coin.infohash_b:
        signed = view.dispute.signed_games
        redo = signed.sent_from(game)
        open_to_us = tracked.player is not None and not signed.settled_by_us(game)
        undecided = redo is None and game.coin not in view.decided
        after = redo or view.decided.get(game.coin)
        may_move = open_to_us and (undecided or after is not None)
        if may_move and age < game.coin.timeout:
            return _move(view, tracked, age, after, redo is not None) if after else AskPlayer()
    nothing_to_wait_for = game.mover is view.side and not may_move
    if not game.shares()[view.side] and (age >= game.coin.timeout or nothing_to_wait_for):
        return LetGo()
    return ClaimTimeout() if age >= game.coin.timeout else Wait()


def _move(view: ChainView, tracked: TrackedCoin, age: int, after: LiveGame, redo: bool) -> Decision:
    """Make our move, unless it has to wait until the move that it answers is deep."""
    safe = (
        redo
        or tracked.first
        or age >= view.endpoint.confirmations
        or not registry.get(tracked.game.terms.game).reveals
    )
    last_chance = view.endpoint.spacing * LAST_CHANCE
    if not safe and age < tracked.game.coin.timeout - last_chance:
        return Wait()
    return MakeMove(after, redo, not safe)


# --- payouts -----------------------------------------------------------------------------------


class Payout(msgspec.Struct, frozen=True):
    """Payout of a game that ended, in mojos. `final`: at confirmation depth."""

    ours: int
    theirs: int
    final: bool


def payout(view: ChainView, track: Track) -> Payout | None:
    """Work out what a game paid, or will pay whatever we do; None while that is open."""
    tracked, seen = track.tip, track.tip_seen
    if seen is None or track.lost or (seen.spent is not None and track.end is None):
        return None
    coin = tracked.game.coin
    deep = seen.spent is not None and view.deep(seen.spent)
    if isinstance(track.end, Slashed):
        ours = coin.amount if tracked.game.mover is view.side else 0
        return Payout(ours, coin.amount - ours, deep)
    ours = tracked.game.shares()[view.side]
    if track.end is None and not isinstance(decide(view, tracked, seen.born), LetGo):
        return None
    # A share of nothing is final, whether or not the other side claims the rest, once no
    # reorganisation can bring back the time in which we could move.
    given = not ours and view.deep(seen.born + coin.timeout)
    return Payout(ours, coin.amount - ours, deep or given)


def paid_coins(view: ChainView, track: Track, paid: Payout) -> tuple[Coin | None, Coin | None]:
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
