"""Sessions and disputes on a chain of which one block in three carries transactions."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from channelsim.channel.attack import dispute_sweep
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.dispute_sweep import everywhere
from channelsim.channel.attack.disputes import dispute_script
from channelsim.channel.chain.simulator import NodeSettings, SimulatedChain
from channelsim.channel.session.session import node_of
from channelsim.channel.session.setup import Setup
from channelsim.channel.simulation import sweep
from channelsim.channel.simulation.scenario import Scenario, Times
from channelsim.channel.simulation.terms import Terms
from tests.channel.command import channelsim
from tests.channel.scenarios import dispute
from tests.sampling import one_in


def test_the_spacing_and_the_timeouts_follow_from_the_blocks() -> None:
    usual, mixed = Scenario(("spacepoker",), ""), Scenario(("spacepoker",), "", mixed=True)
    assert (usual.spacing, usual.unroll_timeout, usual.game_timeout) == (1, 15, 15)
    assert (mixed.spacing, mixed.unroll_timeout, mixed.game_timeout) == (4, 60, 60)
    assert replace(usual, mixed=True) == mixed
    short = Scenario(("spacepoker",), "", mixed=True, times=Times(2, 15, 20, 1))
    assert (short.spacing, short.unroll_timeout, short.game_timeout) == (1, 15, 20)


@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_a_session_ends_with_equal_sums_and_is_replayed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, seed: int
) -> None:
    file = tmp_path / "session.jsonl"
    played = channelsim(
        *(capsys, "play", "spacepoker", "--mix", "--hands", "2", "--policy", "random"),
        *("--seed", f"mixed/{seed}", "--transcript", file, "--json"),
    )
    assert played.code == 0, played.err
    assert channelsim(capsys, "replay", file, "--json").code == 0
    with file.open(encoding="ascii") as lines:
        setup = msgspec.convert(json.loads(lines.readline())[1]["setup"], Setup)
    assert (setup.mixed, setup.spacing, setup.unroll_timeout, setup.game_timeout) == (
        *(True, 4),
        *(60, 60),
    )
    chain = node_of(setup)
    chain.farm(60)
    carries = [block is not None and block.carries for block in map(chain.ledger.block, range(60))]
    assert 10 < carries.count(True) < 30


def test_a_dispute_is_replayed_with_its_blocks(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "dispute.jsonl"
    run = ("dispute", "run", "leaver", "--mix", "--transcript", file, "--json")
    played = channelsim(capsys, *run)
    assert played.code == 0, played.err
    scenario = json.loads(played.out)["scenario"]
    assert scenario["mixed"]
    assert channelsim(capsys, "replay", file, "--json").code == 0


NAMES = ("stale-any", "leaver", "silent", "wrong-commitment", "late-preempter", "pinner")


@pytest.mark.parametrize("weather", one_in(2, ("calm", "reorgs", "full", "cut-off")))
@pytest.mark.parametrize("name", one_in(6, NAMES))
def test_a_dispute_keeps_all_promises(name: str, weather: str) -> None:
    for side in (0, 1):
        scenario = Scenario(
            ("spacepoker",), "mixed", name, step=8, side=side, weather=weather, mixed=True
        )
        done = dispute(scenario)
        assert done.broken == []
        assert done.run.deviated or weather == "full"


def test_agreed_hands_keep_all_promises() -> None:
    scenario = Scenario(("spacepoker",), "agreed", hands=2, mixed=True, terms=Terms())
    assert dispute(scenario).broken == []


def test_usual_margins_often_have_no_block_with_transactions_and_spaced_ones_always() -> None:
    windows = {blocks: [0, 0] for blocks in (3, 8, 12, 32)}
    for seed in range(5):
        chain = SimulatedChain(seed, NodeSettings(mixed=True))
        chain.farm(1000)
        ledger_blocks = [chain.ledger.block(height) for height in range(1, 1001)]
        carries = [block is not None and block.carries for block in ledger_blocks]
        for blocks, counts in windows.items():
            for begun in range(len(carries) - blocks):
                counts[0] += 1
                counts[1] += not any(carries[begun : begun + blocks])
    shares = {blocks: none / counted for blocks, (counted, none) in windows.items()}
    assert 0.25 < shares[3] < 0.32, "a last chance, and the margin of an answer"
    assert 0.01 < shares[8] < 0.04, "the least unroll timeout"
    assert shares[12] == shares[32] == 0, "both with a spacing of 4"


def test_a_share_of_a_sweep_is_on_mixed_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios: list[Scenario] = []

    def noted(scenario: Scenario, old_copy: int = 0) -> Attack:
        scenarios.append(scenario)
        return dispute_script(scenario, old_copy)

    monkeypatch.setattr(dispute_sweep, "dispute_script", noted)
    monkeypatch.setattr(dispute_sweep, "MOST_STEPS", 4)
    first = [*sweep.beginnings("share", 0)]
    deviating = next(scenario for scenario in first if scenario.adversary == "dead")
    assert sum(not totals.found for totals in everywhere(deviating, 1)) == len(scenarios)
    assert [scenario.mixed for scenario in scenarios][:3] == [False, False, True]
    assert {(scenario.mixed, scenario.spacing) for scenario in scenarios} == {(False, 1), (True, 4)}
