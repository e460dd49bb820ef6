"""Scan of one block: each time, the channel is followed from its coin to the last payout.

Facts that a reorganisation removed are reported as undone; spends that are due and not
confirmed are pushed again. Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from itertools import takewhile

import msgspec

from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.peer.chain_news import (
    ChannelClosed,
    Fact,
    GameVoid,
    StateCounts,
    Undone,
    UnknownSpend,
    UnrollSeen,
)
from channelsim.channel.peer.interface import Effect, OpeningFailed, Push, Tell, Watch
from channelsim.channel.peer.onchain.chain_view import ChainView
from channelsim.channel.peer.onchain.dispute_state import Dispute, Status
from channelsim.channel.peer.onchain.fee_offers import FeeOffers, offer_fees
from channelsim.channel.peer.onchain.findings import Due, Findings
from channelsim.channel.peer.onchain.scan_games import record_decision, scan_games
from channelsim.channel.peer.onchain.tracked_coins import TrackedCoin
from channelsim.channel.protocol.half_signed import preempt, publish, time_out, unroll_coin
from channelsim.channel.protocol.state import ChannelState, LiveGame
from channelsim.games.contract import Action


def scan(dispute: Dispute, block: Block) -> tuple[Dispute, list[Effect]]:
    """Scan a block: update the dispute, and return the effects in order."""
    view = ChainView.of(dispute, block)
    found = _channel_coin(dispute, view)
    return _conclude(dispute, block, found, offer_fees(dispute, view, found.due))


def take_decision(
    dispute: Dispute, tracked: TrackedCoin, action: Action
) -> tuple[Dispute, list[Effect]]:
    """Take the player's decision at a game coin. Raises `IllegalAction`."""
    found = record_decision(dispute.endpoint, tracked, action)
    decided = {**dispute.decided, **found.decided}
    return msgspec.structs.replace(dispute, decided=decided), [
        *found.stores,
        *map(Tell, found.news),
    ]


def _conclude(
    dispute: Dispute, block: Block, found: Findings, offers: FeeOffers
) -> tuple[Dispute, list[Effect]]:
    """The dispute after a scan, and all effects in their order."""
    facts, status = found.facts, found.status
    if not found.complete:
        # A fact that the node hides may still hold: nothing is undone until all is known.
        facts = tuple(dict.fromkeys((*dispute.reported, *facts)))
        status = status if dispute.status is Status.OPEN else dispute.status
    coins = dict.fromkeys((*found.coins, *offers.coins))
    new_coins = [coin for coin in coins if coin not in dispute.watched]
    tracked = {one.coin: one for track in found.tracks.values() for one in track.coins}
    after = msgspec.structs.replace(
        dispute,
        status=status,
        reported=facts,
        watched=dispute.watched.union(new_coins),
        decided={**dispute.decided, **found.decided},
        warned=dispute.warned | found.warned,
        tracked={**dispute.tracked, **tracked},
        tracks=found.tracks,
        undecided=found.undecided,
        fee_coin=offers.fee_coin,
        changes=offers.changes,
        fee_bundle=offers.fee_bundle,
        block=block,
    )
    return after, [
        *found.stores,
        *map(Watch, new_coins),
        *offers.pushes,
        *(one.push for one in found.due),
        *map(Tell, (*_changes(dispute.reported, facts), *found.news)),
    ]


def _changes(before: tuple[Fact, ...], now: tuple[Fact, ...]) -> list[Fact | Undone]:
    """The facts that no longer hold, and then the new ones."""
    if now == before:
        return []
    return [
        *(Undone(fact) for fact in before if fact not in now),
        *(fact for fact in now if fact not in before),
    ]


# --- the channel coin --------------------------------------------------------------------------


def _channel_coin(dispute: Dispute, view: ChainView) -> Findings:
    """Follow the channel coin wherever it went."""
    seen = view.seen(dispute.endpoint.channel.coin)
    if seen is None:
        return _unfunded(dispute, view)
    if seen.spent is None:
        return _publish(dispute, view, seen)
    if seen.solution is None:
        return _hidden_spend(dispute, view, seen.spent)
    return _known_spend(dispute, view, seen.solution, seen.spent)


def _unfunded(dispute: Dispute, view: ChainView) -> Findings:
    """There is no channel coin: it may still come, or come back after a reorganisation."""
    if view.peak < dispute.deadline:
        funding = dispute.funding
        return Findings(due=(Due(Push("funding", funding), 0, 0),) if funding else ())
    news = OpeningFailed(dispute.deadline)
    return Findings(
        status=Status.UNFUNDED, news=(news,) if dispute.status is not Status.UNFUNDED else ()
    )


def _publish(dispute: Dispute, view: ChainView, seen: CoinSeen) -> Findings:
    """Spend the channel coin to the unroll coin of the newest state that we can complete."""
    channel, newest = dispute.endpoint.channel, dispute.newest
    bundle = publish(channel, dispute.endpoint.secret_keys, newest)
    waited = view.peak - max(dispute.began, seen.born)
    due = Due(Push("unroll", bundle), waited, None)
    return Findings(coins=(unroll_coin(channel, newest.state),), due=(due,))


def _hidden_spend(dispute: Dispute, view: ChainView, height: int) -> Findings:
    """The channel coin was spent, but the node does not say how, or not yet.

    The publisher can make the solution too large for a node to give. So we search for the
    coins of our shutdown, and for the unroll coin of each of our states.
    """
    looked_for: tuple[Coin, ...] = ()
    if dispute.shutdown is not None:
        rewards = dispute.shutdown.rewards()
        there = tuple(takewhile(view.seen, rewards))
        looked_for = rewards[: len(there) + 1]
        if there == rewards:
            return Findings(coins=looked_for) + _shut_down(dispute, view, height)
    for link in dispute.signed_games.history:
        coin = unroll_coin(dispute.endpoint.channel, link.state)
        looked_for += (coin,)
        seen = view.seen(coin)
        if seen is not None:
            return Findings(coins=looked_for) + _unroll(dispute, view, link.state, coin, seen)
    return Findings(coins=looked_for, complete=False)


def _known_spend(dispute: Dispute, view: ChainView, solution: bytes, height: int) -> Findings:
    channel, shutdown = dispute.endpoint.channel, dispute.shutdown
    if shutdown is not None and shutdown.is_paid_by(solution):
        return _shut_down(dispute, view, height)
    state = dispute.signed_games.published(solution)
    if state is None:
        return Findings(facts=(UnknownSpend(channel.coin, height),))
    coin = unroll_coin(channel, state)
    found, seen = Findings(coins=(coin,)), view.seen(coin)
    if seen is None:
        return found + Findings(facts=(UnrollSeen(state.number, coin, height),))
    return found + _unroll(dispute, view, state, coin, seen)


def _shut_down(dispute: Dispute, view: ChainView, height: int) -> Findings:
    if dispute.shutdown is None or not view.deep(height):
        return Findings()
    closed = ChannelClosed(dispute.shutdown.rewards(), height)
    return Findings(facts=(closed,), status=Status.SHUT)


# --- the unroll coin ---------------------------------------------------------------------------


def _unroll(
    dispute: Dispute, view: ChainView, state: ChannelState, coin: Coin, seen: CoinSeen
) -> Findings:
    """Follow the unroll coin of a published state."""
    found = Findings(facts=(UnrollSeen(state.number, coin, seen.born),))
    if seen.spent is None:
        return found + _unspent_unroll(dispute, view, state, seen)
    if seen.solution is None:
        return found + Findings(complete=False)
    return found + _spent_unroll(dispute, view, state, coin, seen.solution, seen.spent)


def _unspent_unroll(
    dispute: Dispute, view: ChainView, state: ChannelState, seen: CoinSeen
) -> Findings:
    """Preempt a stale state of the other side, or pay the state out after its timeout.

    Who published the state does not matter, but its number does.
    """
    endpoint, newest = dispute.endpoint, dispute.newest
    theirs = state.number % 2 != endpoint.side
    if state.number < newest.state.number and theirs:
        # At once: from the timeout on the other side can pin its own spend.
        bundle = preempt(endpoint.channel, endpoint.secret_keys, newest, state)
        return Findings(due=(Due(Push("preempt", bundle), view.peak - seen.born, None),))
    # F; or S, which the other side completed; or an old state of our own parity.
    due_at = seen.born + endpoint.channel.unroll_timeout
    if view.peak < due_at:
        return Findings()
    worth = state.balances[endpoint.side] + sum(game.coin.amount for game in state.games)
    push = Push("unroll-timeout", time_out(endpoint.channel, state))
    return Findings(due=(Due(push, view.peak - due_at - endpoint.confirmations, worth),))


def _spent_unroll(
    dispute: Dispute,
    view: ChainView,
    published: ChannelState,
    coin: Coin,
    solution: bytes,
    height: int,
) -> Findings:
    """Follow the state that the unroll coin was spent to: it counts from now on."""
    state = dispute.signed_games.outcome(published, solution)
    if state is None:
        return Findings(facts=(UnknownSpend(coin, height),))
    initiators, receivers = (
        Coin(coin.id, address, balance) if balance else None
        for address, balance in zip(dispute.endpoint.channel.rewards, state.balances, strict=True)
    )
    firsts = [_first_coin(dispute, view, state, game, coin) for game in state.games]
    counts = StateCounts(
        state.number,
        state.number != published.number,
        state.number < dispute.newest.state.number,
        (initiators, receivers),
        tuple((first.game.id, first.coin) for first in firsts),
        height,
    )
    void = dispute.signed_games.games_not_in(state)
    facts: tuple[Fact, ...] = (counts, *(GameVoid(game_id, state.number) for game_id in void))
    return Findings(facts=facts) + scan_games(dispute, view, state, firsts, height)


def _first_coin(
    dispute: Dispute, view: ChainView, state: ChannelState, game: LiveGame, parent: Coin
) -> TrackedCoin:
    """A game's coin as it came out of the unroll coin, and our seat as of it."""
    coin = Coin(parent.id, game.coin.puzzle_hash(), game.coin.amount)
    known = view.tracked.get(coin)
    if known is not None:
        return known
    at_newest = state.number == dispute.newest.state.number
    slashable = dispute.slashable.get(game.id) if at_newest else None
    player = None
    if slashable is None:
        live = dict(dispute.players).get(game.id)
        # Only the seat of off-chain play knows what an early reveal has shown.
        fits = live is not None and live.position == game.position
        player = live if fits else dispute.signed_games.player_at(state, game)
    return TrackedCoin(game, coin, player, slashable, first=True)
