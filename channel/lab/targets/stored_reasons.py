"""Reasons that a game's package stores about places of its programs, in a TOML file."""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import TypeAlias

import msgspec

from channelsim.channel.system import toml_files
from channelsim.channel.system.file_kinds import Kind

Place: TypeAlias = tuple[str, str, str]
"""A validator, a function, and a piece of its code or a change of it."""


class Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One reason for several places of a function."""

    validator: str
    function: str
    reason: str
    places: tuple[str, ...]


class ReasonsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The form of a whole file; each kind of file has its own names for the two lists."""

    reasons: tuple[Reason, ...]


def read_reasons(
    package: str, name: str, form: type[ReasonsFile], kind: Kind, programs: frozenset[str]
) -> dict[Place, str]:
    """The reasons in a package's file that are about these programs; none without a file.

    Raises `UsageError`.
    """
    path = files(package) / name if package else None
    if path is None or not path.is_file():
        return {}
    with as_file(path) as plain:
        stored = toml_files.read(plain, form, kind).value
    return {
        (reason.validator, reason.function, place): reason.reason
        for reason in stored.reasons
        if reason.validator in programs
        for place in reason.places
    }
