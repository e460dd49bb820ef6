"""The laws: what must hold of every game's programs, each in a file of its own beside this one.

A file with a `LAW` is a law; nothing else needs to be touched to add one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Protocol

from channel.lab.trial import Finding, Trial


class Law(Protocol):
    """One law. `every`: it is tried at one spot in so many, because it costs that much.

    A referee hashes the whole validator in CLVM, so a slash costs what a hundred calls cost.
    """

    @property
    def name(self) -> str:
        """The name in reports, in words."""
        ...

    @property
    def every(self) -> int:
        """1 for a law that is tried on every case."""
        ...

    def check(self, trial: Trial) -> Iterator[Finding]:
        """Try it at a spot; yields what breaks it."""
        ...


@cache
def laws() -> tuple[Law, ...]:
    """All laws, those that are tried on every case first.

    >>> [law.name for law in laws()][:2]
    ['verdicts agree', 'cost']
    """
    found: list[Law] = [
        import_module(f"{__name__}.{module.name}").LAW for module in iter_modules(__path__)
    ]
    return tuple(sorted(found, key=lambda law: (law.every, law.name)))
