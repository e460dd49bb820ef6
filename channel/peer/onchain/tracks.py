"""The way of each game on chain, from its first coin through its moves.

Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import Fact, IllegalOnChain, MovedOnChain
from channelsim.channel.peer.onchain.chain_view import ChainView
from channelsim.channel.peer.onchain.tracked_coins import Track, TrackedCoin, advance
from channelsim.channel.protocol.spend_parsing import MovedTo, game_spend


def follow(view: ChainView, first: TrackedCoin) -> Track:
    """Follow a game from its first coin to the last one, unless nothing has changed there."""
    known = view.tracks.get(first.game.id)
    if (
        known is not None
        and known.coins[0].coin == first.coin
        and known.seen == tuple([view.seen(tracked.coin) for tracked in known.coins])
    ):
        return known
    coins, seen = [first], [view.seen(first.coin)]
    while True:
        tracked, now = coins[-1], seen[-1]
        if now is None or now.spent is None or now.solution is None:
            return Track(tuple(coins), tuple(seen), _moves(view, coins, seen))
        end = game_spend(tracked.game.coin, now.solution)
        if not isinstance(end, MovedTo):
            return Track(tuple(coins), tuple(seen), _moves(view, coins, seen), end, end is None)
        child = tracked.child(end.coin)
        reached = view.tracked.get(child) or advance(
            view.endpoint, tracked, end.coin, view.our_move(tracked.game)
        )
        coins.append(reached)
        seen.append(view.seen(child))


def _moves(
    view: ChainView, coins: Sequence[TrackedCoin], seen: Sequence[CoinSeen | None]
) -> tuple[Fact, ...]:
    """All moves, and then the illegal ones that we can slash."""
    moves = (
        MovedOnChain(
            after.game.id,
            before.game.mover is view.side,
            after.coin,
            (spend.spent if spend is not None else None) or 0,
        )
        for before, after, spend in zip(coins, coins[1:], seen, strict=False)
    )
    illegal = (
        IllegalOnChain(tracked.game.id, tracked.slashable.rule, tracked.coin)
        for tracked in coins
        if tracked.slashable is not None
    )
    return (*moves, *illegal)
