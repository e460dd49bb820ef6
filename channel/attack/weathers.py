"""Weathers of `dispute run`: presets of kinds of actions that strike the honest side's node, the
chain or the connection."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from channelsim.channel.attack.actions import Action
from channelsim.channel.attack.drawn_actions import drawn_action
from channelsim.channel.attack.filled_blocks import FILL
from channelsim.channel.attack.kinds import KINDS, ON_CHAIN, WEATHERS
from channelsim.games.chance import Chance

STRIKES = 10
"""The actions of a weather in one session."""

FILLS = 3
"""The same, where each of them lets others fill several blocks."""

LONGEST = 2
"""The most blocks that each of them takes."""


def weather(name: str, side: int, chance: Chance) -> Iterator[Action]:
    """Draw the actions of a weather for a side; those of the chain are for both.

    >>> [action.kind for action in weather("slow", 0, Chance(b""))] == ["push-held"] * STRIKES
    True
    >>> list(weather("calm", 0, Chance(b"")))
    []
    """
    for kind in WEATHERS[name]:
        for _ in range(FILLS if kind == FILL else STRIKES):
            action = drawn_action(KINDS[kind], chance, LONGEST, ("link", *ON_CHAIN))
            yield replace(action, side=side)
