"""Transitions to the chain: after a violation or a fault, by our wish, or after the other side.

Source: spec/channel.md, "Going on chain".
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import Blame, InvariantError, Violation
from channelsim.channel.peer import interface
from channelsim.channel.peer.chain_news import LeftForChain, UnilateralClose
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    BrokenOff,
    Effect,
    Fault,
    NotProposed,
    OldCopy,
    OwnFault,
    Tell,
    Watch,
)
from channelsim.channel.peer.onchain.dispute import Dispute, Status
from channelsim.channel.peer.onchain.scan import scan
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.peer.peer_state import (
    PeerState,
    Phase,
    Transition,
    endpoint_and_play,
    endpoint_of,
    opened_of,
    play_of,
)
from channelsim.channel.peer.phases.decks import drop_all
from channelsim.channel.peer.slashable import SlashableMove
from channelsim.channel.protocol.half_signed import unroll_coin

PHASE_OF = {
    Status.OPEN: Phase.ON_CHAIN,
    Status.UNFUNDED: Phase.FAILED,
    Status.SHUT: Phase.CLOSED,
    Status.SETTLED: Phase.CLOSED,
}
"""The phase of a peer whose channel is on chain."""


def blame(config: Config, step: str, violation: Violation) -> Blame:
    """Blame the counterparty for a violation at this step."""
    return Blame(config.peer, step, violation.rule, violation.detail)


def break_off(
    config: Config,
    state: PeerState,
    accused: Blame,
    slashable: Mapping[int, SlashableMove] | None = None,
) -> Transition:
    """Stop off-chain play after a violation: publish the newest state that we can complete.

    `slashable` are the illegal moves of that state that we can slash, by game.
    """
    if state.opening.opened is None:
        return replace(state, phase=Phase.FAILED), [Tell(BrokenOff(accused, None))]
    slashable = slashable or {}
    news = BrokenOff(accused, play_of(state).newest.state.number, tuple(slashable))
    return _close(config, state, news, slashable)


def on_fault(config: Config, state: PeerState, fault: Fault) -> Transition:
    """Stop off-chain play because we cannot go on with it, as after a violation of the other side.

    What we could not handle would come again: the other side repeats its message.
    """
    if state.opening.opened is None:
        return replace(state, phase=Phase.FAILED), [Tell(OwnFault(fault.reason, None))]
    news = OwnFault(fault.reason, play_of(state).newest.state.number)
    return _close(config, state, news, {})


def leave(config: Config, state: PeerState, reason: str) -> Transition:
    """Go on chain though the counterparty broke no rule."""
    return _close(config, state, LeftForChain(reason, play_of(state).newest.state.number), {})


def follow(config: Config, state: PeerState, height: int) -> Transition:
    """Follow the counterparty, whose unilateral close spent the channel coin at this height."""
    state, effects = _go_on_chain(config, state, {})
    state, more = scan_block(state)
    return state, [*effects, Tell(UnilateralClose(height)), *more]


def outdated(state: PeerState, signed: int) -> Transition:
    """Stop for good: we signed a state of this number that we do not know.

    Until the other side closes the channel, we sign and publish nothing (CH-RESUME-3).
    """
    known = play_of(state).state.number
    state, erased = drop_all(state)
    state = replace(state, phase=Phase.OUTDATED, resuming=False, shown=signed)
    state, cancelled = end_proposals(state, "this is an old copy of the store")
    return state, [*erased, Tell(OldCopy(signed, known)), *cancelled]


def publish_old(config: Config, state: PeerState, reason: str) -> Transition:
    """Publish the newest state that an old copy can complete: its player wants to.

    The other side chooses between it and a newer one.
    """
    effects: list[Effect] = []
    if state.dispute is None:
        state, effects = _go_on_chain(config, state, {})
    state = replace(state, dispute=replace(dispute_of(state), publishes_old=True))
    state, pushes = _publish(state)
    number = play_of(state).newest.state.number
    return state, [*effects, *pushes, Tell(LeftForChain(reason, number))]


def scan_block(state: PeerState) -> Transition:
    """Scan the newest block in the dispute."""
    return with_dispute(state, *scan(dispute_of(state), state.block))


def with_dispute(state: PeerState, dispute: Dispute, effects: list[Effect]) -> Transition:
    """The state with the dispute as it is now."""
    return replace(state, dispute=dispute, phase=PHASE_OF[dispute.status]), effects


def dispute_of(state: PeerState) -> Dispute:
    """The dispute. Raises `InvariantError` while the channel is not on chain."""
    if state.dispute is None:
        raise InvariantError("the channel is not on chain")
    return state.dispute


def end_proposals(state: PeerState, reason: str) -> Transition:
    """Notify the player, once, that open and unsent proposals come to nothing."""
    if state.proposals_ended:
        return state, []
    endpoint, play = endpoint_and_play(state)
    unsent = [one for one in play.queue if isinstance(one, interface.ProposeGames)]
    return replace(state, proposals_ended=True), [
        *(Tell(endpoint.cancelled(group, reason)) for group in play.state.groups),
        *(Tell(NotProposed(one.wishes, reason)) for one in unsent),
    ]


def _close(
    config: Config, state: PeerState, news: interface.News, slashable: Mapping[int, SlashableMove]
) -> Transition:
    """Begin the dispute by publishing the newest state that we can complete, for this reason."""
    state, effects = _go_on_chain(config, state, slashable)
    state, pushes = _publish(state)
    return state, [*effects, *pushes, Tell(news)]


def _go_on_chain(
    config: Config, state: PeerState, slashable: Mapping[int, SlashableMove]
) -> Transition:
    """Begin the dispute: from here on only the chain counts."""
    state, erased = drop_all(state)
    opened, play = opened_of(state), play_of(state)
    endpoint, peak = endpoint_of(state), state.block.peak
    dispute = Dispute(
        endpoint=endpoint,
        newest=play.newest,
        signed_games=SignedGames.of(endpoint, play.history),
        slashable=slashable,
        players=play.players,
        deadline=opened.deadline,
        funding=opened.bundle if state.was_deep and state.shown is None else None,
        began=peak,
        shutdown=state.shutdown,
        shown=state.shown,
        watched=frozenset((endpoint.channel.coin,)),
        block=Block(peak),
    )
    state = replace(state, phase=Phase.ON_CHAIN, dispute=dispute)
    state, effects = end_proposals(state, "the channel is on chain")
    return state, [*erased, *effects]


def _publish(state: PeerState) -> Transition:
    """Publish at once, or as soon as the channel coin is there: its funding may be pending."""
    endpoint, newest, opened = endpoint_of(state), play_of(state).newest, opened_of(state)
    if any(seen.coin == endpoint.channel.coin for seen in state.block.coins):
        return scan_block(state)
    coins = (unroll_coin(endpoint.channel, newest.state), *opened.wallet_coins)
    return state, [Watch(coin) for coin in coins]
