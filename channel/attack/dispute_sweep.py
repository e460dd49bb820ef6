"""The campaign of `dispute run --all`: every adversary, and old copies in every weather.

Each adversary is run on both sides, wherever in a hand it can deviate: each run begins behind the
place at which it deviated in the one before. Weather and fees alternate, in another order with each
seed and adversary, and in one run of three only about one block in three carries transactions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import islice

from msgspec import structs

from channelsim.channel import __version__
from channelsim.channel.adversaries.base import Adversary
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import Broken, described
from channelsim.channel.attack.disputes import Dispute, dispute_script, play, script_finding
from channelsim.channel.attack.kinds import WEATHERS
from channelsim.channel.campaign.job import plugin_inputs
from channelsim.channel.campaign.shards import Configuration
from channelsim.channel.findings.finding import EXCEPTION
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import (
    FEES,
    Scenario,
    adversaries_for,
    reason_against,
)
from channelsim.channel.simulation.scenario_command import command_of
from channelsim.channel.simulation.sweep import (
    ONE_MIXED_IN,
    SweepTotals,
    beginnings,
    menus,
    row_of,
)
from channelsim.channel.simulation.sweep_campaign import Sweep
from channelsim.games import registry

COPIED = "old copy"
"""The row of the sessions in which an honest side goes on from an old copy."""

IN_TURN = tuple(WEATHERS)
"""The weathers of the runs of an adversary."""

HANDS = 2
"""Hands of a session with an old copy."""

BETWEEN_COPIES = 5
"""Events of a peer between two places of a session at which it goes on from an old copy."""

MOST_STEPS = 100
"""A bound on the messages of one session."""

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


def everywhere(first: Scenario, before: int = 0) -> Iterator[SweepTotals]:
    """Run a scenario again and again, each time from behind the place of the last deviation.

    It begins at the scenario's step. `before` decides on the weather, the blocks and the fees of
    the first run; those of the others follow in turn. There is no run with an adversary that can do
    nothing in these games.
    """
    if first.adversary and reason_against(first.adversary, first.games):
        return
    step: int | None = first.step
    while step is not None and step < MOST_STEPS:
        scenario = replace(
            first,
            step=step,
            weather=IN_TURN[before % len(IN_TURN)],
            mixed=before % ONE_MIXED_IN == 0,
            terms=structs.replace(first.terms, fees=FEES * (before % 5 == 0)),
        )
        before += 1
        tally, dispute = _run(dispute_script(scenario), row_of(scenario), command_of(scenario))
        step = step + 1 if dispute is None else next_step(dispute.run)
        yield tally


def next_step(run: Run) -> int | None:
    """The next step at which this adversary can do something else; None if there is none."""
    actor, step = run.parties[run.scenario.side].actor, run.scenario.step
    if not isinstance(actor, Adversary) or actor.sent_count <= step:
        return None
    if actor.deviated_at is not None:
        return max(step + 1, actor.deviated_at)
    # One that deviates at the first opportunity has found none, and will not find one later.
    return None if actor.at_once else max(step + 1, actor.sent_count)


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
        tally, dispute = _run(attack, COPIED)
        yield tally
        if dispute is not None and len(dispute.run.party.journal) < place:
            return


def _run(attack: Attack, row: str, command: str = "") -> tuple[SweepTotals, Dispute | None]:
    """Run a script; its totals in this row. No dispute for an exception, a result like any other.

    The `command` runs it again.
    """
    tally = SweepTotals()
    dispute: Dispute | None = None
    try:
        dispute = play(attack)
        tally.found = dispute.findings(row, command)
        tally.count(dispute.run, row, dispute.part, len(tally.found))
    except Exception as error:
        tally.runs += 1
        case, how = Broken(attack, EXCEPTION, ""), BrokenPromise(EXCEPTION, described(error))
        tally.found = [script_finding(case, how, row, command)]
    return tally, dispute
