"""Ticks: its rules, and everything that a game owes. The package must be installed."""

from __future__ import annotations

import pytest
from ticks import GAME, Ticking

from channelsim.channel.kit.testing import Conformance
from channelsim.games.contract import Next, Slash, Valid, Verdict
from channelsim.games.judge import hashes_of


@pytest.mark.parametrize(
    ("left", "move", "verdict"),
    [
        (10, b"\x01", Valid(Next("tick", Ticking(9), 1))),
        (10, b"\x02", Valid(Next("tick", Ticking(8), 1))),
        (2, b"\x02", Valid(None)),
        (1, b"\x01", Valid(None)),
        (10, b"", Slash("TICKS-TICK-1")),
        (10, b"\x03", Slash("TICKS-TICK-1")),
        (10, b"\x00\x01", Slash("TICKS-TICK-1")),
        (1, b"\x02", Slash("TICKS-TICK-1")),
    ],
)
def test_a_tick(left: int, move: bytes, verdict: Verdict) -> None:
    judge = GAME.validators["tick"].judge
    assert judge(Ticking(left), move, 0, 100, b"", hashes_of(GAME)) == verdict


class TestTicks(Conformance):
    target = "ticks"
