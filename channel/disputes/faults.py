"""Faults that are planted in the honest side's engine, to see that the promises notice them.

A fault is either a check that is left out, one for each that the engine has, or something that
it does wrongly: with what goes into a peer, with what comes out of it, or with one function in
between. It is there only while the honest side works. Each names the adversaries that it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import msgspec

from channel.clock import Times
from channel.disputes.unchecked import Check, checks, left_out
from channel.errors import InvariantError
from channel.events import (
    Block,
    Effect,
    Event,
    Push,
    Received,
    Send,
    Store,
    Tell,
)
from channel.messages import Advisory, Batch, Request, Shutdown, ShutdownDone, decode, encode
from channel.onchain.news import ChannelSettled, Undone
from channel.peer import Peer
from channel.signed import preempt, publish


class Planted:
    """A fault in one peer for one run. `reached`: it has made a difference."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.reached = False

    def mark(self) -> None:
        """Note that the fault made a difference."""
        self.reached = True

    def around(self) -> AbstractContextManager[None]:
        """What holds while the peer works."""
        return nullcontext()

    def event(self, event: Event | None) -> Event | None:
        """What the peer is given in place of an event; the same, unless the fault is here."""
        return event

    def drops(self, event: Event | None) -> bool:
        """Whether the peer is not told of an event at all."""
        return False

    def effects(self, effects: list[Effect]) -> list[Effect]:
        """What comes out in place of these effects."""
        return effects


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault by name: the rules or promises that it is about, what is wrong, and how.

    `seen_by` are the adversaries against which it should show.
    """

    name: str
    about: tuple[str, ...]
    what: str
    plant: Callable[[Peer], Planted]
    seen_by: tuple[str, ...]


# --- checks that are left out -------------------------------------------------------------------


class _Unchecked(Planted):
    def __init__(self, peer: Peer, check: Check) -> None:
        super().__init__(peer)
        self._check = check

    def around(self) -> AbstractContextManager[None]:
        return left_out(self._check, self.mark)


def _unchecked(check: Check) -> Fault:
    rules = check.rules or _RULES_OF.get(check.name.split("/")[0], ())
    return Fault(
        f"unchecked {check.name}",
        rules,
        f"does not refuse: {check.says}",
        lambda peer: _Unchecked(peer, check),
        tuple(f"breaks-{rule.lower()}" for rule in rules),
    )


_FUNDING = ("CH-OPEN-9", "CH-OPEN-10")
_RULES_OF = {
    "batch._open_group": ("CH-CANCEL-1", "CH-ACCEPT-1"),
    "funding._check_wallet": _FUNDING,
    "funding._read": _FUNDING,
    "funding._conditions": _FUNDING,
    "funding._items": _FUNDING,
    "funding._amount": _FUNDING,
    "receive._judge": ("CH-MOVE-4",),
    "receive._faults": ("CH-MOVE-4", "CH-MOVE-5"),
}
"""The rules of checks that are told them by who calls, by module and function."""


# --- what goes in, and what comes out -----------------------------------------------------------


class _Loses(Planted):
    """Effects of one kind never come out."""

    def __init__(self, peer: Peer, *which: str) -> None:
        super().__init__(peer)
        self._which = which

    def effects(self, effects: list[Effect]) -> list[Effect]:
        kept = [effect for effect in effects if not self._lost(effect)]
        if len(kept) < len(effects):
            self.mark()
        return kept

    def _lost(self, effect: Effect) -> bool:
        return isinstance(effect, Push | Store) and _kind(effect).startswith(self._which)


def _kind(effect: Push | Store) -> str:
    """What the tables below call it: a spend is `push` and its name."""
    return f"push {effect.name.removesuffix('+fee')}." if isinstance(effect, Push) else effect.name


class _Once(Planted):
    """A spend is pushed once, and not again when it is not in."""

    def __init__(self, peer: Peer) -> None:
        super().__init__(peer)
        self._pushed: set[tuple[str, bytes]] = set()

    def effects(self, effects: list[Effect]) -> list[Effect]:
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


class _Late(Planted):
    """Spends of one kind are pushed so many blocks after they were due."""

    def __init__(self, peer: Peer, blocks: int, *which: str) -> None:
        super().__init__(peer)
        self._which = which
        self._blocks = blocks
        self._since: dict[bytes, int] = {}

    def effects(self, effects: list[Effect]) -> list[Effect]:
        kept: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Push) and _kind(effect).startswith(self._which):
                coin = effect.bundle.spends[0].coin.id
                peak = self.peer._picture.peak
                if peak - self._since.setdefault(coin, peak) < self._blocks:
                    self.mark()
                    continue
            kept.append(effect)
        return kept


class _Clock(Planted):
    """The height that it is told of is another one."""

    def __init__(self, peer: Peer, by: int) -> None:
        super().__init__(peer)
        self._by = by

    def event(self, event: Event | None) -> Event | None:
        if not isinstance(event, Block) or self.peer._dispute is None:
            return event
        self.mark()
        return replace(event, peak=event.peak + self._by)


class _Deaf(Planted):
    """Requests are not heard."""

    def drops(self, event: Event | None) -> bool:
        deaf = isinstance(event, Received) and event.message == encode(Request())
        self.reached = self.reached or deaf
        return deaf


class _StoresLast(Planted):
    """What is to be stored first is stored last."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
        stores = [effect for effect in effects if isinstance(effect, Store)]
        others = [effect for effect in effects if not isinstance(effect, Store)]
        if any(isinstance(effect, Send) for effect in others) and stores:
            self.mark()
        return [*others, *stores]


class _Says(Planted):
    """Something is said beside, or in place of, what is right."""

    def __init__(self, peer: Peer, say: Callable[[Peer, bytes], list[bytes]]) -> None:
        super().__init__(peer)
        self._say = say

    def effects(self, effects: list[Effect]) -> list[Effect]:
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


def _skips_a_number(peer: Peer, blob: bytes) -> list[bytes]:
    message = decode(blob)
    if not isinstance(message, Batch):
        return [blob]
    return [encode(msgspec.structs.replace(message, number=message.number + 1))]


def _says_twice(peer: Peer, blob: bytes) -> list[bytes]:
    message = decode(blob)
    if not isinstance(message, Batch):
        return [blob]
    return [blob, encode(msgspec.structs.replace(message, number=message.number + 1, actions=()))]


def _plays_on(peer: Peer, blob: bytes) -> list[bytes]:
    message = decode(blob)
    if not isinstance(message, Shutdown | ShutdownDone):
        return [blob]
    half = bytes(96)
    return [blob, encode(Batch(peer.book.state.number + 1, (), half, half))]


def _wrong_half(peer: Peer, blob: bytes) -> list[bytes]:
    message = decode(blob)
    if not isinstance(message, Batch):
        return [blob]
    return [encode(msgspec.structs.replace(message, unroll_half=message.channel_half))]


def _tells_its_seed(peer: Peer, blob: bytes) -> list[bytes]:
    if peer._book is None or not peer.book.state.games:
        return [blob]
    game_id = peer.book.state.games[0].id
    return [encode(Advisory(game_id, peer.config.entropy(game_id)[:32])), blob]


class _Publishes(Planted):
    """It publishes the first state that it could complete, not the newest."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
        changed: list[Effect] = []
        for effect in effects:
            oldest = (
                [link.signed for link in self.peer.book.past if link.signed][-1:]
                if (self.peer._book)
                else []
            )
            if isinstance(effect, Push) and effect.name == "unroll" and oldest and oldest[0]:
                if oldest[0] != self.peer.book.newest:
                    self.mark()
                secret = self.peer._secret_keys
                effect = Push("unroll", publish(self.peer._table().channel, secret, oldest[0]))
            changed.append(effect)
        return changed


class _PreemptsItself(Planted):
    """It preempts its own newest state, which has its own parity."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
        times_out = any(isinstance(one, Push) and one.name == "unroll-timeout" for one in effects)
        if not times_out:
            return effects
        self.mark()
        newest, channel = self.peer.book.newest, self.peer._table().channel
        bundle = preempt(channel, self.peer._secret_keys, newest, newest.state)
        return [*effects, Push("preempt", bundle)]


class _News(Planted):
    """It tells its player what is not so."""

    def effects(self, effects: list[Effect]) -> list[Effect]:
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


class _Config(Planted):
    """It goes by other settings than it should."""

    def __init__(self, peer: Peer, **changes: Any) -> None:
        super().__init__(peer)
        peer.config = replace(peer.config, **changes)
        self.mark()


# --- functions in between -----------------------------------------------------------------------


class _Replaced(Planted):
    """One function of the engine is another one: `other` gets the original and a mark."""

    def __init__(self, peer: Peer, where: str, other: Callable[..., Any]) -> None:
        super().__init__(peer)
        self._where = where
        self._other = other

    @contextmanager
    def _replacing(self) -> Iterator[None]:
        module, _, path = self._where.partition(":")
        *owners, name = path.split(".")
        owner: Any = import_module(f"channel.{module}")
        for part in owners:
            owner = getattr(owner, part, None)
        original = vars(owner).get(name) if owner is not None else None
        if original is None:
            raise InvariantError(f"the engine has no {self._where}: the fault cannot be planted")
        if callable(original):
            replacement = lambda *args, **more: self._other(self, original, *args, **more)  # noqa: E731
        else:
            replacement = self._other(self, original)
        setattr(owner, name, replacement)
        try:
            yield
        finally:
            setattr(owner, name, original)

    def around(self) -> AbstractContextManager[None]:
        return self._replacing()


def _nothing(instead: Any) -> Callable[..., Any]:
    """Answers so whatever the original says, and marks where that is something else."""

    def other(planted: Planted, original: Callable[..., Any], *args: Any, **more: Any) -> Any:
        if original(*args, **more) != instead:
            planted.mark()
        return instead

    return other


def _never_late(planted: Planted, original: Callable[..., Any], *args: Any) -> Any:
    marks, late = original(*args)
    if late is not None:
        planted.mark()
    return marks, None


def _without_evidence(planted: Planted, original: Callable[..., Any], *args: Any) -> Any:
    if args[-1]:
        planted.mark()
    return original(*args[:-1], ())


def _constant(value: Any) -> Callable[..., Any]:
    def other(planted: Planted, original: Any) -> Any:
        planted.mark()
        return value

    return other


def _behaves(
    name: str,
    about: str,
    what: str,
    kind: Callable[..., Planted],
    *args: Any,
    by: tuple[str, ...],
    **more: Any,
) -> Fault:
    return Fault(name, (about,), what, lambda peer: kind(peer, *args, **more), by)


def behaviours() -> tuple[Fault, ...]:
    """What an engine can do wrongly besides leaving out a check."""
    # What it takes to be in need of each spend.
    stale = ("stale-oldest", "stale-any")
    return (
        _behaves(
            "never publishes",
            "liveness",
            "loses its unroll",
            _Loses,
            "push unroll.",
            by=("silent", "dead"),
        ),
        _behaves(
            "never preempts", "safety", "loses its preemption", _Loses, "push preempt.", by=stale
        ),
        _behaves(
            "preempts late",
            "safety",
            "preempts 15 blocks late",
            _Late,
            15,
            "push preempt.",
            by=(*stale, "rewinder"),
        ),
        _behaves(
            "never times out",
            "liveness",
            "loses an unroll's timeout form",
            _Loses,
            "push unroll-timeout.",
            by=("dead",),
        ),
        _behaves("never claims", "safety", "loses its claims", _Loses, "push claim.", by=("dead",)),
        _behaves(
            "claims late",
            "liveness",
            "claims 15 blocks late",
            _Late,
            15,
            "push claim.",
            by=("dead", "silent"),
        ),
        _behaves(
            "never slashes",
            "safety",
            "loses its slashes",
            _Loses,
            "push slash.",
            by=("wrong-commitment", "illegal-on-chain"),
        ),
        _behaves(
            "slashes late",
            "safety",
            "slashes 15 blocks late",
            _Late,
            15,
            "push slash.",
            by=("claimer", "wrong-commitment", "illegal-on-chain", "chameleon"),
        ),
        _behaves(
            "never moves on chain",
            "safety",
            "loses its moves on chain",
            _Loses,
            "push move.",
            by=("leaver", "silent", "late-mover-2"),
        ),
        _behaves(
            "never redoes",
            "safety",
            "loses its redone moves",
            _Loses,
            "push redo.",
            by=("silent", "leaver"),
        ),
        _behaves(
            "moves late",
            "safety",
            "moves 12 blocks late on chain",
            _Late,
            12,
            "push move.",
            "push redo.",
            by=("claimer", "leaver", "silent"),
        ),
        _behaves(
            "never shuts",
            "liveness",
            "loses the completed shutdown",
            _Loses,
            "push shutdown.",
            by=("dead", "withholder", "resurrector", "leaver", ""),
        ),
        _behaves(
            "pushes once",
            "liveness",
            "never pushes a spend again",
            _Once,
            by=("rewinder", "answers-again", "resurrector", "pinner"),
        ),
        _behaves(
            "clock ahead",
            "safety",
            "counts two blocks too many on chain",
            _Clock,
            2,
            by=("dead", "silent", "leaver"),
        ),
        _behaves(
            "clock behind",
            "liveness",
            "counts nine blocks too few on chain",
            _Clock,
            -9,
            by=("dead", "silent", "claimer"),
        ),
        _behaves(
            "publishes an old state",
            "safety",
            "publishes the first state that it has",
            _Publishes,
            by=("silent", "dead"),
        ),
        _behaves(
            "preempts itself",
            "news",
            "preempts the state that it published",
            _PreemptsItself,
            by=("dead", "silent"),
        ),
        _behaves("stores last", "crash safety", "stores after sending", _StoresLast, by=("",)),
        _behaves(
            "forgets what it sent",
            "crash safety",
            "does not store its batches",
            _Loses,
            "sent/",
            by=("",),
        ),
        _behaves(
            "forgets what it received",
            "crash safety",
            "does not store batches",
            _Loses,
            "received/",
            by=("",),
        ),
        _behaves(
            "forgets decisions",
            "crash safety",
            "does not store moves on chain",
            _Loses,
            "decided/",
            by=("leaver", "silent"),
        ),
        _behaves(
            "forgets the shutdown",
            "crash safety",
            "does not store the shutdown",
            _Loses,
            "shutdown/asked",
            "shutdown/completed",
            by=("",),
        ),
        _behaves(
            "forgets the opening",
            "crash safety",
            "does not store the opening",
            _Loses,
            "opening/",
            by=("",),
        ),
        _behaves(
            "deaf to requests",
            "CH-TIME-1",
            "never answers a request",
            _Deaf,
            by=("breaks-ch-accept-2", "flooder", "breaks-ch-settle-2"),
        ),
        _behaves(
            "skips numbers",
            "CH-BATCH-2",
            "sends a batch with another number",
            _Says,
            _skips_a_number,
            by=("",),
        ),
        _behaves(
            "sends two batches",
            "CH-BATCH-1",
            "sends a batch without the potato",
            _Says,
            _says_twice,
            by=("",),
        ),
        _behaves(
            "signs wrongly", "CH-BATCH-5", "sends a half that is none", _Says, _wrong_half, by=("",)
        ),
        _behaves(
            "plays on", "CH-SHUT-5", "sends a batch after a shutdown", _Says, _plays_on, by=("",)
        ),
        _behaves(
            "tells its seed",
            "secrecy",
            "says what a game's secrets come from",
            _Says,
            _tells_its_seed,
            by=("",),
        ),
        _behaves(
            "tells what is not so",
            "news",
            "takes nothing back, and settles at one more",
            _News,
            by=("dead", "rewinder"),
        ),
        _behaves(
            "gives up early",
            "CH-TIME-1",
            "waits for 2 blocks only",
            _Config,
            times=Times(1, 1, 1),
            by=("late-mover-2", "staller", "breaks-ch-batch-6", "dead"),
        ),
        _behaves(
            "waits for ever",
            "liveness",
            "never stops waiting",
            _Replaced,
            "peer_chain:wait",
            _never_late,
            by=("dead", "silent"),
        ),
        _behaves(
            "forgets its moves",
            "safety",
            "does not make again what it sent",
            _Replaced,
            "onchain.records:Records.sent_from",
            _nothing(None),
            by=("silent", "stale-previous", "leaver"),
        ),
        _behaves(
            "forgets settlements",
            "safety",
            "moves on in a game that it settled",
            _Replaced,
            "onchain.records:Records.settled_by_us",
            _nothing(False),
            by=("silent", "dead", "leaver"),
        ),
        _behaves(
            "reveals early",
            "secrecy",
            "moves on chain before the answered move is deep",
            _Replaced,
            "onchain.games:LAST_CHANCE",
            _constant(1000),
            by=("leaver", "silent"),
        ),
        _behaves(
            "takes short games",
            "the least timeout",
            "accepts any timeout of a game",
            _Replaced,
            "proposal:least_timeout",
            _nothing(0),
            by=("short-timeouts",),
        ),
        _behaves(
            "has no evidence",
            "CH-MOVE-4",
            "looks for no evidence of an illegal move",
            _Replaced,
            "receive:judge_move",
            _without_evidence,
            by=("bad-selection", "greedy-share"),
        ),
        _behaves(
            "has no evidence on chain",
            "safety",
            "looks for no evidence on chain",
            _Replaced,
            "onchain.spots:judge_move",
            _without_evidence,
            by=("bad-selection-on-chain", "illegal-on-chain"),
        ),
    )


def faults() -> tuple[Fault, ...]:
    """All faults: checks that are left out, in the order of the source, and the others."""
    return (*map(_unchecked, checks()), *behaviours())
