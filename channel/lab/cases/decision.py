"""The line of the author's source that decides how a run of a validator ends."""

from __future__ import annotations

from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.recording import RunRecord, named
from channelsim.clsp.analysis.tracer import TooDeep


def deciding_line(target: Target, validator: str, environment: bytes) -> str:
    """The deciding expression's `file:line`, of its function where the expression is not found.

    "" for a program without sources, and for one that is missing or cannot be traced.
    """
    if target.sources is None or validator in target.missing:
        return ""
    symbols = named(target.with_referee)
    try:
        record = RunRecord(target.programs[validator], symbols, environment, {})
    except TooDeep:
        return ""
    return recorded_line(target, validator, record)


def recorded_line(target: Target, name: str, record: RunRecord) -> str:
    """As `deciding_line`, of a recorded run of the program with this name."""
    found = record.decision()
    line = ""
    if found is not None:
        node, step = found
        line = target.source_line(name, record.owner(step) or name, record.expression(node, step))
    return line or target.source_line(name, name)
