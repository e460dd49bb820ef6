"""Fields of a case beside those of honest play."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from channelsim.channel.lab.cases.explanation import state_fields
from channelsim.channel.lab.fuzz.case_records import read_value
from channelsim.channel.lab.trace.trace_text import TraceRequest
from channelsim.channel.report.html.shown_run import zeros_folded
from channelsim.clsp.analysis.text import value_text
from channelsim.clsp.values import Value
from channelsim.games.amounts import counted
from channelsim.games.vectors import BadCase

ROOM = 200
"""A field is shown in about this many characters."""


class Segment(msgspec.Struct, frozen=True):
    """A piece of a field's text; `changed` if it is not as in honest play."""

    text: str
    changed: bool


class FieldPair(msgspec.Struct, frozen=True):
    """A field of the call, in honest play and in the case."""

    name: str
    honest: tuple[Segment, ...]
    case: tuple[Segment, ...]

    @property
    def changed(self) -> bool:
        """True if the case differs from honest play in it."""
        return any(segment.changed for segment in (*self.honest, *self.case))


def case_fields(probe: Mapping[str, Any], request: TraceRequest | str) -> Iterator[FieldPair]:
    """The fields of a stored probe; none for a recorded case, which has no probe.

    A state has a field for each of its own, where the target is known.
    """
    move, honest = (probe.get(name) for name in ("move", "honest_move"))
    if not isinstance(move, str) or not isinstance(honest, str):
        return
    yield FieldPair("move", *_marked(honest, move))
    share, honest_share = (_mojos(probe.get(name)) for name in ("share", "honest_share"))
    yield FieldPair("opponent's share", *_whole(honest_share, share))
    candidates = probe.get("held")
    candidates = candidates if isinstance(candidates, list) else []
    evidence = probe.get("evidence")
    usual = evidence if evidence in candidates else next(iter(candidates), None)
    yield FieldPair("evidence", *_whole(_text(usual), _text(evidence)))
    # Both are made in the same place of a hand.
    for name, text in (
        ("amount", _mojos(probe.get("amount"))),
        ("most bytes of the move", _text(probe.get("max_move_size"))),
        *_state(probe, request),
    ):
        yield FieldPair(name, *_whole(text, text))


def _mojos(amount: Any) -> str:
    return counted(amount, "mojo") if isinstance(amount, int) else _text(amount)


def _state(probe: Mapping[str, Any], request: TraceRequest | str) -> Iterator[tuple[str, str]]:
    """The fields of the state by their names; the state as a whole where they have none."""
    target = None if isinstance(request, str) else request.target
    fields: dict[str, Value] = {}
    if target is not None:
        with suppress(BadCase, RecursionError):
            state = read_value(probe.get("state"), target)
            fields = state_fields(target, str(probe.get("validator")), state)
    if target is None or not fields:
        yield "state", zeros_folded(_text(probe.get("state")))
    for name, value in fields.items():
        known = {} if target is None else target.hash_names
        yield f"state: {name}", zeros_folded(value_text(value, ROOM, known))


def _marked(honest: str, case: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    """Two texts of hex, each in pieces of bytes that are the same in both, or are not."""
    first, second = (re.findall("..?", text) for text in (honest, case))
    common = min(len(first), len(second))

    def pieces(mine: list[str], others: list[str]) -> tuple[Segment, ...]:
        """One text in pieces."""
        marked = ((byte, at >= common or byte != others[at]) for at, byte in enumerate(mine))
        return tuple(
            Segment("".join(byte for byte, _ in run), changed)
            for changed, run in groupby(marked, key=itemgetter(1))
        )

    return pieces(first, second), pieces(second, first)


def _whole(honest: str, case: str) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
    changed = honest != case
    return (Segment(honest, changed),), (Segment(case, changed),)


def _text(value: Any) -> str:
    """A value of a stored probe: atoms in hex, lists and pairs as JSON."""
    text = value if isinstance(value, str) else json.dumps(value)
    return "()" if text == "0x" else text
