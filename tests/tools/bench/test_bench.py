"""The benchmark measures what it says; how fast this machine is, is not tested."""

from __future__ import annotations

from collections import Counter
from contextvars import Context
from functools import partial

import pytest

from channelsim.channel.errors import UsageError
from channelsim.clsp.programs import Program
from channelsim.clsp.run import observed, run
from channelsim.clsp.values import NIL, serialize, to_list
from channelsim.games import registry
from channelsim.games.deck.group import real_group
from scripts.tools.bench import deck_preparation, linked_peers, long_channel
from scripts.tools.bench.figures import measure
from scripts.tools.bench.signed_hand import trace_multiplications
from tests.tools.bench.small import ROUNDS, make_small


def test_the_multiplications_of_a_program_are_counted() -> None:
    base = real_group().base
    operands = to_list([b"\x32", (b"\x01", base), (b"\x01", b"\x05")])
    once = Program(serialize(operands))
    twice = Program(serialize(to_list([b"\x1d", operands, operands])))
    counted: Counter[str] = Counter()
    with observed(trace_multiplications([twice], counted)):
        run(once, NIL)
        assert not counted
        result = run(twice, NIL)
    assert result == run(twice, NIL)
    assert counted == {"point": 2}


@pytest.mark.long
def test_every_figure_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    make_small(monkeypatch)
    # In a context of its own, where no signature is remembered.
    measured = Context().run(partial(measure, 0.05, least=1))
    assert measured["signed_hand_ratio_to_floor"] > 0
    hand = measured["signed_hand"]["spacepoker"]
    # Both halves of each batch are signed once and checked once.
    assert hand["signatures_per_hand"] == hand["verifications_per_hand"] > 20
    assert hand["multiplications_per_hand"] == 0
    # The locks of 4 hidden and 5 open cards are opened by one side each, or both; the rules check
    # them, and so do the programs.
    holdem = measured["signed_hand"]["holdem"]
    assert holdem["signatures_per_hand"] == holdem["verifications_per_hand"] > 20
    assert 16 <= holdem["multiplications_per_hand"] <= 100
    assert holdem["ratio"]["median"] > 0
    # The costs of slashes are no times: they are the same on every machine.
    assert 0.5 < measured["slash_ratio"] <= 1.5
    assert 0 < measured["slash_of_block"] < measured["slash_whole_of_block"] <= 0.02
    assert measured["batches_per_second_over_tls"] > 0
    assert measured["stored_batch_ratio"] > 0
    assert 1 <= measured["stored_batch"]["writes_per_batch"]["median"] < 3
    assert measured["linked_peers"]["ratio"]["median"] > 0
    assert measured["disputed_hand_ratio_to_floor"] > 0
    assert measured["deck_preparation_ratio_to_floor"] > 0
    # Each side proves and checks 53 products a round, and shuffles; 20 for the locks of a position.
    count = measured["deck_preparation"]["multiplications"]
    assert count <= (4 * ROUNDS + 2) * 53 + 20 * deck_preparation.POSITIONS
    for disputed in measured["disputed_hand"].values():
        assert disputed["ratio"]["median"] > 0
        assert disputed["ratio_to_bare_calls"]["median"] > 0
        assert disputed["bundles_per_hand"] >= 3
        assert disputed["signatures_per_hand"] >= 1
        assert disputed["judgings_per_hand"] >= 1
    names = {name for game in registry.names() for name in registry.get(game).validators}
    assert names <= measured["python_ratio_to_clvm"].keys()
    assert all(ratio > 0 for ratio in measured["python_ratio_to_clvm"].values())
    assert measured["crosscheck_ratio_to_clvm"] > 0
    families = {registry.get(name).family for name in measured["crosscheck"]}
    assert families == {registry.get(name).family for name in registry.names()}
    assert measured["campaign_two_workers_to_one"] > 0
    assert measured["campaign_overhead"] > 0
    assert measured["attacked_sessions_per_second"] > 0
    assert measured["attacked_sessions_fast_to_real"] > 0
    assert measured["best_of_seven_per_second"] > 0
    assert measured["import_channel_seconds"] >= 0


def test_linked_peers_get_slower_blocks_if_fast_ones_end_their_hands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_small(monkeypatch)
    # Every deadline is over before an answer can arrive.
    monkeypatch.setattr(linked_peers, "PATIENCE", (0.001,))
    with pytest.raises(UsageError, match="too busy to measure linked peers"):
        linked_peers.measure_linked("bench", 0.0, least=1)
    monkeypatch.setattr(linked_peers, "PATIENCE", (0.001, 2, 16))
    measured = linked_peers.measure_linked("bench", 0.0, least=1)
    assert measured["batches_per_second"]["median"] > 0


def test_a_long_channel_is_measured() -> None:
    measured = long_channel.measure_long_channel("bench", 20)
    assert measured["batches"] == 20
    assert measured["restart_seconds"] > 0
    assert 0 < measured["bytes_per_batch"] < 20_000
    assert measured["memory_per_batch"] >= 0
    few, many = measured["hidden_solution"]
    assert few["states"] < many["states"]
    assert (few["calls"], few["later_calls"]) == (many["calls"], many["later_calls"])


@pytest.mark.long
def test_ten_thousand_batches_cost_what_they_may() -> None:
    measured = long_channel.measure_long_channel("bench", 10_000)
    assert measured["restart_processor_seconds"] < 2, measured
    assert measured["bytes_per_batch"] < 4000, measured
    assert measured["memory_per_batch"] < 4000, measured
    few, many = measured["hidden_solution"]
    assert many["states"] > 10_000
    for calls, size in (("calls", "bytes"), ("later_calls", "later_bytes")):
        assert few[calls] == many[calls]
        # Numbers in the state of the node may have another digit.
        assert abs(few[size] - many[size]) < 50


@pytest.mark.long
def test_the_waits_of_all_hands_are_measured() -> None:
    measured = linked_peers.measure_waits("bench", "holdem", 3, 0.5)
    assert len(measured["waits"]) == 3
    assert all(wait > 0 for wait in measured["waits"])


@pytest.mark.long
def test_two_hundred_channels_in_one_process_are_never_late() -> None:
    measured = linked_peers.measure_channels("bench", 200, 5.0)
    assert (measured["closed"], measured["late"]) == (200, 0), measured
