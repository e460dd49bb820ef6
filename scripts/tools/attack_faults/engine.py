"""Faults in the engine of a peer, off chain and on chain."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from channelsim.channel.peer import machine
from channelsim.channel.peer.interface import Connected, Ignored, ProposeGames, Send, Tell
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.phases import blocks, closing, leaving, opening, playing, resuming
from channelsim.channel.peer.play import next_step, receiving, sending
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.protocol.messages import Resume, encode
from scripts.tools.attack_faults.planting import (
    Fault,
    Reach,
    all_of,
    changing,
    compared,
    function,
    handler,
    marking,
    value,
)

IN_PLAY = (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING)


# --- connections ---------------------------------------------------------------------------------


def _silently(right: Any, config: Any, state: PeerState, event: Connected) -> Any:
    after, effects = right(config, state, event)
    return after, [effect for effect in effects if not isinstance(effect, Send)]


def _signing_at_once(right: Any, config: Any, state: PeerState, event: Connected) -> Any:
    after, effects = right(config, state, event)
    return replace(after, resuming=False), effects


def _remembering(right: Any, config: Any, state: PeerState, blob: bytes) -> Any:
    after, effects = right(config, state, blob)
    match effects:
        case [Tell(Ignored())]:
            after = replace(after, last_received=sha256(blob).digest())
    return after, effects


def _without_memory(right: Any, config: Any, state: PeerState, blob: bytes) -> Any:
    return right(config, replace(state, last_received=b"", last_batch=b""), blob)


def _without_early(right: Any, config: Any, state: PeerState) -> Any:
    return right(config, replace(state, early=()))


def _knowing_dropped(right: Any, config: Any, state: PeerState, event: Connected) -> Any:
    after, effects = right(config, state, event)
    known = {"last_received": state.last_received, "last_batch": state.last_batch}
    return replace(after, **known), effects


def _asks_no_more(right: Any, config: Any, state: PeerState, event: Connected) -> Any:
    after, effects = right(config, state, event)
    play = after.play
    return replace(after, play=replace(play, we_asked=False) if play else None), effects


def _drops_queue(right: Any, config: Any, state: PeerState, event: Connected) -> Any:
    after, effects = right(config, state, event)
    play = after.play
    return replace(after, play=replace(play, queue=()) if play else None), effects


def _without_numbers(right: Any, config: Any, state: PeerState, message: Any) -> Any:
    after, effects = right(config, state, message)
    return replace(after, resuming=True), effects


# --- play ----------------------------------------------------------------------------------------


def _older_seats(reach: Reach, right: Any, play: PlayState, *given: Any) -> Any:
    reach.mark()
    *others, players = given
    return right(
        play, *others, {game: play.players.get(game, seat) for game, seat in players.items()}
    )


def _queue_emptied(right: Any, *given: Any) -> Any:
    received = right(*given)
    return replace(received, play=replace(received.play, queue=()))


def _drops_nothing(right: Any, play: PlayState) -> Any:
    return play, []


def _answers_kept(right: Any, play: PlayState) -> Any:
    dropped, news = right(play)
    queue = tuple(command for command in play.queue if not isinstance(command, ProposeGames))
    return replace(dropped, queue=queue), news


def _unless_unfunded(right: Any, state: PeerState, reason: str) -> Any:
    return (state, []) if reason == "the channel is not funded" else right(state, reason)


BY_HAND = (
    Fault(
        "shows-no-early-reveal",
        "engine",
        "its player does not see an early reveal of the other side",
        function(PlayState, "with_player", lambda right, play, game_id, player: play),
    ),
    Fault(
        "ends-at-the-funding-deadline",
        "engine",
        "a failed opening is over, though a reorganisation can still fund the channel",
        function(machine, "can_be_funded", lambda right, *given: False),
    ),
    Fault(
        "silent-on-connections",
        "engine",
        "nothing is said on a new connection",
        handler(IN_PLAY, Connected, _silently),
    ),
    Fault(
        "signs-before-numbers",
        "engine",
        "it signs before the other side's numbers are known",
        handler(IN_PLAY, Connected, _signing_at_once),
    ),
    Fault(
        "forgets-its-request",
        "engine",
        "a request for the potato is forgotten with a connection",
        handler(IN_PLAY, Connected, _asks_no_more),
    ),
    Fault(
        "forgets-its-queue",
        "engine",
        "the commands that wait are forgotten with a connection",
        handler(IN_PLAY, Connected, _drops_queue),
    ),
    Fault(
        "repeats-nothing",
        "engine",
        "it does not repeat what the other side lacks",
        function(resuming, "_repeated", lambda right, state, message: []),
    ),
    Fault(
        "repeats-no-request",
        "engine",
        "it does not repeat its request for the potato",
        changing(resuming, "_request", lambda effects: []),
    ),
    Fault(
        "repeats-everything",
        "engine",
        "it repeats its last message whatever the other side has",
        function(resuming, "_repeated", lambda right, state, message: [Send(state.last_sent)]),
    ),
    Fault(
        "shows-wrong-numbers",
        "engine",
        "its last numbers are those of one batch before",
        changing(
            resuming,
            "last_numbers",
            lambda message: replace(message, sent=max(0, message.sent - 2)),
        ),
    ),
    Fault(
        "believes-any-numbers",
        "engine",
        "it does not check the halves that come with last numbers",
        function(resuming, "verify_halves", lambda right, *given, **more: None),
    ),
    Fault(
        "leaves-on-resumption",
        "engine",
        "it takes last numbers of today for those of an old copy",
        handler(
            IN_PLAY,
            Resume,
            lambda right, config, state, message: right(
                config, state, replace(message, sent=message.sent - 2)
            ),
        ),
    ),
    Fault(
        "handles-repeats",
        "engine",
        "a message that comes twice is handled twice",
        function(machine, "_on_bytes", _without_memory),
    ),
    Fault(
        "remembers-ignored-messages",
        "engine",
        "a message that it ignored counts as received",
        function(machine, "_on_bytes", _remembering),
    ),
    Fault(
        "drops-early-messages",
        "engine",
        "a message before the funding is deep is lost",
        function(machine, "_on_block", _without_early),
    ),
    Fault(
        "keeps-early-messages",
        "engine",
        "messages before the funding is deep stay over a new connection",
        handler(
            (Phase.FUNDING,),
            Connected,
            lambda right, config, state, event: (
                replace(right(config, state, event)[0], early=state.early),
                right(config, state, event)[1],
            ),
        ),
    ),
    Fault(
        "knows-messages-that-it-dropped",
        "engine",
        "a message that a new connection drops is not taken again when it is repeated",
        handler((Phase.FUNDING,), Connected, _knowing_dropped),
    ),
    Fault(
        "repeats-no-step",
        "engine",
        "it does not repeat its step of the opening",
        value(
            opening,
            "_send",
            lambda state, messages: (
                state,
                [Send(encode(message)) for message in messages],
            ),
        ),
    ),
    Fault(
        "seat-of-an-older-state",
        "engine",
        "a seat does not move on with its game",
        marking(PlayState, "after", _older_seats),
    ),
    Fault(
        "drops-its-queue",
        "engine",
        "a batch of the other side drops the commands that wait",
        compared(playing, "receive_batch", _queue_emptied),
    ),
    Fault(
        "never-asks-for-the-potato",
        "engine",
        "it never asks for the potato",
        compared(playing, "request_potato", lambda right, state: (state, [])),
    ),
    Fault(
        "always-asks-for-the-potato",
        "engine",
        "it asks for the potato though it has asked",
        compared(
            playing,
            "request_potato",
            lambda right, state: right(replace(state, play=replace(state.play, we_asked=False))),
        ),
    ),
    Fault(
        "waits-for-the-next-block",
        "engine",
        "no batch goes out before the next block",
        changing(
            playing,
            "next_step",
            lambda step: next_step.Step.SEND_WITH_BLOCK if step is next_step.Step.SEND else step,
        ),
    ),
    Fault(
        "bounces-the-potato",
        "engine",
        "idle batches do not wait for the next block",
        changing(next_step, "is_idle", lambda idle: False),
    ),
    Fault(
        "always-idle",
        "engine",
        "every batch counts as idle",
        changing(next_step, "is_idle", lambda idle: True),
    ),
    Fault(
        "takes-any-proposal-for-fit",
        "engine",
        "it takes games with any timeout, parameters and stakes",
        all_of(
            compared(receiving, "reason_to_refuse", lambda right, *given: None),
            compared(sending, "reason_to_refuse", lambda right, *given: None),
        ),
    ),
    Fault(
        "forgets-who-refused",
        "engine",
        "it does not remember that a proposal was refused",
        changing(PlayState, "_refusal_after", lambda refusal: None),
    ),
    Fault(
        "reveals-nothing-early",
        "engine",
        "it makes no early reveals",
        all_of(
            changing(playing, "early_reveals", lambda effects: []),
            changing(resuming, "early_reveals", lambda effects: []),
        ),
    ),
    Fault(
        "accepts-twice",
        "engine",
        "a proposal can be answered twice",
        changing(sending, "_answered", lambda answered: set()),
    ),
    Fault(
        "ends-no-proposals-without-funding",
        "engine",
        "a player does not hear that a proposal has ended whose channel lost its funding",
        compared(blocks, "end_proposals", _unless_unfunded),
    ),
    Fault(
        "ends-no-proposals",
        "engine",
        "proposals that come to nothing are not ended",
        all_of(
            compared(leaving, "end_proposals", lambda right, state, reason: (state, [])),
            compared(blocks, "end_proposals", lambda right, state, reason: (state, [])),
            compared(closing, "end_proposals", lambda right, state, reason: (state, [])),
        ),
    ),
    Fault(
        "keeps-answers-while-closing",
        "engine",
        "an accepted proposal that waits for the potato begins though the channel is being closed",
        compared(sending, "without_new_games", _answers_kept),
    ),
    Fault(
        "drops-no-new-games",
        "engine",
        "proposals that wait are sent though the channel is being closed",
        compared(sending, "without_new_games", _drops_nothing),
    ),
)
"""Faults in the engine that no table of the product gives."""
