"""A shard of a crosscheck calls few functions of ours, so that a reader can follow it."""

from __future__ import annotations

import subprocess
import sys

from channelsim.channel.lab.crosscheck.chunks import CHUNK
from channelsim.channel.lab.crosscheck.crosscheck import crosscheck_of
from channelsim.channel.lab.targets.target import of_game
from channelsim.games import registry
from tests.paths import ROOT
from tests.traced import traced

MOST = 250
"""Functions of a shard of one chunk. One that is in another counts, a comprehension does not."""


def called_in_a_shard(game: str) -> list[tuple[str, str]]:
    """File and name of each function that one shard calls, in a process in which none ran yet."""
    campaign = crosscheck_of(of_game(registry.get(game)), CHUNK, "functions")
    (shard,) = campaign.plan.shards()
    worker = campaign.worker()
    return traced(lambda: worker(shard)).functions()


def test_a_shard_calls_few_functions() -> None:
    """Each time in a new process: what is cached there would not be called again."""
    printed = [
        subprocess.run(
            [sys.executable, "-m", __name__], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert printed[0] == printed[1]
    names = printed[0].splitlines()
    assert 100 < len(names) <= MOST, len(names)


if __name__ == "__main__":
    for function in called_in_a_shard(registry.DEFAULT):
        print(*function)
