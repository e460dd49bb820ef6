"""Transitions with each block: deadlines, the funding, and spends of the channel coin.

Source: spec/channel.md, "Opening", "The potato" and "Going on chain".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeAlias

from msgspec.structs import replace

from channelsim.channel.chain.observations import Block, CoinSeen
from channelsim.channel.errors import Blame, InvariantError
from channelsim.channel.peer.chain_news import ChannelClosed, Undone
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.deadlines import Awaited, in_play, wait
from channelsim.channel.peer.interface import (
    ChannelOpen,
    Effect,
    OpeningFailed,
    Tell,
    Watch,
)
from channelsim.channel.peer.opening.handshake import OpeningStep
from channelsim.channel.peer.peer_state import (
    PeerState,
    Phase,
    Transition,
    endpoint_and_play,
    endpoint_of,
    opened_of,
    play_of,
)
from channelsim.channel.peer.phases import decks
from channelsim.channel.peer.phases.leaving import (
    break_off,
    end_proposals,
    follow,
    leave,
    scan_block,
)
from channelsim.channel.peer.phases.playing import request_potato, with_block
from channelsim.channel.peer.play.next_step import Step, next_step
from channelsim.channel.peer.play.sending import our_turns
from channelsim.channel.protocol.state import Side
from channelsim.games.amounts import counted

CoinHandler: TypeAlias = Callable[[Config, PeerState, CoinSeen], Transition]
"""Takes a block in which the channel coin is unspent."""


def _while_unspent(handler: CoinHandler) -> Callable[[Config, PeerState, Block], Transition]:
    """Take blocks with this handler while the channel coin is unspent."""

    @wraps(handler)
    def on_block(config: Config, state: PeerState, block: Block) -> Transition:
        coin = _channel_coin(state)
        if coin is None:
            return _fund_again(state)
        if coin.spent is not None:
            return _on_spent(config, state, coin.spent, coin.solution)
        return handler(config, state, coin)

    return on_block


@_while_unspent
def on_funding_block(config: Config, state: PeerState, coin: CoinSeen) -> Transition:
    """Begin to play when the channel coin is deep."""
    peak = state.block.peak
    if peak - coin.born < config.agreement.confirmations:
        return state, []
    state = replace(state, phase=Phase.PLAYING, was_deep=True)
    return state, [Tell(ChannelOpen(coin.coin, peak))]


@_while_unspent
def on_play_block(config: Config, state: PeerState, coin: CoinSeen) -> Transition:
    """Hold the other side to its deadlines."""
    state, effects = _check_deadlines(config, state)
    if state.phase is not Phase.PLAYING:
        return state, effects
    state, late = decks.on_block(config, state)
    state, more = with_block(config, state)
    return state, [*effects, *late, *more]


@_while_unspent
def on_shutdown_block(config: Config, state: PeerState, coin: CoinSeen) -> Transition:
    """Publish the completed shutdown until it is confirmed."""
    return state, _push_shutdown(state)


def on_opening_block(config: Config, state: PeerState, block: Block) -> Transition:
    """Wait for the next message of the opening, or for the channel coin once it is signed."""
    if state.opening.opened is None:
        return _check_deadlines(config, state)
    return on_funding_block(config, state, block)


def on_closed_block(config: Config, state: PeerState, block: Block) -> Transition:
    """Watch for a reorganisation of what closed the channel."""
    if state.dispute is not None:
        return scan_block(state)
    coin = _channel_coin(state)
    if coin is not None and coin.spent is not None:
        return _on_spent(config, state, coin.spent, coin.solution)
    return _shut_down_again(state)


def on_outdated_block(config: Config, state: PeerState, block: Block) -> Transition:
    """Wait for the other side to close the channel: this is an old copy of the store."""
    coin = _channel_coin(state)
    if coin is None or coin.spent is None:
        return state, []
    return _on_spent(config, state, coin.spent, coin.solution)


def on_chain_block(config: Config, state: PeerState, block: Block) -> Transition:
    """Scan the block in the dispute."""
    return scan_block(state)


def on_failed_block(config: Config, state: PeerState, block: Block) -> Transition:
    """Close a channel unilaterally that was funded although its opening had failed."""
    if state.dispute is not None:
        return scan_block(state)
    coin = _channel_coin(state) if state.opening.opened else None
    if coin is None:
        return state, []
    if coin.spent is not None:
        return _on_spent(config, state, coin.spent, coin.solution)
    return leave(config, state, "the funding came back after its deadline")


def _channel_coin(state: PeerState) -> CoinSeen | None:
    """The channel coin as the newest block has it."""
    coin = opened_of(state).channel.coin
    return next((seen for seen in state.block.coins if seen.coin == coin), None)


def _check_deadlines(config: Config, state: PeerState) -> Transition:
    """Break off when an answer is late; ask again for the potato that we gave away."""
    times = config.agreement.times
    marks, late = wait(state.marks, _due(config, state), state.block.peak, times)
    state = replace(state, marks=marks)
    if late is not None:
        detail = f"not in {counted(late.limit(times), 'block')}: {late.what}"
        return break_off(config, state, Blame(config.peer, state.phase.value, late.rule, detail))
    if state.phase is Phase.PLAYING and play_of(state).ask_later and not state.resuming:
        return request_potato(state)
    return state, []


def _due(config: Config, state: PeerState) -> list[Awaited]:
    """The answers that the other side owes us."""
    match state.phase:
        case Phase.OPENING:
            step = state.opening.step
            begun = config.side is Side.INITIATOR or step is not OpeningStep.HELLO
            return [Awaited("CH-TIME-1", step.value, 0)] if begun else []
        case Phase.PLAYING:
            endpoint, play = endpoint_and_play(state)
            following = next_step(endpoint, play, our_turns(endpoint, play))
            # A move that we owe needs the potato, also while a new connection keeps us from asking.
            wants_potato = following is Step.ASK or play.ask_later
            due = in_play(play, config.side, wanted=wants_potato)
            return [*due, *_numbers_due(state, following)]
        case Phase.CLOSING:
            return [Awaited("CH-TIME-1", "the completed shutdown", play_of(state).state.number)]
        case _:
            return []


def _numbers_due(state: PeerState, step: Step) -> list[Awaited]:
    """The other side's last numbers, if we cannot send what we want to without them."""
    if not state.resuming or step in (Step.WAIT, Step.ASK):
        return []
    number = play_of(state).state.number
    return [Awaited("CH-TIME-1", "its last numbers on a new connection", number)]


def _fund_again(state: PeerState) -> Transition:
    """There is no channel coin: push its funding, also when a reorganisation took it away."""
    opened = opened_of(state)
    if state.block.peak >= opened.deadline:
        cancelled: list[Effect] = []
        if state.play is not None:
            # The funding may have been deep, and a deeper reorganisation took it away.
            state, cancelled = end_proposals(state, "the channel is not funded")
        watches = (Watch(coin) for coin in opened.wallet_coins)
        failed = Tell(OpeningFailed(opened.deadline))
        return replace(state, phase=Phase.FAILED), [*cancelled, failed, *watches]
    if opened.bundle is None:
        return state, []
    return state, [endpoint_of(state).funding_push(opened.bundle, opened.deadline)]


def _on_spent(config: Config, state: PeerState, height: int, solution: bytes | None) -> Transition:
    """The channel coin was spent: by the shutdown that we signed, or to an unroll coin."""
    shutdown, block = state.shutdown, state.block
    if shutdown is not None:
        rewards = shutdown.rewards()
        there = {seen.coin for seen in block.coins}
        if all(coin in there for coin in rewards):
            deep = block.peak - height >= config.agreement.confirmations
            if state.closed is not None or not deep:
                return state, []
            closed = ChannelClosed(rewards, height)
            state, cancelled = end_proposals(state, "the channel is closed")
            return replace(state, phase=Phase.CLOSED, closed=closed), [*cancelled, Tell(closed)]
        if solution is not None and shutdown.is_paid_by(solution):
            return state, []
    undone: list[Effect] = []
    if state.closed is not None:
        # A reorganisation, deeper than our confirmations, put another spend in its place.
        undone = [Tell(Undone(state.closed))]
        state = replace(state, closed=None)
    state, effects = follow(config, state, height)
    return state, [*undone, *effects]


def _shut_down_again(state: PeerState) -> Transition:
    """A reorganisation, deeper than our confirmations, took the shutdown away."""
    if state.closed is None or state.shutdown is None:
        raise InvariantError("no shutdown to repeat")
    phase = Phase.COMPLETED if state.shutdown.bundle else Phase.CLOSING
    if state.shown is not None:
        return replace(state, phase=Phase.OUTDATED, closed=None), [Tell(Undone(state.closed))]
    undone = Tell(Undone(state.closed))
    return replace(state, phase=phase, closed=None), [*_push_shutdown(state), undone]


def _push_shutdown(state: PeerState) -> list[Effect]:
    """Push the shutdown, if we have its completed spend."""
    return [] if state.shutdown is None else state.shutdown.pushes()
