"""Changes of a case in the debugger: its move, share, amount, state or evidence."""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec.structs import replace

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.describe import described_value
from channelsim.channel.lab.sites.honest_play import legal_result
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.arguments import Pattern, pattern
from channelsim.clsp.analysis.recording import RunRecord
from channelsim.clsp.run import ProgramSlash, ProgramValid, run_serialized
from channelsim.games.amounts import counted
from channelsim.games.contract import Raise, Slash, Valid, Verdict
from channelsim.games.names import nearest_or_all
from channelsim.games.vectors import Case, Expect, NextRecord, arguments, verdict

FIELDS = ("move", "share", "amount", "state", "evidence")

_COIN = 1
"""The place of the coin's values among the arguments of a validator."""
_COIN_FIELDS = ("", "", "", "amount", "", "", "move", "", "", "share", "")
_FIELDS_BESIDE = ("", "", "state", "", "evidence", "")
"""The fields at these places; empty where a case has none."""

_HEX = re.compile(r"(0x)?((?:[0-9a-fA-F]{2})*)")


def edited(case: Case, record: RunRecord, name: str, text: str) -> Case:
    """The case with another value of a field, or of the item of the state with this name.

    A field may also have its name in the program, as in `MOVE`. Values are written as in
    conformance cases: `7`, `0x1f`, `[1, "0x00"]`. Raises `UsageError`.
    """
    name = _fields_by_argument(record).get(name, name)
    match name:
        case "move":
            match = _HEX.fullmatch(text)
            if match is None:
                raise UsageError(f"move {text[:60]}: hex digits, an even number of them")
            return replace(case, move=match[2].lower())
        case "share" | "amount":
            if not re.fullmatch(r"-?\d{1,40}", text):
                raise UsageError(f"{name} {text[:60]}: a whole number")
            changes = {"mover_share" if name == "share" else name: int(text)}
            return replace(case, **changes)
        case "evidence":
            return replace(case, evidence=_value(name, text))
        case "state":
            return replace(case, state=_value(name, text))
    items = state_names(record)
    if items == name:
        return replace(case, state=_value(name, text))
    known = names_of_fields(case, record)
    if name not in known or not isinstance(items, list):
        raise UsageError(f"{name[:60]}: no field of the case{nearest_or_all(name, known)}")
    state = list(case.state)
    at = items.index(name)
    if at >= len(state):
        raise UsageError(f"{name}: the state has only {counted(len(state), 'item')}")
    state[at] = _value(name, text)
    return replace(case, state=state)


def expecting(target: Target, case: Case) -> Case:
    """A changed case with the result that the rules expect of it.

    Where they say nothing, as without rules, it is the result of the program. Raises `BadCase`.
    """
    expected = None if target.rules is None else verdict(case, target.game, target.hashes)
    expected = expected or _outcome(target, case)
    if not isinstance(expected, Valid):
        expect: Expect = "slash" if isinstance(expected, Slash) else "raise"
        return replace(case, expect=expect, next=None, conditions=[])
    record = None
    if expected.next is not None:
        state = described_value(expected.next.state.value(), target, bytes.fromhex(case.move))
        record = NextRecord(expected.next.validator, state, expected.next.max_move_size)
    conditions = [described_value(condition, target) for condition in expected.conditions]
    return replace(case, expect="valid", next=record, conditions=conditions)


def _outcome(target: Target, case: Case) -> Verdict:
    """The outcome of the program as a verdict."""
    environment = arguments(case, target.name, target.programs)
    match run_serialized(target.programs[case.validator].serialized, environment):
        case ProgramSlash():
            return Slash("")
        case ProgramValid(value):
            return legal_result(target, value) or Valid(None)
        case _:
            return Raise("")


def _value(name: str, text: str) -> Any:
    """A value in the notation of conformance cases; hex may stand without quotes."""
    quoted = re.sub(r'(?<![\w"])(0x[0-9a-fA-F]*)(?![\w"])', r'"\1"', text)
    try:
        return json.loads(quoted)
    except (ValueError, RecursionError):
        raise UsageError(
            f'{name} {text[:60]}: a value as in conformance cases: 7, 0x1f, [1, "0x00"]'
        ) from None


def names_of_fields(case: Case, record: RunRecord) -> tuple[str, ...]:
    """The names of everything that can be changed."""
    items = state_names(record)
    if isinstance(items, str):
        return *FIELDS, *((items,) if items else ())
    return *FIELDS, *(items if isinstance(case.state, list) else ())


def _fields_by_argument(record: RunRecord) -> dict[str, str]:
    """The fields of a case by the names of the program's own arguments."""
    groups = _items(pattern(record.main.arguments))
    coin = _items(groups[_COIN]) if len(groups) > _COIN else []
    return {
        name: field
        for items, fields in ((coin, _COIN_FIELDS), (groups, _FIELDS_BESIDE))
        for name, field in zip(items, fields, strict=False)
        if isinstance(name, str) and field
    }


def _items(shape: Pattern) -> list[Pattern]:
    """The items of a list, without what follows the last one."""
    items = []
    while isinstance(shape, tuple):
        items.append(shape[0])
        shape = shape[1]
    return items


def state_names(record: RunRecord) -> list[str] | str:
    """The names of the items of the state, by the program's own arguments, or the name of a state
    that is no list; empty if there are none."""
    shape = pattern(record.main.arguments)
    # The program is given its own hash, the fields of the coin and the move, and the state.
    for _ in range(2):
        if not isinstance(shape, tuple):
            return []
        shape = shape[1]
    names: list[str] = []
    rest = shape[0] if isinstance(shape, tuple) else ""
    if isinstance(rest, str):
        return rest
    while isinstance(rest, tuple):
        if not isinstance(rest[0], str):
            return []
        names.append(rest[0])
        rest = rest[1]
    return names
