"""Scan of one block: what it says of the channel, and the spends that are due.

Facts that a reorganisation removed are reported as undone; spends that are due and not
confirmed are pushed again. Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from msgspec.structs import replace

from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.chain_news import ChannelClosed, Fact, Undone
from channelsim.channel.peer.interface import Effect, OpeningFailed, Push, Tell, Watch
from channelsim.channel.peer.onchain.dispute import ChainView, Dispute, Findings, Status
from channelsim.channel.peer.onchain.lineage import Lineage
from channelsim.channel.peer.onchain.reading import read_lineage
from channelsim.channel.peer.onchain.scan_games import record_decision, scan_games
from channelsim.channel.protocol.half_signed import preempt, publish, time_out
from channelsim.channel.protocol.state import ChannelState
from channelsim.games.contract import Action, Player
from channelsim.games.errors import IllegalAction


def scan(dispute: Dispute, block: Block) -> tuple[Dispute, list[Effect]]:
    """Scan a block: update the dispute, and return the effects in order."""
    view, lineage = ChainView.of(dispute, block), dispute.lineage
    if lineage is None or block.coins != dispute.block.coins:
        lineage = read_lineage(view)
    return _conclude(dispute, block, lineage, _due(view, lineage))


def act(dispute: Dispute, game_id: int, action: Action) -> tuple[Dispute, list[Effect]]:
    """Take the player's decision in a game on chain. Raises `UsageError`."""
    tracked = dispute.undecided.get(game_id)
    if tracked is None:
        raise UsageError(f"game {game_id} waits for no decision")
    try:
        found = record_decision(dispute.endpoint, tracked, action)
    except IllegalAction as error:
        raise UsageError(f"game {game_id}: {error}") from None
    dispute = replace(dispute, decided={**dispute.decided, **found.decided})
    after, effects = scan(dispute, dispute.block)
    return after, [*map(Tell, found.news), *effects]


def seat(dispute: Dispute, game_id: int) -> Player | None:
    """Our seat in a game that waits for our decision on chain."""
    tracked = dispute.undecided.get(game_id)
    return tracked.player if tracked else None


def _conclude(
    dispute: Dispute, block: Block, lineage: Lineage, found: Findings
) -> tuple[Dispute, list[Effect]]:
    """The dispute after a scan, and all effects in their order."""
    facts, status = lineage.facts + found.facts, found.status
    if not lineage.complete:
        # A fact that the node hides may still hold: nothing is undone until all is known.
        facts = tuple(dict.fromkeys((*dispute.reported, *facts)))
        status = status if dispute.status is Status.OPEN else dispute.status
    new_coins = [coin for coin in dict.fromkeys(lineage.coins) if coin not in dispute.watched]
    tracked = {one.coin: one for track in lineage.tracks for one in track.coins}
    after = replace(
        dispute,
        status=status,
        reported=facts,
        watched=dispute.watched.union(new_coins),
        decided={**dispute.decided, **found.decided},
        warned=dispute.warned | found.warned,
        tracked={**dispute.tracked, **tracked},
        undecided=found.undecided,
        block=block,
        lineage=lineage,
    )
    return after, [
        *map(Watch, new_coins),
        *found.due,
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


# --- what is due -------------------------------------------------------------------------------


def _due(view: ChainView, lineage: Lineage) -> Findings:
    """Find what is due at the coins that the money has come to."""
    channel, unroll = lineage.channel, lineage.unroll
    if channel is None:
        return _unfunded(view)
    if channel.spent is None:
        return _publish(view, channel)
    if lineage.shut:
        return _shut_down(view, channel.spent)
    if lineage.published is None or unroll is None:
        return Findings()
    if unroll.spent is None:
        return _unspent_unroll(view, lineage.published, unroll)
    if lineage.counts is None:
        return Findings()
    return scan_games(view, lineage.counts, lineage.tracks, unroll.spent)


def _unfunded(view: ChainView) -> Findings:
    """There is no channel coin: it may still come, or come back after a reorganisation."""
    dispute = view.dispute
    if view.peak < dispute.deadline:
        funding = dispute.funding
        if funding is None:
            return Findings()
        return Findings(due=(view.endpoint.funding_push(funding, dispute.deadline),))
    news = OpeningFailed(dispute.deadline)
    return Findings(
        status=Status.UNFUNDED, news=(news,) if dispute.status is not Status.UNFUNDED else ()
    )


def _publish(view: ChainView, seen: CoinSeen) -> Findings:
    """Spend the channel coin to the unroll coin of the newest state that we can complete."""
    dispute = view.dispute
    if dispute.shown is not None and not dispute.publishes_old:
        return Findings()  # CH-RESUME-3
    endpoint = dispute.endpoint
    bundle = publish(endpoint.channel, endpoint.secret_keys, dispute.newest)
    channel = endpoint.channel
    before = max(dispute.began, seen.born) + channel.unroll_timeout
    return Findings(due=(Push("unroll", bundle, channel.coin.amount, before),))


def _shut_down(view: ChainView, height: int) -> Findings:
    """Our shutdown spent the channel coin at this height: it is final once it is deep."""
    if view.dispute.shutdown is None:
        return Findings()
    closed = ChannelClosed(view.dispute.shutdown.rewards(), height)
    if not view.deep(height) and closed not in view.dispute.reported:
        return Findings()
    return Findings(facts=(closed,), status=Status.SHUT)


def _unspent_unroll(view: ChainView, state: ChannelState, seen: CoinSeen) -> Findings:
    """Preempt a stale state of the other side, or pay the state out after its timeout.

    Who published the state does not matter, but its number does.
    """
    endpoint, newest = view.endpoint, view.dispute.newest
    theirs = state.number % 2 != endpoint.side
    if state.number < newest.state.number and theirs:
        # At once: from the timeout on the other side can pin its own spend.
        bundle = preempt(endpoint.channel, endpoint.secret_keys, newest, state)
        before = seen.born + endpoint.channel.unroll_timeout
        return Findings(due=(Push("preempt", bundle, endpoint.channel.coin.amount, before),))
    # F; or S, which the other side completed; or an old state of our own parity.
    due_at = seen.born + endpoint.channel.unroll_timeout
    if view.peak < due_at:
        return Findings()
    worth = state.balances[endpoint.side] + sum(game.coin.amount for game in state.games)
    return Findings(due=(Push("unroll-timeout", time_out(endpoint.channel, state), worth),))
