"""The campaign of `dispute run --all`: every adversary, and old copies in every weather.

Old copies are scripts of attacked sessions.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from itertools import islice

from msgspec.structs import replace

from channelsim.channel import __version__
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import Broken, described, findings
from channelsim.channel.attack.disputes import dispute_script, play
from channelsim.channel.attack.kinds import OLD_COPY, WEATHERS
from channelsim.channel.campaign.job import plugin_inputs
from channelsim.channel.campaign.shards import Configuration
from channelsim.channel.findings.finding import EXCEPTION
from channelsim.channel.simulation.scenario import Scenario, adversaries_for
from channelsim.channel.simulation.sweep import (
    ONE_MIXED_IN,
    SweepTotals,
    beginnings,
    everywhere,
    menus,
)
from channelsim.channel.simulation.sweep_campaign import Sweep
from channelsim.games import registry

COPIED = "old copy"
"""The row of the sessions in which an honest side goes on from an old copy."""

HANDS = 2
"""Hands of a session with an old copy."""

BETWEEN_COPIES = 5
"""Events of a peer between two places of a session at which it goes on from an old copy."""

MOST_EVENTS = 400
"""A bound on the events of a peer in one session."""


def sweep_of_all(seed: str, seeds: int, only: tuple[str, ...] = ()) -> Sweep:
    """The sweep over every adversary and all installed games, or `only` these, for so many seeds.

    Of each seed, honest play counts as one adversary, and so does an old copy in each weather.
    """
    games = {
        f"game {game.name}": sha256(
            b"".join(program.hash for _, program in sorted(game.programs.items()))
        ).hexdigest()
        for game in registry.channel_games()
        if not only or game.name in only
    }
    inputs = {
        **games,
        "adversaries": ",".join(adversaries_for(menu.games for menu in menus(only))),
        **plugin_inputs(lambda group, name: group in ("games", "policies", "adversaries")),
    }
    configuration = Configuration(
        "dispute run --all",
        __version__,
        ", ".join(only) or "all games",
        seed,
        inputs,
        {"seeds": seeds},
    )
    return Sweep(partial(_of_all, seed, only), configuration, seeds * size_of_a_seed(seed, only))


def size_of_a_seed(seed: str, only: tuple[str, ...] = ()) -> int:
    """The number of adversaries of one seed, the weathers of old copies among them."""
    return sum(1 for _ in beginnings(seed, 0, only)) + len(WEATHERS)


def _of_all(seed: str, only: tuple[str, ...], number: int) -> Iterator[SweepTotals]:
    """The runs of one adversary of one seed; they are numbered through all seeds."""
    turn, at = divmod(number, size_of_a_seed(seed, only))
    first = next(islice(beginnings(f"{seed}/{turn}", turn, only), at, None), None)
    if first is not None:
        yield from everywhere(first, turn + at)
        return
    weather = list(WEATHERS)[at - size_of_a_seed(seed, only)]
    yield from old_copies(f"{seed}/{turn}", turn + at, weather, only)


def old_copies(
    seed: str, number: int, weather: str, only: tuple[str, ...] = ()
) -> Iterator[SweepTotals]:
    """Run a session again and again, each time with an old copy a few events later.

    Sides and menus alternate with the number.
    """
    each = [menu.games for menu in menus(only)]
    games = each[number // 2 % len(each)]
    for turn, place in enumerate(range(1 + number % BETWEEN_COPIES, MOST_EVENTS, BETWEEN_COPIES)):
        scenario = Scenario(
            games,
            f"{seed}/{weather}",
            side=number % 2,
            weather=weather,
            hands=HANDS,
            mixed=(number + turn) % ONE_MIXED_IN == 0,
        )
        attack = dispute_script(scenario, place)
        tally, is_over = _copied(attack)
        yield tally
        if is_over:
            return


def _copied(attack: Attack) -> tuple[SweepTotals, bool]:
    """Run a script with an old copy; the totals, and whether the session is over before that."""
    tally = SweepTotals()
    try:
        dispute = play(attack)
    except Exception as error:
        # Any exception is a result of this run; the others go on.
        tally.runs += 1
        tally.attacked += findings([Broken(attack, EXCEPTION, described(error))])
        return tally, False
    broken = findings(dispute.shrunk())
    tally.attacked += [replace(finding, place=f"{COPIED}, {finding.place}") for finding in broken]
    tally.count(dispute.run, COPIED, dispute.part, len(broken))
    (last,) = (action.at for action in attack.actions if action.kind == OLD_COPY)
    return tally, len(dispute.run.party.journal) < last
