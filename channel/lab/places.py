"""The places that are tried: those of generated hands, or, without rules, those of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random

from channel.lab.hands import hands
from channel.lab.honest import honest_spots
from channel.lab.spots import Spot, disturbed, place, recommitted
from channel.lab.target import Target

PATIENCE = 100
"""So many places in a row may be passed over."""


def spots(
    target: Target, seed: bytes, dice: Random, made: Mapping[str, int], beyond: bool
) -> Iterator[Spot]:
    """The places of hands without end, each followed by a few variants of it.

    `made` counts the spots of each validator that were taken: those that hands reach most
    often are passed over, so that the last validator is tried about as often as the first.
    `beyond`: also states that no play is known to reach.
    """
    if target.rules is None:
        yield from honest_spots(target, dice, made)
    passed = 0
    for turn in hands(target, seed):
        average = sum(made.values()) / len(target.programs)
        often = made.get(turn.before.validator or "", 0) > 1.3 * average + 4
        if often and passed < PATIENCE:
            passed += 1
            continue
        passed = 0
        spot = place(target, turn.before, turn.play, turn.amount, turn.receiver)
        yield spot
        for _ in range(2):
            if (other := recommitted(target, spot, dice)) is not None:
                yield other
        if beyond and dice.random() < 0.4 and (other := disturbed(target, spot, dice)) is not None:
            yield other
