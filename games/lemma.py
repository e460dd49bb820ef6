"""Lemmas: functions that a program and its rules compute by other means.

A proof takes such a function as an unknown one, the same on both sides; that both sides compute it
is compared separately (`channelsim prove`). A game declares them (`Game.lemmas`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from channelsim.games.forms import Form


@dataclass(frozen=True)
class Lemma:
    """A function of a program by its name in the source, and one of Python that does the same.

    It takes `arguments` (`Integer`, or `Atom` of a fixed size) and returns a `result` of a fixed
    shape: lists of one length, pairs, integers and atoms. It never raises, and in a program it
    costs at most `cost`.

    `solvable`: the prover compares the two on every argument, as a claim of its own.
    """

    name: str
    function: str
    python: Callable[..., Any]
    arguments: tuple[Form, ...]
    result: Form
    cost: int
    solvable: bool = False
