"""Off-chain play: the player's commands, and the messages of the other side.

Source: spec/channel.md, "The potato".
"""

from __future__ import annotations

from types import MappingProxyType

from msgspec.structs import replace

from channelsim.channel.errors import Violation
from channelsim.channel.peer import interface
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Effect, Ignored, NearLimit, SawCards, Send, Tell
from channelsim.channel.peer.opening.handshake import OpeningStep
from channelsim.channel.peer.peer_state import (
    PeerState,
    Phase,
    Transition,
    endpoint_and_play,
    play_of,
)
from channelsim.channel.peer.phases.closing import ask_for_shutdown
from channelsim.channel.peer.phases.decks import erase
from channelsim.channel.peer.phases.leaving import blame, break_off, leave
from channelsim.channel.peer.play import sending
from channelsim.channel.peer.play.next_step import Step, next_step, shuts_down
from channelsim.channel.peer.play.receiving import early_reveals, receive_batch
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    Funded,
    Message,
    Request,
    encode,
)
from channelsim.channel.protocol.state import Side
from channelsim.games.errors import BadAdvisory

NOTHING: sending.WorkedOut = MappingProxyType({})


def on_command(config: Config, state: PeerState, command: interface.Command) -> Transition:
    """Queue a command, and send what can be sent now. Raises `UsageError`."""
    endpoint, play = endpoint_and_play(state)
    worked_out = sending.check_command(endpoint, play, command)
    news: list[Effect] = []
    if isinstance(command, interface.Close):
        play, news = sending.without_new_games(replace(play, closing=True))
    else:
        play = replace(play, queue=(*play.queue, command))
    state, effects = go_on(config, replace(state, play=play), worked_out)
    return state, [*news, *effects]


def on_batch(config: Config, state: PeerState, batch: Batch) -> Transition:
    """Take the other side's batch, and answer it if there is nothing to decide."""
    endpoint, before = endpoint_and_play(state)
    received = receive_batch(endpoint, before, batch)
    if received.illegal is not None:
        state = replace(state, play=received.play)
        accused = blame(config, state.phase.value, received.illegal.violation)
        slashable = dict(received.illegal.slashable)
        state, effects = break_off(config, state, accused, slashable)
        return state, [*received.effects, *effects]
    endpoint, erased = erase(endpoint, received.play)
    state = replace(state, endpoint=endpoint, play=received.play)
    turns = sending.our_turns(endpoint, received.play)
    state, effects = go_on(config, state, turns=turns)
    endpoint, play = endpoint_and_play(state)
    if state.phase is Phase.PLAYING and play.potato and not state.resuming:
        effects += early_reveals(endpoint, before.state, play)
        effects += sending.your_turns(turns)
    return state, [*received.effects, *erased, *effects]


def on_request(config: Config, state: PeerState, message: Request) -> Transition:
    """Give the potato away: the other side asks for it."""
    play = play_of(state)
    if not play.potato:
        return state, [Tell(Ignored("a request that crossed our batch"))]
    return go_on(config, replace(state, play=replace(play, they_asked=True)))


def on_advisory(config: Config, state: PeerState, message: Advisory) -> Transition:
    """Show our player the cards of an early reveal, if it fits."""
    play = play_of(state)
    player = play.players.get(message.game_id)
    if player is None:
        reason = f"an early reveal in game {message.game_id}, which is not live"
        return state, [Tell(Ignored(reason))]
    try:
        player = player.advised(message.data)
    except BadAdvisory as error:
        return state, [Tell(Ignored(f"an early reveal in game {message.game_id}: {error}"))]
    state = replace(state, play=play.with_player(message.game_id, player))
    return state, [Tell(SawCards(message.game_id, player))]


def on_funded(config: Config, state: PeerState, message: Funded) -> Transition:
    """Ignore a completed bundle that the initiator has, or that it saw in the chain before."""
    opening = state.opening
    if opening.step is OpeningStep.FUNDED:
        return state, [Tell(Ignored("the completed bundle, which is in the chain already"))]
    opened = opening.opened
    if config.side is Side.INITIATOR and opened is not None and opened.bundle == message.bundle:
        return state, [Tell(Ignored("a repeat of the completed bundle"))]
    return refuse(config, state, message)


def refuse(config: Config, state: PeerState, message: Message) -> Transition:
    """Refuse a message that has no place in play."""
    raise Violation("CH-MSG-3", f"a {type(message).__name__.lower()} during play")


def request_potato(state: PeerState) -> Transition:
    """Ask for the potato, once."""
    play = play_of(state)
    if play.we_asked:
        return state, []
    return replace(state, play=replace(play, we_asked=True)), [Send(encode(Request()))]


def go_on(
    config: Config,
    state: PeerState,
    worked_out: sending.WorkedOut = NOTHING,
    turns: sending.Turns | None = None,
) -> Transition:
    """Send what can be sent now; ask for the potato if that is needed.

    Near one of our limits, begin to close the channel.
    """
    endpoint, play = endpoint_and_play(state)
    news: list[Effect] = []
    limit = "" if play.closing else config.limits.near(play.state.number, play.stored_bytes)
    if limit:
        play, unsent = sending.without_new_games(replace(play, closing=True))
        state, news = replace(state, play=play), [Tell(NearLimit(limit)), *unsent]
    if state.resuming:
        return state, news
    effects: list[Effect] = []
    turns = sending.our_turns(endpoint, play) if turns is None else turns
    match next_step(endpoint, play, turns):
        case Step.ASK:
            state, effects = request_potato(state)
        case Step.SHUT_DOWN:
            state, effects = ask_for_shutdown(state)
        case Step.SEND:
            state, effects = send_now(config, state, turns, worked_out)
        case Step.WAIT | Step.SEND_WITH_BLOCK:
            pass
    return state, [*news, *effects]


def with_block(config: Config, state: PeerState) -> Transition:
    """Send what has waited for the next block."""
    endpoint, play = endpoint_and_play(state)
    if state.resuming or not play.potato:
        return state, []
    turns = sending.our_turns(endpoint, play)
    if next_step(endpoint, play, turns) is not Step.SEND_WITH_BLOCK:
        return state, []
    return send_now(config, state, turns)


def send_now(
    config: Config, state: PeerState, turns: sending.Turns, worked_out: sending.WorkedOut = NOTHING
) -> Transition:
    """Send a batch, and ask for the potato if we need it again.

    Rather than send one past our limits, go on chain with what we received last.
    """
    endpoint, before = endpoint_and_play(state)
    try:
        play, message, effects = sending.send_batch(endpoint, before, turns, worked_out)
    except Violation as violation:
        # The state that we would send cannot be signed safely: the other side has set it up.
        return break_off(config, state, blame(config, state.phase.value, violation))
    limit = config.limits.past(play.state.number, play.stored_bytes)
    if limit:
        return leave(config, state, f"the next state would be past the limit of {limit}")
    owing = [game for game in play.state.games if game.mover is endpoint.side]
    opens_next = any(
        # The first cards of a game that we have just accepted (PD-15).
        sending.opens_cards(game) and before.state.game(game.id) is None
        for game in owing
    )
    # A deck whose proposal this batch cancels is needed no more.
    endpoint, erased = erase(endpoint, play)
    state = replace(state, endpoint=endpoint, play=play, last_sent=message)
    if opens_next or shuts_down(play):
        state, request = request_potato(state)
        return state, [*effects, *request, *erased]
    # If we were asked for the potato, we may have given it away while we owe a move: we ask for
    # it once the player has decided, or with the next block. If both sides asked at once, two
    # idle players would bounce the potato forever.
    play = replace(play, ask_later=bool(owing))
    return replace(state, play=play), [*effects, *erased]
