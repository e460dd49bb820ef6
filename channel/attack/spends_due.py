"""Spends of the channel coin and of a published state, by the table of spec/channel.md.

They are judged by a block, the newest state that a side can complete, and the state that is
published: "Going on chain". What a side has sent by then is made again as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from channelsim.channel.chain.coins import Coin
from channelsim.channel.peer.interface import BrokenOff, Effect, OwnFault, Push, Tell
from channelsim.channel.peer.onchain.dispute import Dispute
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.protocol.half_signed import unroll_coin

FUNDED = (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING, Phase.COMPLETED)
"""The phases of a side that wants the channel coin to be there."""


def wrong_spends(after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find spends of a side on chain that are wrong."""
    dispute = after.dispute
    if dispute is None or after.shown is not None:
        return
    channel = dispute.endpoint.channel.coin
    pushes = [effect for effect in effects if isinstance(effect, Push)]
    published = unroll_coin(dispute.endpoint.channel, dispute.newest.state)
    for push in pushes:
        if push.name.partition("+")[0] == "unroll":
            spends = [spend for spend in push.bundle.spends if spend.coin == channel]
            if not any(published.puzzle_hash in spend.solution for spend in spends):
                number = dispute.newest.state.number
                yield f"it publishes another state than its newest one, number {number}"
        if push.name.partition("+")[0] == "preempt":
            yield from _wrong_preemption(dispute, push)
    for game_id in _asked_again(after, dispute):
        yield f"it asks its player again for what it sent in game {game_id}"


def missing_spends(before: PeerState, after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find a state that a side lacks as it leaves, and a funding that is not published at once."""
    spent = {
        spend.coin
        for effect in effects
        if isinstance(effect, Push)
        for spend in effect.bundle.spends
    }
    opened, dispute = after.opening.opened, after.dispute
    is_new = after.phase is Phase.FUNDING and before.phase is Phase.OPENING
    if is_new and opened is not None and opened.channel.launcher not in spent:
        yield "it has the completed funding, and does not publish it"
    if after.phase is not Phase.ON_CHAIN or before.dispute is not None or dispute is None:
        return
    told = [effect.news for effect in effects if isinstance(effect, Tell)]
    leaves = any(isinstance(news, BrokenOff | OwnFault) for news in told)
    channel = dispute.endpoint.channel.coin
    if leaves and after.shown is None and _is_unspent(after, channel) and channel not in spent:
        yield "it leaves for the chain, and publishes no state"


def needless_funding(after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find a funding that is published with a block by a side that has left before it was deep.

    An answer of its node to what it has published before is no block.
    """
    if after.dispute is None or after.was_deep:
        return
    pushes = [effect for effect in effects if isinstance(effect, Push)]
    if any(push.name.partition("+")[0] == "funding" for push in pushes):
        yield "it has left the channel, and publishes a funding that was never deep"


def missing_funding(after: PeerState, effects: Sequence[Effect]) -> Iterator[str]:
    """Find a funding that is not published with a block, though the channel coin is not there.

    A reorganisation may have taken it back. A side that has left publishes it if it was deep.
    """
    opened, has_left = after.opening.opened, after.dispute is not None and after.was_deep
    if opened is None or opened.bundle is None or after.shown is not None:
        return
    is_due = after.phase in FUNDED or (has_left and after.phase is Phase.ON_CHAIN)
    is_there = any(seen.coin == opened.channel.coin for seen in after.block.coins)
    pushed = {
        spend.coin
        for effect in effects
        if isinstance(effect, Push)
        for spend in effect.bundle.spends
    }
    is_late = after.block.peak >= opened.deadline
    if is_due and not (is_there or is_late or opened.channel.launcher in pushed):
        yield "its channel coin is not there, and it does not publish the funding"


def _wrong_preemption(dispute: Dispute, push: Push) -> Iterator[str]:
    """A stale state of the other side is preempted, and nothing else."""
    lineage, newest = dispute.lineage, dispute.newest.state
    state = lineage.published if lineage is not None else None
    if state is None:
        return
    if state.number % 2 == dispute.endpoint.side or state.number >= newest.number:
        yield f"it preempts state {state.number} with state {newest.number}"


def _asked_again(state: PeerState, dispute: Dispute) -> Iterator[int]:
    """The games that wait for a player who has moved in them, or settled them, in F + 1."""
    play = state.play
    if play is None or play.state.number <= dispute.newest.state.number:
        return
    for game_id, tracked in dispute.undecided.items():
        counts, sent = dispute.newest.state.game(game_id), play.state.game(game_id)
        is_there = counts is not None and tracked.game.coin == counts.coin
        if is_there and (sent is None or sent.coin != tracked.game.coin):
            yield game_id


def _is_unspent(state: PeerState, coin: Coin) -> bool:
    return any(seen.coin == coin and seen.spent is None for seen in state.block.coins)
