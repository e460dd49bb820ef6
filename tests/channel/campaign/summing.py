"""Campaigns that are quick to do: one lists the squares of numbers, one says where it runs."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import dataclass

import msgspec

from channelsim.channel.campaign.job import ShardProgress, ShardWork
from channelsim.channel.campaign.shards import Configuration, Plan, Shard
from channelsim.channel.errors import UsageError
from channelsim.channel.system.process_executor import parent

UNIT = 4
CONFIGURATION = Configuration("sum", "1", "squares", "seed", {"program p": "00"}, {"cases": 90})
PLAN = Plan(CONFIGURATION.digest, 90, UNIT, seeds_per_shard=3)


def expected(plan: Plan = PLAN) -> list[int]:
    return [seed * seed for seed in range(plan.total)]


@dataclass(frozen=True)
class Squares:
    """`deadly` is a number whose square ends the worker; one of `refused` raises.

    A worker that finds the file `kill_once` removes it, and dies; with `kills_parent`, so does the
    process that started it. None returns early.
    """

    deadly: int = -1
    refused: int = -1
    kill_once: str = ""
    seconds: float = 0.0
    returns_early: bool = False
    kills_parent: bool = False

    def worker(self) -> ShardWork:
        return self._do

    def decode(self, data: bytes) -> list[int]:
        return msgspec.json.decode(data, type=list[int])

    def _do(self, shard: Shard) -> bytes:
        if self.kill_once and _removed(self.kill_once):
            if self.kills_parent:
                os.kill(os.getppid(), signal.SIGKILL)
            os._exit(9)
        first = shard.first * UNIT
        parent().send(ShardProgress(shard.budget))
        time.sleep(self.seconds)
        numbers = range(first, first + shard.budget)
        if self.deadly in numbers:
            os._exit(9)
        if self.refused in numbers:
            raise UsageError(f"{self.refused}: no number of mine")
        return msgspec.json.encode([number * number for number in numbers])


@dataclass(frozen=True)
class Place:
    """Says of each shard whether the main thread does it, and how often a timer looks at it."""

    returns_early = False

    def worker(self) -> ShardWork:
        return self._look

    def decode(self, data: bytes) -> tuple[bool, float]:
        return msgspec.json.decode(data, type=tuple[bool, float])

    def _look(self, shard: Shard) -> bytes:
        main = threading.current_thread() is threading.main_thread()
        return msgspec.json.encode((main, signal.getitimer(signal.ITIMER_PROF)[1]))


def _removed(path: str) -> bool:
    """Remove a file; false if it is not there, or if another process was faster."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    return True
