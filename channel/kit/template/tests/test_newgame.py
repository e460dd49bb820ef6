"""The rules by example, and everything that a game owes. The package must be installed."""

from __future__ import annotations

from hashlib import sha256

import pytest
from channelsim.channel.kit.testing import Conformance
from channelsim.games.contract import Next, PlainState, Slash, Valid, Verdict
from channelsim.games.judge import hashes_of

from newgame import GAME
from newgame.rules import Answering, Committing, Ending, Revealing

AMOUNT = 1000
ODD, EVEN = bytes(15) + b"\x01", bytes(15) + b"\x02"
ALICE, BOB = sha256(ODD).digest(), sha256(EVEN).digest()


@pytest.mark.parametrize(
    ("validator", "state", "move", "share", "verdict"),
    [
        ("commit", Committing(), ALICE, 0, Valid(Next("answer", Answering(ALICE), 32))),
        ("commit", Committing(), ALICE[1:], 0, Slash("NEWGAME-COMMIT-1")),
        ("answer", Answering(ALICE), BOB, 0, Valid(Next("reveal", Revealing(ALICE, BOB), 16))),
        ("answer", Answering(ALICE), b"", 0, Slash("NEWGAME-ANSWER-1")),
        ("reveal", Revealing(ALICE, BOB), ODD, 0, Valid(Next("end", Ending(BOB, 1), 16))),
        ("reveal", Revealing(ALICE, BOB), ODD[1:], 0, Slash("NEWGAME-REVEAL-1")),
        ("reveal", Revealing(ALICE, BOB), EVEN, 0, Slash("NEWGAME-REVEAL-2")),
        ("end", Ending(BOB, 1), EVEN, 0, Valid(None)),
        ("end", Ending(BOB, 0), EVEN, AMOUNT, Valid(None)),
        ("end", Ending(BOB, 0), EVEN, AMOUNT - 1, Slash("NEWGAME-END-3")),
        ("end", Ending(BOB, 0), ODD, AMOUNT, Slash("NEWGAME-END-2")),
        ("end", Ending(BOB, 0), b"", AMOUNT, Slash("NEWGAME-END-1")),
    ],
)
def test_a_move(
    validator: str, state: PlainState, move: bytes, share: int, verdict: Verdict
) -> None:
    judge = GAME.validators[validator].judge
    assert judge(state, move, share, AMOUNT, b"", hashes_of(GAME)) == verdict


class TestConformance(Conformance):
    """One test for each thing that a game owes."""

    target = "newgame"
