"""The laws that every game's programs must obey, each in its own file of this package.

Every module here with a `LAW` is found by itself. It imports `lab.cases` and the rooms before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from channelsim.channel.lab.cases.trial import LabFinding, Trial
from channelsim.channel.lab.target.target import Target


class Needs(Enum):
    """The targets to which a law applies."""

    RULES = "rules to hold the programs against"
    NO_RULES = "a target without rules, of which only honest play is known"
    RECORDS = "a file of honest play"
    NOTHING = "either"


class Law(Protocol):
    """One law, with its name in reports and the targets that it is for.

    It is tried at one site in `every`, according to its cost: a referee hashes the whole validator
    in CLVM, so a slash costs as much as a hundred calls.
    """

    name: str
    every: int
    needs: Needs

    def check(self, trial: Trial) -> Iterator[LabFinding]:
        """Try the law at a site, and yield each violation."""
        ...


@cache
def laws() -> tuple[Law, ...]:
    """All laws, those that are tried on every case first.

    >>> [law.name for law in laws() if law.every == 1][-1]
    'verdicts agree'
    """
    found: list[Law] = [
        import_module(f"{__name__}.{module.name}").LAW for module in iter_modules(__path__)
    ]
    return tuple(sorted(found, key=lambda law: (law.every, law.name)))


def laws_for(target: Target) -> tuple[Law, ...]:
    """The laws that apply to this target."""
    given = {
        Needs.RULES: target.rules is not None,
        Needs.NO_RULES: target.rules is None,
        Needs.RECORDS: bool(target.honest),
        Needs.NOTHING: True,
    }
    return tuple(law for law in laws() if given[law.needs])
