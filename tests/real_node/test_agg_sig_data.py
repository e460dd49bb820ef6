"""A genuine node whose AGG_SIG_ME data is apart from its genesis challenge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.channel.cli.test_recover import dead_in_a_hand, lines
from tests.channel.command import channelsim
from tests.channel.on_chain import reward
from tests.channel.simulation.test_agg_sig_data import DATA, refusals
from tests.channel.table import BALANCE, BEN, STAKE
from tests.real_node.chain import RealChain
from tests.real_node.process import RealNode
from tests.real_node.shared import all_on
from tests.real_node.test_disputes import play, played, scenario, verdict
from tests.real_node.test_endings import blocks, sit_on
from tests.real_node.test_sessions import events, of_node, session

DISPUTES = ("stale-previous", "wrong-reveal", "claimer", "dead")


@pytest.fixture(scope="module")
def apart() -> Iterator[RealNode]:
    with RealNode("apart", DATA) as node:
        yield node


@pytest.fixture(scope="module")
def chain(apart: RealNode) -> Iterator[RealChain]:
    with RealChain(apart) as chain:
        assert chain.agg_sig_data() == DATA != genesis_challenge(chain)
        yield chain


def genesis_challenge(chain: RealChain) -> bytes:
    return bytes.fromhex(chain.ask("get_network_info")["genesis_challenge"].removeprefix("0x"))


def test_a_session_ends_by_a_close(tmp_path: Path, chain: RealChain, apart: RealNode) -> None:
    for side in session(tmp_path, chain, of_node(apart), "spacepoker"):
        assert "ChannelClosed" in events(side)
        assert "LeftForChain" not in events(side)


def test_a_unilateral_close(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], chain: RealChain, apart: RealNode
) -> None:
    table = sit_on(chain, "apart")
    _, directory = dead_in_a_hand(tmp_path, table, messages=12)
    with blocks(lambda number: chain.farm()):
        options = (*of_node(apart), "--every", "0.05", "--unilateral", "--json")
        ran = channelsim(capsys, "close", directory, *options)
    assert (ran.code, ran.err) == (0, "")
    assert "ChannelSettled" in [line["event"] for line in lines(ran.out)]
    assert reward(table, BEN) >= BALANCE - STAKE


def test_disputes_keep_every_promise(chain: RealChain) -> None:
    ended = all_on(chain, [play(scenario(name, seed="apart")) for name in DISPUTES])
    assert [*filter(None, (verdict(*each) for each in ended))] == []


def test_what_is_signed_for_the_genesis_challenge_is_refused(chain: RealChain) -> None:
    """The disputes notice a peer that asks for the wrong one of the two."""
    done, errors = refusals(scenario("dead", seed="mistaken"), chain, genesis_challenge(chain))
    assert verdict(*played(done)) != ""
    assert errors == {"BAD_AGGREGATE_SIGNATURE"}
