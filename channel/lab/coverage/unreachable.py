"""Stored reasons why no run can reach a place of a program: `unreachable.toml` beside each game.

    [[unreachable]]
    validator = "draw"
    function  = "pending_size"     # of the source
    reason    = "nobody owes an open card after a draw"
    places    = ["33 of (if (f (r (r (f pending)))) 33 32)"]   # as `channelsim conform` prints them

Programs of several games share sources, so a program may contain what only another one uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import as_file, files
from typing import TypeAlias

import msgspec

from channelsim.channel.lab.coverage.program_coverage import ProgramCoverage
from channelsim.channel.lab.target.target import Target
from channelsim.channel.system import toml_files
from channelsim.channel.system.file_kinds import Kind
from channelsim.games.registry import package_of

FILE = "unreachable.toml"


class Unreachable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason why some places of one function are never reached."""

    validator: str
    function: str
    reason: str
    places: tuple[str, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unreachable: tuple[Unreachable, ...]


Place: TypeAlias = tuple[str, str, str]
"""A validator, a function and the code that is not reached."""


def stored_reasons(target: Target) -> Mapping[Place, str]:
    """The reasons for those programs of a target that are the installed ones, byte for byte."""
    package = package_of(target.game.name) if target.rules is not None else ""
    path = files(package) / FILE if package else None
    if path is None or not path.is_file():
        return {}
    with as_file(path) as plain:
        file = toml_files.read(plain, _File, Kind.UNREACHABLE).value
    return {
        (one.validator, one.function, place): one.reason
        for one in file.unreachable
        if one.validator in target.unchanged
        for place in one.places
    }


def unexplained(found: ProgramCoverage, reasons: Mapping[Place, str]) -> list[tuple[str, str]]:
    """The places of a program that were not reached and have no reason: function and code."""
    return [
        (function, code)
        for function, code in found.unreached()
        if (found.name, function, code) not in reasons
    ]
