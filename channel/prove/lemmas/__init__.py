"""Lemmas: functions that a program and its rules compute by other means, each in its own file.

In a proof such a function is an unknown one, the same on every side; that all sides compute it is
compared separately. Every module here has a `LEMMA`. It imports the symbolic values of `prove`, and
nothing that uses them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from channelsim.channel.prove.lemma import Lemma


@cache
def lemmas() -> tuple[Lemma, ...]:
    """All lemmas.

    >>> [lemma.name for lemma in lemmas()]
    ['the deal of California Poker']
    """
    return tuple(import_module(f"{__name__}.{item.name}").LEMMA for item in iter_modules(__path__))


def lemmas_of(game: str | None) -> tuple[Lemma, ...]:
    """The lemmas about a game's rules."""
    return tuple(lemma for lemma in lemmas() if lemma.game == game)
