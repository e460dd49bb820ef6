"""Hands and amounts of a session or channel, as options, a script or a rotation name them."""

from __future__ import annotations

from typing import Any, TypeVar

from channelsim.channel.cli.option_groups import StakeOptions
from channelsim.channel.session.defaults import (
    DEFAULT_HANDS,
    DEFAULT_STACK,
    DEFAULT_STAKES,
    DEFAULT_UNIT,
)
from channelsim.channel.session.script import Script
from channelsim.games.rotations import Rotation

T = TypeVar("T")


def stakes_of(given: StakeOptions, rotation: Rotation | None, script: Script) -> dict[str, Any]:
    """The fields of a `Setup` that say how much is played for.

    What is not given is as in the script, in the rotation, or by default.
    """
    unit = _first(given.unit, script.unit, DEFAULT_UNIT)
    stack = _first(given.stack, script.stack, rotation.stack if rotation else DEFAULT_STACK)
    usual_hands = rotation.hands if rotation else DEFAULT_HANDS
    return {
        "hands": _first(given.hands, len(script.hand) or usual_hands),
        "unit": unit,
        "stack": stack,
        "balance": _first(given.balance, script.balance, unit * stack * DEFAULT_STAKES),
        "rotation": rotation.name if rotation else None,
    }


def _first(*candidates: T | None) -> T:
    return next(candidate for candidate in candidates if candidate is not None)
