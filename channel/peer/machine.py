"""One peer of a channel: a state machine without I/O. An event goes in, effects come out.

Two peers share nothing; a driver carries the bytes between them, pushes their spends, reports
blocks to them and asks their players. Source: spec/channel.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias, get_args

from msgspec.structs import replace

from channelsim.channel.chain.observations import Block
from channelsim.channel.crypto.keys import SecretKeys
from channelsim.channel.errors import UsageError, Violation
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Close,
    Connected,
    DeckComputed,
    DecksChanged,
    Dropped,
    Effect,
    Event,
    Fault,
    FeeLimits,
    FeeRate,
    GoOnChain,
    Ignored,
    Pinned,
    PrepareDeck,
    ProposeGames,
    Received,
    Refused,
    Tell,
)
from channelsim.channel.peer.onchain.scan import seat
from channelsim.channel.peer.opening.failed_opening import can_be_funded
from channelsim.channel.peer.opening.handshake import Opening
from channelsim.channel.peer.peer_state import PeerState, Phase, Transition, endpoint_of, play_of
from channelsim.channel.peer.phases import (
    blocks,
    closing,
    decks,
    on_chain,
    opening,
    playing,
    resuming,
)
from channelsim.channel.peer.phases.fees import pay_for, pays_fees, react_to, with_fee_state
from channelsim.channel.peer.phases.leaving import blame, break_off, on_fault
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.limits import message_limit
from channelsim.channel.protocol.messages import (
    ASIDE,
    MAX_MESSAGE,
    Advisory,
    Batch,
    DeckAbort,
    DeckStep,
    FirstHalves,
    Funded,
    Funding,
    Hello,
    Launch,
    Message,
    Request,
    Resume,
    Shutdown,
    ShutdownDone,
    Welcome,
    decode,
)
from channelsim.games.contract import Player

__all__ = ["TRANSITIONS", "Config", "Peer", "PeerState", "Phase"]

REPORTS = (DeckComputed, DecksChanged, Connected)
"""Events that a driver reports: they are ignored in a phase that has no handler."""

Handler: TypeAlias = Callable[[Config, PeerState, Any], Transition]
"""Takes an event of one type. Raises `Violation` for a message, `UsageError` for a command."""

OPENING_MESSAGES = (Hello, Welcome, Launch, FirstHalves, Funding, Funded)
PLAY_MESSAGES = (Batch, Request, *get_args(ASIDE), Shutdown, ShutdownDone)
MESSAGES = (*OPENING_MESSAGES, *PLAY_MESSAGES)
UNCOUNTED = (DeckStep, DeckAbort, Resume)
"""Messages that do not count as the last one: others may be repeated around them."""


def _each(events: tuple[type, ...], handler: Handler) -> dict[type, Handler]:
    return dict.fromkeys(events, handler)


TRANSITIONS: Mapping[Phase, Mapping[type, Handler]] = {
    Phase.OPENING: {
        **_each(MESSAGES, opening.on_message),
        Resume: resuming.on_opening_resume,
        Connected: resuming.on_opening_connected,
        Block: blocks.on_opening_block,
        Fault: on_fault,
    },
    Phase.FUNDING: {
        **_each(MESSAGES, opening.on_early_message),
        Funded: playing.on_funded,
        Resume: resuming.on_resume,
        Connected: resuming.on_connected,
        Block: blocks.on_funding_block,
        Fault: on_fault,
        GoOnChain: on_chain.on_go_on_chain,
    },
    Phase.PLAYING: {
        **_each(OPENING_MESSAGES, playing.refuse),
        Resume: resuming.on_resume,
        Connected: resuming.on_connected,
        Funded: playing.on_funded,
        Batch: playing.on_batch,
        Request: playing.on_request,
        Advisory: playing.on_advisory,
        DeckStep: decks.on_step,
        DeckAbort: decks.on_abort,
        DeckComputed: decks.on_computed,
        DecksChanged: decks.on_changed,
        PrepareDeck: decks.on_prepare,
        Shutdown: closing.on_shutdown,
        ShutdownDone: closing.on_shutdown_done,
        Block: blocks.on_play_block,
        **_each((ProposeGames, AcceptGames, CancelGames, Act, Close), playing.on_command),
        Fault: on_fault,
        GoOnChain: on_chain.on_go_on_chain,
    },
    Phase.CLOSING: {
        **_each(MESSAGES, closing.refuse),
        Resume: resuming.on_resume,
        Connected: resuming.on_connected,
        **_each((Request, *get_args(ASIDE)), closing.ignore),
        ShutdownDone: closing.on_shutdown_done,
        Block: blocks.on_play_block,
        Fault: on_fault,
        GoOnChain: on_chain.on_go_on_chain,
    },
    Phase.COMPLETED: {
        Received: on_chain.ignore,
        Connected: resuming.on_completed_connected,
        Block: blocks.on_shutdown_block,
    },
    Phase.CLOSED: {
        Received: on_chain.ignore,
        Block: blocks.on_closed_block,
        Act: on_chain.on_act,
    },
    Phase.ON_CHAIN: {
        Received: on_chain.ignore,
        Block: blocks.on_chain_block,
        Act: on_chain.on_act,
        GoOnChain: on_chain.on_publish_old,
    },
    Phase.FAILED: {
        Received: on_chain.ignore,
        Block: blocks.on_failed_block,
        Act: on_chain.on_act,
    },
    Phase.OUTDATED: {
        Received: on_chain.ignore,
        Connected: resuming.on_outdated_connected,
        Block: blocks.on_outdated_block,
        GoOnChain: on_chain.on_publish_old,
    },
}
"""The handler of each event in each phase. Where messages no longer count, bytes are handled
undecoded (`Received`). A missing command cannot be carried out; what a driver reports is ignored
where it is missing."""


class Peer:
    """One side of one channel. Call `start`, then `handle` for each event; carry out the effects.

    `state` is all that it knows. It may be read at any time, and replaced as a whole to make a
    peer that knows something else (an adversary, a test).
    """

    def __init__(self, config: Config, state: PeerState | None = None) -> None:
        self.config = config
        self.state = state or PeerState(Opening(SecretKeys.derive(config.secret)))

    @property
    def phase(self) -> Phase:
        """The stage of the channel's life."""
        return self.state.phase

    @property
    def is_over(self) -> bool:
        """True if nothing is left to do, as of the newest block, but for a deep reorganisation."""
        if self.phase is not Phase.FAILED:
            return self.phase is Phase.CLOSED
        opened = self.state.opening.opened
        return not can_be_funded(opened, self.state.block, self.config.agreement)

    @property
    def play(self) -> PlayState:
        """The state of play. Raises `InvariantError` before the channel's states are signed."""
        return play_of(self.state)

    @property
    def endpoint(self) -> Endpoint:
        """Our side of the channel. Raises `InvariantError` before the channel is known."""
        return endpoint_of(self.state)

    @property
    def pays_fees(self) -> bool:
        """True if it pays fees, by its maxima as of now: then it hears of its node's fee rate."""
        return pays_fees(self.config, self.state)

    @property
    def longest_message(self) -> int:
        """The longest message of the other side, in bytes, that can be meant now."""
        return message_limit(self.state.play.state if self.state.play else None)

    def player(self, game_id: int) -> Player | None:
        """Our seat in a game, off chain or on chain, as far as we have to decide in it."""
        if self.state.dispute is not None:
            return seat(self.state.dispute, game_id)
        return self.state.play.players.get(game_id) if self.state.play else None

    def start(self, peak: int) -> list[Effect]:
        """Begin at this height of the chain; the initiator speaks first."""
        state = replace(self.state, block=Block(peak))
        self.state, effects = opening.start(self.config, state)
        return effects

    def handle(self, event: Event) -> list[Effect]:
        """Handle an event, and return its effects in order.

        Raises `UsageError` for a command that cannot be carried out; nothing has changed.
        """
        self.state, effects = transition(self.config, self.state, event)
        return effects


def transition(config: Config, state: PeerState, event: Event) -> Transition:
    """The state after an event, and its effects, with fees for what it pushes.

    Raises `UsageError`.
    """
    match event:
        case Pinned() | Dropped() | Refused():
            return react_to(config, state, event)
        case FeeRate(rate):
            return with_fee_state(state, replace(state.fees, rate=rate)), []
        case FeeLimits():
            return with_fee_state(state, replace(state.fees, limits=event)), []
        case Received(blob):
            after, effects = _on_bytes(config, state, blob)
        case Block():
            after, effects = _on_block(config, replace(state, block=event))
        case _ if type(event) in TRANSITIONS[state.phase]:
            after, effects = TRANSITIONS[state.phase][type(event)](config, state, event)
        case _ if isinstance(event, REPORTS):
            return state, []
        case _ if state.phase is Phase.OUTDATED:
            raise on_chain.of_an_old_copy(config)
        case _:
            raise UsageError(f"{config.name} is in {state.phase.value}: not now")
    return pay_for(config, after, effects, scan=isinstance(event, Block))


def _on_block(config: Config, state: PeerState) -> Transition:
    """Take a block, and then the messages that were waiting for it."""
    state, effects = TRANSITIONS[state.phase][Block](config, state, state.block)
    if state.phase is Phase.PLAYING and state.early:
        early, state = state.early, replace(state, early=())
        for _, message in early:
            state, more = _on_message(config, state, message)
            effects = [*effects, *more]
    return state, effects


def _on_bytes(config: Config, state: PeerState, blob: bytes) -> Transition:
    """Take bytes of the other side, unless they repeat its last message."""
    digest = b""
    if len(blob) <= MAX_MESSAGE:
        digest = sha256(blob).digest()
        if digest in (state.last_received, state.last_batch):
            return state, [Tell(Ignored("a repeat of the last message"))]
    undecoded = TRANSITIONS[state.phase].get(Received)
    if undecoded is not None:
        return undecoded(config, state, blob)
    try:
        message = decode(blob, message_limit(state.play.state if state.play else None))
    except Violation as violation:
        return break_off(config, state, blame(config, _step(state), violation))
    if state.resuming and isinstance(message, PLAY_MESSAGES):
        # Of an older connection: the other side repeats it when it has our last numbers.
        return state, [Tell(Ignored("a message before the other side has sent its last numbers"))]
    if isinstance(message, UNCOUNTED):
        return _on_message(config, state, message)
    state = replace(state, last_received=digest)
    if isinstance(message, Batch):
        # A request may follow it, and both be repeated after a lost connection.
        state = replace(state, last_batch=digest)
    return _on_message(config, state, message)


def _on_message(config: Config, state: PeerState, message: Message) -> Transition:
    """Take a message, or break off if it violates a rule."""
    row = TRANSITIONS[state.phase]
    handler = row.get(Received) or row[type(message)]
    try:
        return handler(config, state, message)
    except Violation as violation:
        return break_off(config, state, blame(config, _step(state), violation))


def _step(state: PeerState) -> str:
    """The step of the protocol at which a message violates a rule."""
    waiting = f", waiting for {state.opening.step.value}"
    return f"{state.phase.value}{waiting if state.phase is Phase.OPENING else ''}"
