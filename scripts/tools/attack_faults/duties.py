"""Faults in what a peer asks and waits for, in what is due, and in what it tells of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec import structs

from channelsim.channel.peer import machine
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.peer.decks import pool
from channelsim.channel.peer.interface import Send
from channelsim.channel.peer.onchain import decisions, reading, scan_games
from channelsim.channel.peer.onchain.decisions import LAST_CHANCE, Wait
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.peer.phases import blocks, playing
from channelsim.channel.protocol import transitions
from channelsim.channel.protocol.messages import decode, encode
from channelsim.channel.watch.watcher import Step, Watcher
from scripts.tools.attack_faults.planting import Fault, function


def _waiting(right: Any, view: Any, tracked: Any, age: int, *given: Any) -> Any:
    last = tracked.game.coin.timeout - view.endpoint.spacing * LAST_CHANCE
    return Wait() if age < last else right(view, tracked, age, *given)


def _unknown_request(right: Any, state: Any) -> Any:
    after, effects = right(state)
    return structs.replace(after, play=structs.replace(after.play, we_asked=False)), effects


def _asking_after(right: Any, config: Any, state: Any, *given: Any, **more: Any) -> Any:
    after, effects = right(config, state, *given, **more)
    if after.phase is not Phase.PLAYING or after.play.potato:
        return after, effects
    after, request = playing.request_potato(after)
    return after, [*effects, *request]


def _without_new_ids(right: Any, channel: Any, state: Any, *given: Any) -> Any:
    return structs.replace(right(channel, state, *given), next_ids=state.next_ids)


def _due_in_play(right: Any, config: Any, state: Any) -> Any:
    return [] if state.phase is Phase.OPENING else right(config, state)


def _uncounted(right: Any, *given: Any, **more: Any) -> Any:
    lineage = right(*given, **more)
    facts = tuple(fact for fact in lineage.facts if not isinstance(fact, StateCounts))
    return structs.replace(lineage, facts=facts)


def _with_the_last_message(right: Any, config: Any, state: Any, *given: Any, **more: Any) -> Any:
    after, effects = right(config, state, *given, **more)
    return structs.replace(after, last_sent=state.last_sent), effects


def _without_the_batch(right: Any, config: Any, state: Any, blob: bytes) -> Any:
    after, effects = right(config, state, blob)
    return structs.replace(after, last_batch=state.last_batch), effects


def _repeated_step(right: Any, before: Any, message: Any) -> Any:
    after, effects = right(before, message)
    if after is not before or not message.step or not isinstance(next(iter(effects), None), Send):
        return after, effects
    repeat = structs.replace(decode(effects[0].message), step=message.step)
    return after, [Send(encode(repeat)), *effects[1:]]


def _stale(right: Any, watcher: Any, peak: int, state: Any, unroll: Any) -> Any:
    sight = right(watcher, peak, state, unroll)
    theirs = state.number % 2 != watcher._data.channel.side  # noqa: SLF001
    return replace(sight, step=Step.STALE) if theirs else sight


DUTIES = (
    Fault(
        "waits-with-safe-moves",
        "chain",
        "every move on chain waits as long as its timeout allows",
        function(decisions, "_move", _waiting),
    ),
    Fault(
        "forgets-that-it-asked",
        "engine",
        "it asks for the potato, and does not know that it has",
        function(playing, "request_potato", _unknown_request),
    ),
    Fault(
        "asks-for-nothing",
        "engine",
        "it asks for the potato again after each batch",
        function(playing, "send_now", _asking_after),
    ),
    Fault(
        "uses-ids-again",
        "engine",
        "ids of proposals are not counted",
        function(transitions, "_propose", _without_new_ids),
    ),
    Fault(
        "repeats-an-older-message",
        "engine",
        "after a lost connection it repeats the message before its last one",
        function(playing, "send_now", _with_the_last_message),
    ),
    Fault(
        "forgets-the-last-batch",
        "engine",
        "a batch that is repeated after a request is taken for a new one",
        function(machine, "_on_bytes", _without_the_batch),
    ),
    Fault(
        "awaits-nothing-in-the-opening",
        "engine",
        "it waits for the messages of the opening without end",
        function(blocks, "_due", _due_in_play),
    ),
    Fault(
        "asks-where-there-is-no-choice",
        "chain",
        "its player has to decide on chain what is forced",
        function(scan_games, "forced_action", lambda right, choices: None),
    ),
    Fault(
        "hides-the-state-that-counts",
        "chain",
        "its player does not hear which state is paid out",
        function(reading, "_paid_out", _uncounted),
    ),
    Fault(
        "repeats-a-step-as-the-last",
        "decks",
        "it repeats a step of a deck under the number of the one that it answers",
        function(pool, "receive", _repeated_step),
    ),
    Fault(
        "takes-the-newest-for-stale",
        "watcher",
        "a watcher takes the newest state of the other side for a stale one",
        function(Watcher, "_unrolled", _stale),
    ),
)
