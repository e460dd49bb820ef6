"""Kinds of faults: in a peer's events, in its effects, or in one function of the engine.

A fault is in place only while its peer handles an event; the other side's peer is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

import msgspec

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.agreement import Times
from channelsim.channel.peer.chain_news import ChannelSettled, Undone
from channelsim.channel.peer.interface import (
    AcceptGames,
    CancelGames,
    Effect,
    Event,
    Pinned,
    Push,
    Received,
    Send,
    Store,
    Tell,
)
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.half_signed import preempt, publish
from channelsim.channel.protocol.messages import (
    Advisory,
    Batch,
    Request,
    Shutdown,
    ShutdownDone,
    decode,
    encode,
)
from channelsim.channel.simulation.faults.skipped_checks import EngineCheck, skipped


class EngineFault:
    """A fault in one peer for one run; `reached`: it has made a difference."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.reached = False

    def mark(self) -> None:
        """Note that the fault made a difference."""
        self.reached = True

    def around(self) -> AbstractContextManager[None]:
        """The context in which the peer handles an event."""
        return nullcontext()

    def event(self, event: Event | None) -> Event | None:
        """The event that the peer handles instead of this one."""
        return event

    def drops(self, event: Event | None) -> bool:
        """Whether the peer does not handle an event at all."""
        return False

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The effects to carry out instead of these."""
        return effects


class SkipsCheck(EngineFault):
    """Skips a check of the engine."""

    def __init__(self, peer: Peer, check: EngineCheck) -> None:
        super().__init__(peer)
        self._check = check

    def around(self) -> AbstractContextManager[None]:
        """Skip the check."""
        return skipped(self._check, self.mark)


# --- events and effects -----------------------------------------------------------


class Loses(EngineFault):
    """Loses the spends or records of some names."""

    def __init__(self, peer: Peer, *which: str) -> None:
        super().__init__(peer)
        self._which = which

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """All other effects."""
        kept = [effect for effect in effects if not self._lost(effect)]
        if len(kept) < len(effects):
            self.mark()
        return kept

    def _lost(self, effect: Effect) -> bool:
        return isinstance(effect, Push | Store) and _kind(effect).startswith(self._which)


def _kind(effect: Push | Store) -> str:
    """The name of an effect in the table of faults: a spend is `push` and its name."""
    return f"push {effect.name.removesuffix('+fee')}." if isinstance(effect, Push) else effect.name


class Once(EngineFault):
    """Pushes each spend only once."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self._pushed: set[tuple[str, bytes]] = set()

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """All effects but repeated pushes."""
        kept: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Push):
                key = effect.name, effect.bundle.spends[0].coin.id
                if key in self._pushed:
                    self.mark()
                    continue
                self._pushed.add(key)
            kept.append(effect)
        return kept


class Late(EngineFault):
    """Pushes the spends of some names this many blocks late."""

    def __init__(self, peer: Peer, blocks: int, *which: str) -> None:
        super().__init__(peer)
        self._which = which
        self._blocks = blocks
        self._since: dict[bytes, int] = {}

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """All effects but spends that are not late enough yet."""
        kept: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Push) and _kind(effect).startswith(self._which):
                coin = effect.bundle.spends[0].coin.id
                peak = self.peer.state.block.peak
                if peak - self._since.setdefault(coin, peak) < self._blocks:
                    self.mark()
                    continue
            kept.append(effect)
        return kept


class Clock(EngineFault):
    """Reports another height to the peer."""

    def __init__(self, peer: Peer, by: int) -> None:
        super().__init__(peer)
        self._by = by

    def event(self, event: Event | None) -> Event | None:
        """A block at another height, once the channel is on chain."""
        if not isinstance(event, Block) or self.peer.state.dispute is None:
            return event
        self.mark()
        return Block(event.peak + self._by, event.coins)


class Deaf(EngineFault):
    """Hides some events from the peer."""

    def __init__(self, peer: Peer, deaf_to: Callable[[Peer, Event | None], bool]) -> None:
        super().__init__(peer)
        self._deaf_to = deaf_to

    def drops(self, event: Event | None) -> bool:
        """Whether it hides this event."""
        deaf = self._deaf_to(self.peer, event)
        self.reached = self.reached or deaf
        return deaf


def is_request(peer: Peer, event: Event | None) -> bool:
    """A request for the potato."""
    return isinstance(event, Received) and event.message == encode(Request())


def is_early(peer: Peer, event: Event | None) -> bool:
    """A message that comes before the channel coin is deep enough for this side."""
    return isinstance(event, Received) and peer.phase is Phase.FUNDING


def is_pinned(peer: Peer, event: Event | None) -> bool:
    """The report that a spend conflicts with a pending bundle, to a side that pays fees."""
    return isinstance(event, Pinned) and peer.config.fees is not None


class CancelsAccepted(EngineFault):
    """Cancels the proposals that its player accepts."""

    def event(self, event: Event | None) -> Event | None:
        """Turn an acceptance into a cancellation."""
        if not isinstance(event, AcceptGames):
            return event
        self.mark()
        return CancelGames(event.group_id, "no")


class NeverAsksBack(EngineFault):
    """Never asks for the potato that it gave away with a move due."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self._after_block = False

    def event(self, event: Event | None) -> Event | None:
        """Note whether this is a block: a peer asks for the potato then."""
        self._after_block = isinstance(event, Block)
        return event

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """All effects but the request."""
        left = [
            one for one in effects if not (self._after_block and one == Send(encode(Request())))
        ]
        if len(left) < len(effects):
            self.mark()
        return left


class StoresLast(EngineFault):
    """Stores after everything that should follow."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The same effects, with the stores last."""
        stores = [effect for effect in effects if isinstance(effect, Store)]
        others = [effect for effect in effects if not isinstance(effect, Store)]
        if any(isinstance(effect, Send) for effect in others) and stores:
            self.mark()
        return [*others, *stores]


class Says(EngineFault):
    """Sends other messages instead of the right ones, or beside them."""

    def __init__(self, peer: Peer, say: Callable[[Peer, bytes], list[bytes]]) -> None:
        super().__init__(peer)
        self._say = say

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The effects with the messages changed."""
        said: list[Effect] = []
        for effect in effects:
            if not isinstance(effect, Send):
                said.append(effect)
                continue
            blobs = self._say(self.peer, effect.message)
            if blobs != [effect.message]:
                self.mark()
            for blob in blobs:
                said += [] if blob == effect.message else [Store("sent", blob)]
                said.append(Send(blob))
        return said


def skips_a_number(peer: Peer, blob: bytes) -> list[bytes]:
    """Send a batch with the number after the right one."""
    message = decode(blob)
    if not isinstance(message, Batch):
        return [blob]
    return [encode(msgspec.structs.replace(message, number=message.number + 1))]


def says_twice(peer: Peer, blob: bytes) -> list[bytes]:
    """Send a batch, and an empty one after it."""
    message = decode(blob)
    if not isinstance(message, Batch):
        return [blob]
    return [blob, encode(msgspec.structs.replace(message, number=message.number + 1, actions=()))]


def plays_on(peer: Peer, blob: bytes) -> list[bytes]:
    """Send a batch after a message of the shutdown."""
    message = decode(blob)
    if not isinstance(message, Shutdown | ShutdownDone):
        return [blob]
    half = bytes(96)
    return [blob, encode(Batch(peer.play.state.number + 1, (), half, half))]


def wrong_half(peer: Peer, blob: bytes) -> list[bytes]:
    """Send a batch with its channel half in place of the unroll half."""
    message = decode(blob)
    if not isinstance(message, Batch):
        return [blob]
    return [encode(msgspec.structs.replace(message, unroll_half=message.channel_half))]


def discloses_its_seed(peer: Peer, blob: bytes) -> list[bytes]:
    """Disclose the seed of a game's secrets beside a message."""
    if peer.state.play is None or not peer.play.state.games:
        return [blob]
    game_id = peer.play.state.games[0].id
    return [encode(Advisory(game_id, peer.config.entropy(game_id)[:32])), blob]


class Publishes(EngineFault):
    """Publishes the oldest state that it can complete, not the newest."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The effects with another unroll."""
        changed: list[Effect] = []
        for effect in effects:
            completable = self.peer.play.history if self.peer.state.play else ()
            oldest = [link.signed for link in completable if link.signed][-1:]
            if isinstance(effect, Push) and effect.name == "unroll" and oldest and oldest[0]:
                if oldest[0] != self.peer.play.newest:
                    self.mark()
                secret = self.peer.endpoint.secret_keys
                effect = Push("unroll", publish(self.peer.endpoint.channel, secret, oldest[0]))
            changed.append(effect)
        return changed


class PreemptsItself(EngineFault):
    """Preempts the state that it published itself."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The effects, and that spend."""
        times_out = any(isinstance(one, Push) and one.name == "unroll-timeout" for one in effects)
        if not times_out:
            return effects
        self.mark()
        newest, channel = self.peer.play.newest, self.peer.endpoint.channel
        bundle = preempt(channel, self.peer.endpoint.secret_keys, newest, newest.state)
        return [*effects, Push("preempt", bundle)]


class HidesNews(EngineFault):
    """Hides one kind of news from its player."""

    def __init__(self, peer: Peer, kind: type) -> None:
        super().__init__(peer)
        self._kind = kind

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """All effects but that news."""
        left = [
            one
            for one in effects
            if not (isinstance(one, Tell) and isinstance(one.news, self._kind))
        ]
        if len(left) < len(effects):
            self.mark()
        return left


class FalseNews(EngineFault):
    """Tells its player false news."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """The effects with the news changed."""
        changed: list[Effect] = []
        for effect in effects:
            match effect:
                case Tell(Undone()):
                    self.mark()
                case Tell(ChannelSettled() as news):
                    self.mark()
                    changed.append(Tell(replace(news, ours=news.ours + 1)))
                case _:
                    changed.append(effect)
        return changed


def hastily(planted: EngineFault, original: Callable[..., Any], *args: Any) -> Any:
    """Wait for a block or two, instead of the agreed times."""
    marks, late = original(*args[:-1], Times(1, 1, 1))
    if late is not None and original(*args)[1] is None:
        planted.mark()
    return marks, late


# --- functions of the engine ---------------------------------------------------------------------


class Replaced(EngineFault):
    """Replaces one function of the engine; `other` gets the fault and the original first."""

    def __init__(self, peer: Peer, where: str, other: Callable[..., Any]) -> None:
        super().__init__(peer)
        self._where = where
        self._other = other

    @contextmanager
    def _replacing(self) -> Iterator[None]:
        module, _, path = self._where.partition(":")
        *owners, name = path.split(".")
        owner: Any = import_module(f"channelsim.channel.{module}")
        for part in owners:
            owner = getattr(owner, part, None)
        original = vars(owner).get(name) if owner is not None else None
        if original is None:
            raise InvariantError(f"the engine has no {self._where}: the fault cannot be planted")
        changed = partial(self._other, self, original)
        # A partial does not bind as a method, so a function stands for it.
        replacement = (
            (lambda *args, **more: changed(*args, **more)) if callable(original) else changed()
        )
        setattr(owner, name, replacement)
        try:
            yield
        finally:
            setattr(owner, name, original)

    def around(self) -> AbstractContextManager[None]:
        """Replace the function."""
        return self._replacing()


def always(value: Any) -> Callable[..., Any]:
    """Return a value, whatever the original returns."""

    def other(planted: EngineFault, original: Callable[..., Any], *args: Any, **more: Any) -> Any:
        if original(*args, **more) != value:
            planted.mark()
        return value

    return other


def instead(call: Callable[..., Any]) -> Callable[..., Any]:
    """Call another function, and not the original."""

    def other(planted: EngineFault, original: Callable[..., Any], *args: Any) -> Any:
        planted.mark()
        return call(*args)

    return other


def first_fee(planted: EngineFault, original: Callable[..., Any], fees: Any, blocks: int) -> Any:
    """Offer the first fee, however long a spend waits."""
    if original(fees, blocks) != fees.first:
        planted.mark()
    return fees.first


def highest_fee(planted: EngineFault, original: Callable[..., Any], fees: Any, blocks: int) -> Any:
    """Offer the highest fee at once."""
    if original(fees, blocks) != fees.most:
        planted.mark()
    return fees.most


def never_late(planted: EngineFault, original: Callable[..., Any], *args: Any) -> Any:
    """Find nothing late, ever."""
    marks, late = original(*args)
    if late is not None:
        planted.mark()
    return marks, None


def without_evidence(planted: EngineFault, original: Callable[..., Any], *args: Any) -> Any:
    """Judge a move with no evidence but `()`."""
    if args[-1]:
        planted.mark()
    return original(*args[:-1], ())


def constant(value: Any) -> Callable[..., Any]:
    """Give a constant another value."""

    def other(planted: EngineFault, original: Any) -> Any:
        planted.mark()
        return value

    return other
