"""Payouts of games that ended on chain, and their coins."""

from __future__ import annotations

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.onchain.chain_view import ChainView
from channelsim.channel.peer.onchain.decisions import LetGo, decide
from channelsim.channel.peer.onchain.lineage import Track
from channelsim.channel.protocol.spend_parsing import Slashed, TimedOut


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
