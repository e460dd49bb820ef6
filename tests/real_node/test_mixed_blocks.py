"""A session and disputes on a genuine node, some of whose blocks carry no transactions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest

from tests.real_node.chain import RealChain
from tests.real_node.process import RealNode
from tests.real_node.shared import all_on
from tests.real_node.test_disputes import play, scenario, verdict
from tests.real_node.test_sessions import events, of_node, session

WALLETS = 2
"""Blocks in which the wallets of both sides get their coins."""

DISPUTES = tuple(
    scenario(name, seed="mixed 2", mixed=True)
    for name in ("stale-oldest", "leaver", "dead", "wrong-reveal", "illegal-on-chain", "claimer")
)


@pytest.fixture
def mixed(chain: RealChain) -> RealChain:
    """The chain of the shared node, which makes blocks without transactions from now on."""
    chain.mixed_above = chain.peak() + WALLETS
    return chain


def empty_blocks(chain: RealChain) -> tuple[int, int, int]:
    """The blocks that were mixed, those without transactions, and the most of these in a row."""
    assert chain.mixed_above is not None
    heights = range(chain.mixed_above + 1, chain.peak() + 1)
    carries = [chain.carries(height) for height in heights]
    runs = [len([*run]) for carrying, run in groupby(carries) if not carrying]
    return len(carries), carries.count(False), max(runs, default=0)


def test_disputes_keep_all_promises(
    mixed: RealChain, record_property: Callable[[str, object], None]
) -> None:
    assert {(one.spacing, one.unroll_timeout) for one in DISPUTES} == {(4, 60)}
    ended = all_on(mixed, [play(one) for one in DISPUTES])
    assert [*filter(None, (verdict(*each) for each in ended))] == []
    blocks, empty, most = empty_blocks(mixed)
    record_property(
        "mixed blocks", f"{empty} of {blocks} blocks carried no transactions, {most} in a row"
    )
    assert empty >= blocks / 2
    assert most >= 3


def test_two_processes_play_to_a_clean_end(
    tmp_path: Path, mixed: RealChain, node: RealNode
) -> None:
    for side in session(tmp_path, mixed, (*of_node(node), "--spacing", "4"), "spacepoker"):
        assert "GameStarted" in events(side)
        assert "LeftForChain" not in events(side)
    assert empty_blocks(mixed)[1]
