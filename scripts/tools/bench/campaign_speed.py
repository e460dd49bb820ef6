"""Campaigns: the speed of two workers relative to one, and the work of the engine itself."""

from __future__ import annotations

from contextlib import suppress
from time import perf_counter, process_time

from channelsim.channel.campaign import engine
from channelsim.channel.campaign.campaign import Place
from channelsim.channel.campaign.engine import CampaignStatus
from channelsim.channel.campaign.executors import Processes
from channelsim.channel.lab.crosscheck.chunks import CHUNK
from channelsim.channel.lab.crosscheck.crosscheck import MOST_SHARDS, crosscheck_of
from channelsim.channel.lab.targets.target import Target, of_game
from channelsim.games.contract import Game
from scripts.tools.bench.measuring import Figures, repeated

MANY = CHUNK * MOST_SHARDS
"""Cases of a campaign that is not finished."""

FIRST = 2 * CHUNK
"""Cases before the measured ones: expensive laws come more often among the first."""

FEWEST, MOST = CHUNK, 12 * CHUNK
"""Bounds on the cases that are measured."""

WHOLE = 2 * CHUNK
"""Cases of one that is: shards of one chunk are the shortest, and so the dearest to the engine."""


def measure_campaign(game: Game, seed: str, seconds: float, least: int) -> Figures:
    """`two_to_one`: the work of two processes in the same time as that of one; `overhead`: the
    processor time of this process as a share of the workers'.

    The campaigns are crosschecks of a game, in turns; their start is left out.
    """
    target = of_game(game)
    cases = min(MOST, max(FEWEST, int(8 * CHUNK * seconds)))

    def measure(number: int) -> dict[str, float]:
        """Measure two workers against one, and the engine."""
        alone, together = (_rate(target, seed, workers, cases) for workers in (1, 2))
        return {"two_to_one": together / alone, "overhead": _overhead(target, seed)}

    return repeated(seconds, least, measure)


class _Enough(Exception):
    """The time is over."""


def _rate(target: Target, seed: str, workers: int, cases: int) -> float:
    """Cases a second, over so many cases after the first ones."""
    start: tuple[float, int] | None = None
    rate = 0.0

    def watch(status: CampaignStatus) -> None:
        """Note the beginning, and end the campaign after so many cases."""
        nonlocal start, rate
        now = perf_counter()
        if start is None and status.work >= FIRST:
            start = now, status.work
        elif start is not None and status.work >= FIRST + cases and status.work > start[1]:
            rate = (status.work - start[1]) / (now - start[0])
            raise _Enough

    with suppress(_Enough):
        place = Place(lambda: Processes(workers), on_status=watch)
        crosscheck_of(target, MANY, seed).run(place)
    return rate


def _overhead(target: Target, seed: str) -> float:
    """The engine's processor time for a campaign as a share of that of its shards."""
    before = process_time()
    campaign = crosscheck_of(target, WHOLE, seed)
    run = engine.run(campaign, campaign.plan, Processes(1))
    return (process_time() - before) / run.busy_seconds
