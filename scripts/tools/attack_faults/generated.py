"""Faults made from the tables of the product: its rules, news, messages, events, fields, phases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, get_args

import msgspec

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import Violation
from channelsim.channel.peer.fees.fee_state import FeeState
from channelsim.channel.peer.interface import (
    ComputeDeck,
    DecksChanged,
    Effect,
    News,
    Received,
    Send,
    Tell,
    Watch,
)
from channelsim.channel.peer.machine import MESSAGES, TRANSITIONS, UNCOUNTED
from channelsim.channel.peer.phases import closing, on_chain, playing
from channelsim.channel.protocol.messages import decode
from channelsim.channel.protocol.rules import RULES
from channelsim.channel.store import durable_peer, event_codec, snapshots
from channelsim.channel.store.durable_peer import DurablePeer
from scripts.tools.attack_faults.engine_checks import unchecked
from scripts.tools.attack_faults.planting import Fault, Planting, Reach, handler, marking, without


def generated() -> Iterator[Fault]:
    """All of them."""
    yield from rules()
    yield from forgotten_effects()
    yield from deaf_phases()
    yield from lost_fields()
    yield from unwritten_events()


def words(name: str) -> str:
    """The words of a name, with hyphens.

    >>> words("ShutdownDone"), words("last_sent")
    ('shutdown-done', 'last-sent')
    """
    return "-".join(re.findall(r"[A-Z]?[a-z0-9]+", name)).lower()


# --- the engine ----------------------------------------------------------------------------------

TIMES = ("CH-TIME-1", "CH-TIME-2")
"""The rules that no message breaks, but silence: `deadlines` has their faults."""

JUDGED = ("CH-MOVE-4", "CH-MOVE-5")
"""The rules of which a ruling says that they are broken: no check raises them. `behaviours` and
`engine` have faults of rulings."""

IMPLIED = ("CH-MOVE-3",)
"""The rules that are broken only with another one: a second move is out of turn, by CH-MOVE-2."""


def rules() -> Iterator[Fault]:
    """A fault for each rule of the channel: nothing is checked by it."""
    for rule, text in RULES.items():
        if rule not in (*TIMES, *JUDGED, *IMPLIED):
            yield Fault(
                f"unchecked-{rule.lower()}",
                "fees" if "FEE" in rule else "engine",
                f"takes what breaks {rule}: {text}",
                _unchecked(rule),
            )


def _unchecked(rule: str) -> Planting:
    def broken(reach: Reach, right: Any, violation: Violation, *given: Any) -> None:
        right(violation, *given)
        if violation.rule == rule:
            reach.mark()

    probe = marking(Violation, "__init__", broken, broken)

    def plant(stack: ExitStack, reach: Reach) -> None:
        if reach.probes:
            probe(stack, reach)
        else:
            stack.enter_context(unchecked(rule, reach.mark))

    return plant


def forgotten_effects() -> Iterator[Fault]:
    """A fault for each kind of effect and of news: it is forgotten. Spends are in `engine`."""
    for message in (*MESSAGES, *UNCOUNTED):
        yield Fault(
            f"forgets-to-send-{words(message.__name__)}",
            "decks" if message.__name__.startswith("Deck") else "engine",
            f"never sends a `{message.__name__}`",
            without(_sends(message)),
        )
    for effect in (Watch, ComputeDeck):
        yield Fault(
            f"forgets-to-{words(effect.__name__)}",
            "decks" if effect is ComputeDeck else "engine",
            f"forgets the effect `{effect.__name__}`",
            without(_is(effect)),
        )
    for news in get_args(News):
        yield Fault(
            f"forgets-to-tell-{words(news.__name__)}",
            "decks" if news.__name__.startswith("Deck") else "engine",
            f"does not tell the player `{news.__name__}`",
            without(_tells(news)),
        )


def _is(kind: type) -> Callable[[Effect], bool]:
    return lambda effect: isinstance(effect, kind)


def _sends(kind: type) -> Callable[[Effect], bool]:
    return lambda effect: isinstance(effect, Send) and isinstance(decode(effect.message), kind)


def _tells(kind: type) -> Callable[[Effect], bool]:
    return lambda effect: isinstance(effect, Tell) and isinstance(effect.news, kind)


DOES_NOTHING = (playing.refuse, closing.refuse, closing.ignore, on_chain.ignore)
"""Handlers without which nothing is lost."""


def deaf_phases() -> Iterator[Fault]:
    """A fault for each phase and event: it does nothing then."""
    for phase, table in TRANSITIONS.items():
        for event, right in table.items():
            early = phase.name in ("OPENING", "FUNDING") and event in MESSAGES
            if right not in DOES_NOTHING and not early:
                yield Fault(
                    f"deaf-to-{words(event.__name__)}-in-{phase.name.lower().replace('_', '-')}",
                    "decks" if "Deck" in event.__name__ else "engine",
                    f"ignores a `{event.__name__}` in the phase {phase.value}",
                    handler((phase,), event, lambda right, config, state, event: (state, [])),
                )


# --- the store -----------------------------------------------------------------------------------

EMPTY: dict[str, object] = {
    "phase": "PLAYING",
    "block": Block(0),
    "fees": FeeState(),
    **dict.fromkeys(("watched", "reveals", "decks", "queue", "marks"), ()),
    **dict.fromkeys(("last_received", "last_batch", "last_sent"), b""),
    **dict.fromkeys(("shutdown", "refusal"), None),
    **dict.fromkeys(("highest_deck", "stored_bytes"), 0),
    **dict.fromkeys(
        (*("potato", "we_asked", "they_asked", "ask_later", "closing", "shutting_down"),
         *("proposals_ended", "resuming")),
        False,
    ),
}  # fmt: skip
"""The value of each field of a snapshot that has lost it; `groups` loses those of each state."""

FIELDS: tuple[str, ...] = snapshots._Snapshot.__struct_fields__  # noqa: SLF001


def lost_fields() -> Iterator[Fault]:
    """A fault for each field of a snapshot: a restart has lost it."""
    for field in FIELDS:
        yield Fault(
            f"snapshot-without-{words(field)}",
            "store",
            f"a snapshot loses its field `{field}`",
            _losing(field),
        )


def _losing(field: str) -> Planting:
    kind: Any = snapshots._Snapshot  # noqa: SLF001

    def encoded(reach: Reach, right: Any, *given: Any) -> bytes:
        snapshot = msgspec.msgpack.decode(right(*given), type=kind)
        empty = EMPTY.get(field, tuple((number, ()) for number, _ in snapshot.groups))
        changed = msgspec.structs.replace(snapshot, **{field: empty})
        if changed != snapshot:
            reach.mark()
        return msgspec.msgpack.encode(snapshot if reach.probes else changed)

    return marking(durable_peer, "encode_snapshot", encoded, encoded)


OF_STORE = (event_codec.Start, DecksChanged)
"""Events that the store makes itself."""


def unwritten_events() -> Iterator[Fault]:
    """A fault for each kind of event, and of message: the journal lacks it."""
    kinds: dict[str, type] = event_codec._KINDS  # noqa: SLF001
    for kind in kinds.values():
        if not kind.__name__.startswith("_"):
            yield _unwritten(kind.__name__, _is_event(kind), of_store=kind in OF_STORE)
    yield _unwritten("Block", _is_event(Block))
    for message in (*MESSAGES, *UNCOUNTED):
        yield _unwritten(message.__name__, _brings(message))


def _unwritten(name: str, is_lost: Callable[[Any], bool], *, of_store: bool = False) -> Fault:
    def record(reach: Reach, right: Any, durable: Any, events: Any) -> None:
        kept = [event for event in events if not is_lost(event)]
        if len(kept) < len(events):
            reach.mark()
        right(durable, events if reach.probes else kept)

    def keep(reach: Reach, right: Any, durable: Any, event: Any, *given: Any) -> None:
        if is_lost(event):
            reach.mark()
        if reach.probes or not is_lost(event):
            right(durable, event, *given)

    return Fault(
        f"stores-no-{words(name)}",
        "decks" if "Deck" in name else "store",
        f"the journal lacks each `{name}`",
        marking(DurablePeer, "_record", record, record)
        if of_store
        else marking(DurablePeer, "_keep", keep, keep),
    )


def _is_event(kind: type) -> Callable[[Any], bool]:
    return lambda event: isinstance(event, kind)


def _brings(kind: type) -> Callable[[Any], bool]:
    def brings(event: Any) -> bool:
        if not isinstance(event, Received):
            return False
        try:
            return isinstance(decode(event.message), kind)
        except Violation:
            return False

    return brings
