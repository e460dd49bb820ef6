"""Wrong behaviours of a peer: what a fault makes of its events, its effects and its functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import msgspec

from channelsim.channel.chain.observations import Block
from channelsim.channel.chain.spacing import HOME_SPACING
from channelsim.channel.peer.chain_news import ChannelSettled, Undone
from channelsim.channel.peer.decks.pool import DeckPool
from channelsim.channel.peer.endpoint import Endpoint
from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Connected,
    Effect,
    Event,
    Fault,
    Push,
    Received,
    Send,
    Tell,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.peer.play.next_step import Step
from channelsim.channel.peer.play.play_state import PlayState
from channelsim.channel.peer.play.sending import Turns
from channelsim.channel.protocol.half_signed import preempt, publish
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    DeckStep,
    Message,
    Request,
    decode,
    encode,
)
from scripts.tools.attack_faults.planting import Planting, Reach, events, reactions

REQUEST = encode(Request())

# --- events --------------------------------------------------------------------------------------


def clock(by: int) -> Planting:
    """Report blocks at another height to the peer, once the channel is on chain."""

    def change(peer: Peer, event: Event) -> Event | None:
        if not isinstance(event, Block) or peer.state.dispute is None:
            return event
        return Block(event.peak + by, event.coins)

    return events(change)


@events
def gives_up(peer: Peer, event: Event) -> Event | None:
    """Report no coins once the opening has failed, and so many blocks that it is final."""
    if not isinstance(event, Block) or peer.phase is not Phase.FAILED:
        return event
    return Block(event.peak + peer.config.agreement.confirmations)


@events
def cancels_accepted(peer: Peer, event: Event) -> Event | None:
    """Turn an acceptance into a cancellation."""
    return CancelGames(event.group_id, "no") if isinstance(event, AcceptGames) else event


@events
def fails_at_requests(peer: Peer, event: Event) -> Event | None:
    """Fail to handle a request for the potato."""
    return Fault("planted") if is_request(peer, event) else event


def is_request(peer: Peer, event: Event) -> bool:
    """A request for the potato."""
    return isinstance(event, Received) and event.message == REQUEST


@events
def starts_times_again(peer: Peer, event: Event) -> Event | None:
    """Wait anew for all answers with each new connection."""
    if not isinstance(event, Connected) or not peer.state.marks:
        return event
    peer.state = msgspec.structs.replace(peer.state, marks={})
    return Connected()


# --- effects -------------------------------------------------------------------------------------


def loses(*which: str) -> Planting:
    """Lose the spends of these names."""
    return reactions(
        lambda reach, peer, event, effects: [
            effect for effect in effects if not _is_one_of(effect, which)
        ]
    )


@reactions
def pushes_once(reach: Reach, peer: Peer, event: Event, effects: list[Effect]) -> list[Effect]:
    """Push each spend only once."""

    def is_new(effect: Effect) -> bool:
        if not isinstance(effect, Push):
            return True
        key = peer.config.name, effect.name, effect.bundle.spends[0].coin.id
        known = key in reach.memory
        reach.memory[key] = True
        return not known

    return [*filter(is_new, effects)]


def late(blocks: int, *which: str) -> Planting:
    """Push the spends of these names this many blocks late."""

    def change(reach: Reach, peer: Peer, event: Event, effects: list[Effect]) -> list[Effect]:
        peak = peer.state.block.peak

        def is_due(effect: Effect) -> bool:
            if not _is_one_of(effect, which) or not isinstance(effect, Push):
                return True
            key = peer.config.name, effect.bundle.spends[0].coin.id
            return bool(peak - reach.memory.setdefault(key, peak) >= blocks)

        return [*filter(is_due, effects)]

    return reactions(change)


def _is_one_of(effect: Effect, which: tuple[str, ...]) -> bool:
    """True if an effect pushes a spend of one of these names, each with a full stop at its end."""
    return isinstance(effect, Push) and f"{effect.name.removesuffix('+fee')}.".startswith(which)


@reactions
def never_asks_back(reach: Reach, peer: Peer, event: Event, effects: list[Effect]) -> list[Effect]:
    """Never ask for the potato that it gave away with a move due: that is done after a block."""
    return [
        effect for effect in effects if not (isinstance(event, Block) and effect == Send(REQUEST))
    ]


@reactions
def publishes_oldest(reach: Reach, peer: Peer, event: Event, effects: list[Effect]) -> list[Effect]:
    """Publish the oldest state that it can complete."""
    history = peer.play.history if peer.state.play else ()
    completable = [link.signed for link in history if link.signed]
    return [
        Push("unroll", publish(peer.endpoint.channel, peer.endpoint.secret_keys, completable[-1]))
        if isinstance(effect, Push) and effect.name == "unroll" and completable
        else effect
        for effect in effects
    ]


@reactions
def preempts_itself(reach: Reach, peer: Peer, event: Event, effects: list[Effect]) -> list[Effect]:
    """Preempt the state that it published itself."""
    if not any(isinstance(effect, Push) and effect.name == "unroll-timeout" for effect in effects):
        return effects
    newest, endpoint = peer.play.newest, peer.endpoint
    bundle = preempt(endpoint.channel, endpoint.secret_keys, newest, newest.state)
    return [*effects, Push("preempt", bundle)]


@reactions
def publishes_its_copy(
    reach: Reach, peer: Peer, event: Event, effects: list[Effect]
) -> list[Effect]:
    """Publish the newest state of an old copy of the store."""
    if not (isinstance(event, Block) and peer.phase is Phase.OUTDATED):
        return effects
    newest, endpoint = peer.play.newest, peer.endpoint
    return [*effects, Push("unroll", publish(endpoint.channel, endpoint.secret_keys, newest))]


def hides_news(kind: type) -> Planting:
    """Hide one kind of news from the player."""
    return reactions(
        lambda reach, peer, event, effects: [
            effect
            for effect in effects
            if not (isinstance(effect, Tell) and isinstance(effect.news, kind))
        ]
    )


@reactions
def false_news(reach: Reach, peer: Peer, event: Event, effects: list[Effect]) -> list[Effect]:
    """Undo no news, and report a settlement of one mojo more."""
    changed: list[Effect] = []
    for effect in effects:
        match effect:
            case Tell(Undone()):
                pass
            case Tell(ChannelSettled() as news):
                changed.append(Tell(msgspec.structs.replace(news, ours=news.ours + 1)))
            case _:
                changed.append(effect)
    return changed


def says(kind: type | tuple[type, ...], say: Callable[[Peer, Any], list[Message]]) -> Planting:
    """Send other messages in place of those of a kind, or beside them."""

    def change(reach: Reach, peer: Peer, event: Event, effects: list[Effect]) -> list[Effect]:
        sent: list[Effect] = []
        for effect in effects:
            message = decode(effect.message) if isinstance(effect, Send) else None
            if message is None or not isinstance(message, kind):
                sent.append(effect)
                continue
            for said in say(peer, message):
                blob = encode(said)
                sent.append(Send(blob))
        return sent

    return reactions(change)


def skips_a_number(peer: Peer, batch: Batch) -> list[Message]:
    """The batch with the number after the right one."""
    return [msgspec.structs.replace(batch, number=batch.number + 1)]


def says_twice(peer: Peer, batch: Batch) -> list[Message]:
    """The batch, and an empty one after it."""
    return [batch, msgspec.structs.replace(batch, number=batch.number + 1, actions=())]


def wrong_half(peer: Peer, batch: Batch) -> list[Message]:
    """The batch with its channel half in place of the unroll half."""
    return [msgspec.structs.replace(batch, unroll_half=batch.channel_half)]


def plays_on(peer: Peer, message: Message) -> list[Message]:
    """The message of the shutdown, and a batch after it."""
    half = bytes(96)
    return [message, Batch(peer.play.state.number + 1, (), half, half)]


def discloses_its_seed(peer: Peer, message: Message) -> list[Message]:
    """The seed of a game's secrets, and the message."""
    if peer.state.play is None or not peer.play.state.games:
        return [message]
    game_id = peer.play.state.games[0].id
    return [Advisory(game_id, peer.config.entropy(game_id)[:32]), message]


def discloses_a_lock(peer: Peer, message: Message) -> list[Message]:
    """A lock of a deck in a step of another one, and the message."""
    decks = peer.endpoint.decks if peer.state.endpoint else {}
    for deck in decks.values():
        return [DeckStep(0, 1, deck.opening(0)), message]
    return [message]


# --- functions of the engine ---------------------------------------------------------------------


def uses_up(name: Callable[..., Any]) -> Callable[..., Any]:
    """Use up the numbers of decks that a proposal names before they are begun."""

    def function(pool: DeckPool, numbers: Iterable[int]) -> DeckPool:
        numbers = [*numbers]
        after: DeckPool = name(pool, numbers)
        return replace(after, highest=max([pool.highest, *numbers]))

    return function


def without_evidence(judge_move: Callable[..., Any]) -> Callable[..., Any]:
    """Judge a move with no evidence but `()`."""
    return lambda *args: judge_move(*args[:-1], ())


def cancels_first(next_step: Callable[..., Any]) -> Callable[..., Any]:
    """Send a batch before the shutdown, if there is one to send or the other side asks for it."""

    def other(endpoint: Endpoint, play: PlayState, turns: Turns) -> Step:
        step: Step = next_step(endpoint, play, turns)
        sends = step is Step.SHUT_DOWN and (play.they_asked or bool(play.queue))
        return Step.SEND if sends else step

    return other


def waits_twice(in_play: Callable[..., Any]) -> Callable[..., Any]:
    """Count the time for an answer from the request on, however late that could be sent."""
    return lambda play, side, **options: in_play(play, side, wanted=False)


def without_spacing(least: Callable[..., Any]) -> Callable[..., Any]:
    """Require as many blocks as where every block carries transactions."""
    return lambda *args: least(*args[:-1], HOME_SPACING)
