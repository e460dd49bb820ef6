"""The opening's messages, and those of play that come before the channel coin is deep."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from channelsim.channel.errors import InvariantError, Violation
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.decks.pool import DeckPool
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    Effect,
    FundingSent,
    Ignored,
    Send,
    Tell,
    Watch,
)
from channelsim.channel.peer.opening.handshake import Opening, begin, receive
from channelsim.channel.peer.peer_state import PeerState, Phase, Transition
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    DeckAbort,
    DeckStep,
    Funded,
    Message,
    Request,
    Shutdown,
    encode,
)
from channelsim.channel.protocol.state import Side
from channelsim.channel.protocol.state_history import StateHistory


def start(config: Config, state: PeerState) -> Transition:
    """Begin the opening: the initiator sends its hello."""
    opening, messages = begin(config, state.opening)
    return _send(replace(state, opening=opening), messages)


def on_message(config: Config, state: PeerState, message: Message) -> Transition:
    """Take a message of the opening; once the states are signed, one of play as well."""
    if state.play is None or isinstance(message, Funded):
        return _advance(config, state, message)
    # The funding may be in the chain before its last message is here.
    return on_early_message(config, state, message)


def on_early_message(config: Config, state: PeerState, message: Message) -> Transition:
    """Hold a message of a peer that saw the channel coin deep before we did.

    Before we answer, it can have sent one request, and one batch or shutdown.
    """
    kind, digest = type(message), state.last_received
    name = kind.__name__.lower()
    match message:
        case Advisory():
            return state, [Tell(Ignored("an early reveal before play"))]
        case DeckAbort():
            return state, [Tell(Ignored("the end of a deck before play"))]
        case DeckStep() if any(isinstance(held, DeckStep) for _, held in state.early):
            return state, [Tell(Ignored("a second step of a deck before play"))]
        case Batch() | Request() | Shutdown() | DeckStep():
            if (digest, message) in state.early:
                return state, [Tell(Ignored("a repeat before play"))]
            if any(type(held) is kind for _, held in state.early):
                raise Violation("CH-MSG-3", f"a second {name} before play")
            early = state.early
            if isinstance(message, Batch):
                # A request of the side that still held the potato means nothing; the next one does.
                early = tuple(held for held in early if not isinstance(held[1], Request))
            return replace(state, early=(*early, (digest, message))), []
        case _:
            raise Violation("CH-MSG-3", f"a {name} before play")


def _advance(config: Config, state: PeerState, message: Message) -> Transition:
    before = state.opening
    opening, answers = receive(config, before, message, state.block.peak)
    state, sends = _send(replace(state, opening=opening), answers)
    if opening.channel is None:
        return state, sends
    endpoint = state.endpoint or Endpoint(
        config.side,
        opening.channel,
        opening.secret_keys,
        config.agreement.confirmations,
        config.agreement.spacing,
        config.entropy,
        lies=config.lies,
    )
    effects = [*sends]
    state = replace(state, endpoint=endpoint)
    opened = opening.opened
    if opened is None:
        return state, effects
    if state.play is None:
        play = PlayState(
            state=opened.sent or opened.newest.state,
            newest=opened.newest,
            history=_history(opening),
            potato=config.side is Side.RECEIVER,
            decks=DeckPool(config.side, opened.channel.launcher.id, config.agreement.decks),
        )
        state = replace(state, play=play)
        effects.append(Watch(opened.channel.coin))
    if opened.bundle is not None:
        # The completed bundle is the initiator's first message since a new connection, if the
        # receiver could not send its last numbers yet.
        state = replace(state, phase=Phase.FUNDING, resuming=False)
        effects.append(endpoint.funding_push(opened.bundle, opened.deadline))
        effects.append(Tell(FundingSent(opened.channel.coin, opened.deadline)))
    return state, effects


def _send(state: PeerState, messages: Sequence[Message]) -> Transition:
    """Send messages of the opening."""
    effects: list[Effect] = []
    for message in messages:
        blob = encode(message)
        effects.append(Send(blob))
        state = replace(state, last_sent=blob)
    return state, effects


def _history(opening: Opening) -> StateHistory:
    """The opening's states as the channel's first."""
    history: StateHistory | None = None
    for state, signed in opening.states:
        history = StateHistory(state, signed, history)
    if history is None:
        raise InvariantError("a channel opened without a state")
    return history
