"""The clean shutdown: we ask for it with the potato in hand, or the other side does.

Source: spec/channel.md, "Clean shutdown".
"""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import (
    Effect,
    Ignored,
    Send,
    ShutdownStarted,
    Tell,
    Watch,
)
from channelsim.channel.peer.peer_state import PeerState, Phase, Transition, endpoint_of, play_of
from channelsim.channel.peer.phases.decks import drop_all
from channelsim.channel.peer.phases.leaving import end_proposals, outdated
from channelsim.channel.peer.shutdown import CleanShutdown
from channelsim.channel.protocol.messages import Message, Shutdown, ShutdownDone, encode
from channelsim.games.amounts import counted


def ask_for_shutdown(state: PeerState) -> Transition:
    """Send our half of the shutdown. From here on we must not play."""
    shutdown = CleanShutdown.of(endpoint_of(state), play_of(state).state)
    message = encode(Shutdown(shutdown.half()))
    state, erased = drop_all(state)
    return replace(state, phase=Phase.CLOSING, shutdown=shutdown, last_sent=message), [
        *erased,
        Send(message),
        Tell(ShutdownStarted(True, shutdown.state.balances)),
        # The shutdown may be on chain before the message that completes it is here.
        *_watch_rewards(shutdown),
    ]


def on_shutdown(config: Config, state: PeerState, message: Shutdown) -> Transition:
    """Complete the shutdown that the other side asks for."""
    play = play_of(state)
    if play.potato:
        raise Violation("CH-SHUT-1", "we hold the potato")
    if play.state.games:
        raise Violation("CH-SHUT-2", f"{counted(len(play.state.games), 'live game')}")
    shutdown = CleanShutdown.of(endpoint_of(state), play.state).answered(message.half)
    state, effects = _complete(state, shutdown, answer=True)
    return state, [
        *effects,
        Tell(ShutdownStarted(False, shutdown.state.balances)),
        *_watch_rewards(shutdown),
    ]


def _watch_rewards(shutdown: CleanShutdown) -> list[Effect]:
    """Watch for the coins that a shutdown pays."""
    return [Watch(coin) for coin in shutdown.rewards()]


def on_shutdown_done(config: Config, state: PeerState, message: ShutdownDone) -> Transition:
    """Publish the shutdown that the other side has completed."""
    if state.shutdown is None:
        forgotten = _forgotten(state, message)
        if forgotten is None:
            raise Violation("CH-SHUT-4", "we did not ask for a shutdown")
        signed = play_of(state).state.number
        state, effects = outdated(replace(state, shutdown=forgotten), signed)
        return state, [*effects, *_watch_rewards(forgotten)]
    return _complete(state, state.shutdown.completed(message.signature), answer=False)


def ignore(config: Config, state: PeerState, message: Message) -> Transition:
    """Ignore what changes no state and crossed our half of the shutdown."""
    return state, [Tell(Ignored(f"a {type(message).__name__.lower()} during the shutdown"))]


def refuse(config: Config, state: PeerState, message: Message) -> Transition:
    """Refuse a message that does not answer our shutdown."""
    raise Violation("CH-SHUT-5", f"a {type(message).__name__.lower()} in answer to a shutdown")


def _forgotten(state: PeerState, message: ShutdownDone) -> CleanShutdown | None:
    """The shutdown that this message completes, if we asked for it and do not know that."""
    newest = play_of(state).state
    if newest.games:
        return None
    with suppress(Violation):
        return CleanShutdown.of(endpoint_of(state), newest).completed(message.signature)
    return None


def _complete(state: PeerState, shutdown: CleanShutdown, *, answer: bool) -> Transition:
    """Publish a completed shutdown, and send the completion if it is ours."""
    if shutdown.bundle is None:
        raise InvariantError("a completed shutdown without its spend")
    message = encode(ShutdownDone(shutdown.bundle.signature))
    state, erased = drop_all(replace(state, phase=Phase.COMPLETED, shutdown=shutdown))
    state, cancelled = end_proposals(state, "the channel is closed")
    effects: list[Effect] = []
    if answer:
        state = replace(state, last_sent=message)
        effects.append(Send(message))
    return state, [*effects, *shutdown.pushes(), *erased, *cancelled]
