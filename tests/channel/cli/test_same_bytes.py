"""The same seed gives the same bytes, whatever the order of hashes and without assertions."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from tests.paths import ROOT

COMMANDS = """
play spacepoker,calpoker --hands 2 --seed same --json --transcript /dev/stderr
dispute run stale-oldest --seed same --json --transcript /dev/stderr
crosscheck calpoker --cases 20 --seed same --jobs 1 --json
"""

RUN = f"""
import sys
from channelsim.channel.cli import main

for command in {COMMANDS.split(chr(10))[1:-1]!r}:
    sys.argv = ["channelsim", *command.split()]
    try:
        main()
    except SystemExit as end:
        print("exit code", end.code)
"""


def printed(*options: str, hash_seed: int) -> str:
    """What the commands print, and their transcripts; without times."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(hash_seed)}
    ran = subprocess.run(
        [sys.executable, *options, "-c", RUN],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return re.sub(r'"(seconds|cases_per_second)": [\d.]+', "", ran.stdout) + ran.stderr


@pytest.mark.long
def test_assertions_and_hashes_do_not_change_the_results() -> None:
    """`-O` removes assertions, and `PYTHONHASHSEED` changes the order of sets."""
    first = printed(hash_seed=1)
    assert first.count("exit code 0") == 3, first
    assert first.count('"end"') == 2
    assert printed("-O", hash_seed=2) == first
