"""The laws: what must hold of every game's programs, each in a file of its own beside this one.

A file with a `LAW` is a law; nothing else needs to be changed to add one. The laws import
`lab.cases` and the rooms before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from channel.lab.cases.trial import LabFinding, Trial
from channel.lab.target.target import Target


class Needs(Enum):
    """Requirements of a law: the targets on which it is tried."""

    RULES = "rules to hold the programs against"
    NO_RULES = "a target without rules, of which only honest play is known"
    RECORDS = "a file of honest play"
    NOTHING = "either"


class Law(Protocol):
    """One law. `every`: it is tried at one site in this many, according to its cost.

    A referee hashes the whole validator in CLVM, so a slash costs what a hundred calls cost.
    """

    @property
    def name(self) -> str:
        """The name in reports."""
        ...

    @property
    def every(self) -> int:
        """1 for a law that is tried on every case."""
        ...

    @property
    def needs(self) -> Needs:
        """The requirement of a target."""
        ...

    def check(self, trial: Trial) -> Iterator[LabFinding]:
        """Try it at a site, and yield what breaks it."""
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
    """The laws that this target can be held to."""
    given = {
        Needs.RULES: target.rules is not None,
        Needs.NO_RULES: target.rules is None,
        Needs.RECORDS: bool(target.honest),
        Needs.NOTHING: True,
    }
    return tuple(law for law in laws() if given[law.needs])
