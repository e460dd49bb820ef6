"""Every rule that a peer can break is broken by some test, and refused by its id."""

from __future__ import annotations

from pathlib import Path

from channelsim.channel.protocol.rules import RULES
from tests.channel.peer import test_moves
from tests.channel.peer.hostile_batches import CASES as BATCHES
from tests.channel.peer.hostile_funding import CASES as FUNDING
from tests.channel.peer.hostile_introductions import CASES as INTRODUCTIONS
from tests.channel.peer.hostile_shutdowns import CASES as SHUTDOWNS
from tests.channel.peer.hostile_steps import CASES as STEPS
from tests.channel.peer.test_violations import BREAKERS

HERE = Path(__file__).parent
TABLES = (INTRODUCTIONS, FUNDING, STEPS, BATCHES, SHUTDOWNS)
ELSEWHERE = {
    "CH-MOVE-4": "test_moves.py",
    "CH-MOVE-5": "test_moves.py",
    "CH-TIME-1": "test_deadlines.py",
    "CH-TIME-2": "test_deadlines.py",
    "CH-COINS-1": "test_addresses.py",
    "CH-RESUME-1": "test_resuming.py",
    "CH-RESUME-2": "test_resuming.py",
}
"""Rules whose tests do more than deliver one message, and where those tests are."""


def test_every_rule_is_broken_somewhere() -> None:
    cases = [case for table in TABLES for case in table]
    broken = {case.rule for case in cases} | {rule for _, rule, _, _ in test_moves.ILLEGAL}
    broken |= {kind.rule for kind in BREAKERS}
    for rule, name in ELSEWHERE.items():
        assert rule in (HERE / name).read_text(encoding="utf-8"), rule
    assert set(RULES) <= broken | set(ELSEWHERE)
    assert {case.rule for case in cases} <= set(RULES)


def test_no_two_cases_have_the_same_name() -> None:
    names = [(case.rule, case.name) for table in TABLES for case in table]
    assert len(set(names)) == len(names)
