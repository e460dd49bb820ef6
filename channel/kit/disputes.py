"""Disputes of one game against every adversary, a few deviations of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from channelsim.channel import __version__
from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.attack.dispute_sweep import everywhere
from channelsim.channel.campaign.job import plugin_inputs
from channelsim.channel.campaign.shards import Configuration
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.targets.target_inputs import target_inputs
from channelsim.channel.simulation.scenario import Scenario, reason_against
from channelsim.channel.simulation.sweep import SweepTotals
from channelsim.channel.simulation.sweep_campaign import TOGETHER, Sweep

HANDS = 4
"""The adversaries are divided among so many hands."""


def disputes_of(target: Target, most: int, seed: str) -> Sweep:
    """The disputes of a game with every adversary, with at most this many deviations of each.

    An adversary begins in the middle of a hand; where it finds nothing to change there, earlier,
    and then with the first message. Sides, hands, weather and fees alternate. Adversaries of one
    hand are in one shard where possible: they share its signatures.
    """
    inputs = {
        **target_inputs(target),
        "adversaries": ",".join(_able(target.name)),
        **plugin_inputs(lambda group, name: group == "adversaries"),
    }
    configuration = Configuration(
        "disputes", __version__, target.name, seed, inputs, {"each": most}
    )
    work = partial(_run, target.name, most, seed)
    return Sweep(work, configuration, len(_able(target.name)), TOGETHER)


def _able(game: str) -> tuple[str, ...]:
    """The adversaries that can do something in this game."""
    return tuple(name for name in names() if not reason_against(name, (game,)))


def _run(game: str, most: int, seed: str, number: int) -> Iterator[SweepTotals]:
    able = _able(game)
    name = able[number]
    hand, turn = divmod(number, -(-len(able) // HANDS))
    first = Scenario((game,), f"{seed}/{hand}", name, side=turn % 2)
    middle = get(name).default_step
    for step in dict.fromkeys((middle, middle // 2, 0)):
        tried = list(islice(everywhere(replace(first, step=step), turn), most))
        yield from tried
        if any(part.idle < part.runs for part in tried):
            break
