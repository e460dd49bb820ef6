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

import msgspec

from channelsim.channel.lab.coverage.program_coverage import ProgramCoverage
from channelsim.channel.lab.targets.stored_reasons import Place, Reason, ReasonsFile, read_reasons
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system.file_kinds import Kind
from channelsim.games.registry import package_of

FILE = "unreachable.toml"


class _File(ReasonsFile, frozen=True):
    reasons: tuple[Reason, ...] = msgspec.field(name="unreachable")


def stored_reasons(target: Target) -> Mapping[Place, str]:
    """The reasons for those programs of a target that are the installed ones, byte for byte."""
    package = package_of(target.game.name) if target.rules is not None else ""
    return read_reasons(package, FILE, _File, Kind.UNREACHABLE, target.unchanged)


def unexplained(found: ProgramCoverage, reasons: Mapping[Place, str]) -> list[tuple[str, str]]:
    """The places of a program that were not reached and have no reason: function and code."""
    return [
        (function, code)
        for function, code in found.unreached()
        if (found.name, function, code) not in reasons
    ]
