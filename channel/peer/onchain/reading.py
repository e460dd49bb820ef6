"""Reading the lineage of a channel from the coins of a block.

The channel is followed from its coin to the unroll coin, and each game through its moves.
Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import CoinSeen
from channelsim.channel.peer.chain_news import (
    Fact,
    GameVoid,
    IllegalOnChain,
    MovedOnChain,
    StateCounts,
    UnknownSpend,
    UnrollSeen,
)
from channelsim.channel.peer.onchain import unknown_state
from channelsim.channel.peer.onchain.chain_view import ChainView
from channelsim.channel.peer.onchain.lineage import Lineage, Track
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin, advance
from channelsim.channel.peer.onchain.unknown_state import UnknownState, created_by
from channelsim.channel.protocol.half_signed import unroll_coin
from channelsim.channel.protocol.spend_parsing import MovedTo, game_spend
from channelsim.channel.protocol.state import ChannelState, LiveGame


def read_lineage(view: ChainView) -> Lineage:
    """Follow the channel coin wherever it went."""
    dispute = view.dispute
    channel, shutdown = dispute.endpoint.channel, dispute.shutdown
    seen = view.seen(channel.coin)
    if seen is None:
        return Lineage(None)
    if seen.spent is None:
        return Lineage(seen, (unroll_coin(channel, dispute.newest.state),))
    if seen.solution is None:
        return _hidden_spend(view, seen)
    if shutdown is not None and shutdown.is_paid_by(seen.solution):
        return Lineage(seen, shut=True)
    state = dispute.signed_games.published(seen.solution)
    if state is None:
        return _unknown_close(view, seen, created_by(seen.coin, seen.solution))
    coin = unroll_coin(channel, state)
    unroll = view.seen(coin)
    if unroll is None:
        return Lineage(seen, (coin,), (UnrollSeen(state.number, coin, seen.spent),))
    return _unrolled(view, Lineage(seen, (coin,)), state, unroll)


def _hidden_spend(view: ChainView, seen: CoinSeen) -> Lineage:
    """The channel coin was spent, but the node does not say how, or not yet.

    The publisher can make the solution too large for a node to give. So we go by the coins that
    the spend created: those of our shutdown, or the unroll coin of a state.
    """
    dispute = view.dispute
    children = view.children(seen.coin)
    if dispute.shutdown is not None:
        rewards = {*dispute.shutdown.rewards()}
        if not rewards.isdisjoint(children):
            shut = rewards.issubset(children)
            return Lineage(seen, shut=shut, complete=shut)
    for coin in children:
        state = dispute.signed_games.with_unroll_coin(coin)
        if state is not None:
            return _unrolled(view, Lineage(seen, (coin,)), state, view.coins[coin])
    if not children:
        return Lineage(seen, complete=False)
    return _unknown_close(view, seen, children)


def _unrolled(view: ChainView, lineage: Lineage, state: ChannelState, seen: CoinSeen) -> Lineage:
    """The lineage from the unroll coin of a published state on."""
    dispute = view.dispute
    lineage = replace(
        lineage,
        facts=(UnrollSeen(state.number, seen.coin, seen.born),),
        published=state,
        unroll=seen,
        complete=seen.spent is None or seen.solution is not None,
    )
    if seen.spent is None:
        return lineage
    if seen.solution is not None:
        counts = dispute.signed_games.outcome(state, seen.solution)
    else:
        timed_out = seen.spent - seen.born >= dispute.endpoint.channel.unroll_timeout
        children = view.children(seen.coin)
        counts = dispute.signed_games.paying(state, children, timed_out=timed_out)
    if counts is not None:
        preempted = counts.number != state.number
        return _paid_out(view, lineage, seen.coin, seen.spent, counts, preempted=preempted)
    if seen.solution is None:
        return lineage
    unknown = UnknownSpend(seen.coin, seen.spent)
    lineage = replace(lineage, facts=(*lineage.facts, unknown))
    found = unknown_state.paid_out(dispute.signed_games, seen.coin, seen.solution)
    return lineage if found is None else _paid_unknown(view, lineage, seen, found)


def _unknown_close(view: ChainView, channel: CoinSeen, children: tuple[Coin, ...]) -> Lineage:
    """The lineage of a close at a state unknown to us, which created these coins."""
    dispute, games = view.dispute, view.dispute.signed_games
    facts = () if dispute.shown is not None else (UnknownSpend(channel.coin, channel.spent or 0),)
    number = dispute.newest.state.number if dispute.shown is None else dispute.shown
    found = unknown_state.shut_down(games, children, number)
    if found is not None:
        return _paid_unknown(view, Lineage(channel, facts=facts, unroll=channel), channel, found)
    if len(children) != 1:
        return Lineage(channel, facts=facts)
    (coin,) = children
    unroll = view.seen(coin)
    lineage = Lineage(channel, (coin,), facts, unroll=unroll)
    if unroll is None or unroll.spent is None:
        return lineage
    if unroll.solution is None:
        return replace(lineage, complete=False)
    found = unknown_state.paid_out(games, coin, unroll.solution)
    return lineage if found is None else _paid_unknown(view, lineage, unroll, found)


def _paid_unknown(
    view: ChainView, lineage: Lineage, spent: CoinSeen, found: UnknownState
) -> Lineage:
    """The lineage from the coins of a state that we do not know on."""
    height = spent.spent or 0
    lineage = replace(lineage, facts=(*lineage.facts, *found.reported(height)))
    lineage = replace(lineage, published=found.state)
    return _paid_out(view, lineage, spent.coin, height, found.state, preempted=found.preempted)


def _paid_out(
    view: ChainView,
    lineage: Lineage,
    parent: Coin,
    height: int,
    counts: ChannelState,
    *,
    preempted: bool,
) -> Lineage:
    """The lineage from the coins of the state that was paid out on."""
    dispute = view.dispute
    firsts = [_first_coin(view, counts, game, parent) for game in counts.games]
    tracks = tuple([follow(view, first) for first in firsts])
    initiators, receivers = (
        Coin(parent.id, address, balance) if balance else None
        for address, balance in zip(dispute.endpoint.channel.rewards, counts.balances, strict=True)
    )
    paid = StateCounts(
        counts.number,
        preempted,
        counts.number < dispute.newest.state.number,
        (initiators, receivers),
        tuple((first.game.id, first.coin) for first in firsts),
        height,
    )
    void = dispute.signed_games.games_not_in(counts)
    return replace(
        lineage,
        coins=(*lineage.coins, *(tracked.coin for track in tracks for tracked in track.coins)),
        facts=(*lineage.facts, paid, *(GameVoid(game_id, counts.number) for game_id in void)),
        counts=counts,
        tracks=tracks,
        complete=not any(track.hidden for track in tracks),
    )


def _first_coin(view: ChainView, state: ChannelState, game: LiveGame, parent: Coin) -> TrackedCoin:
    """A game's coin as it came out of the unroll coin, and our seat as of it."""
    dispute = view.dispute
    coin = Coin(parent.id, game.coin.puzzle_hash(), game.coin.amount)
    known = dispute.tracked.get(coin)
    if known is not None:
        return known
    at_newest = state.number == dispute.newest.state.number
    slashable = dispute.slashable.get(game.id) if at_newest else None
    player = None
    if slashable is None:
        live = dispute.players.get(game.id)
        # Only the seat of off-chain play knows what an early reveal has shown.
        fits = live is not None and live.position == game.position
        player = live if fits else dispute.signed_games.player_at(state, game)
    return TrackedCoin(game, coin, player, slashable, first=True)


def follow(view: ChainView, first: TrackedCoin) -> Track:
    """Follow a game from its first coin to the last one."""
    coins, seen = [first], [view.seen(first.coin)]
    while True:
        tracked, now = coins[-1], seen[-1]
        if now is None or now.spent is None or now.solution is None:
            return Track(tuple(coins), tuple(seen), _moves(view, coins, seen))
        end = game_spend(tracked.game.coin, now.solution)
        if end is None:
            unknown = UnknownSpend(tracked.coin, now.spent)
            facts = (*_moves(view, coins, seen), unknown)
            return Track(tuple(coins), tuple(seen), facts, lost=True)
        if not isinstance(end, MovedTo):
            return Track(tuple(coins), tuple(seen), _moves(view, coins, seen), end)
        child = tracked.child(end.coin)
        reached = view.dispute.tracked.get(child) or advance(
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
