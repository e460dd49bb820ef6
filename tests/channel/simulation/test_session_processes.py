"""A session or dispute in three processes is what it is in one, to the byte."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from channelsim.channel.attack.disputes import dispute_script, recorded
from channelsim.channel.attack.side_processes import side_processes
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.machine import Peer
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.script import Script, ScriptedHand
from channelsim.channel.session.session import Session
from channelsim.channel.session.setup import Setup
from channelsim.channel.session.transcript import Recorder
from channelsim.channel.simulation.bounds import WEATHERS
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.session_processes import SessionProcesses, session_processes
from tests.channel.scenarios import changed


def lines_of(setup: Setup, apart: SessionProcesses | None = None) -> list[bytes]:
    """The transcript of a session, in one process or apart."""
    lines: list[bytes] = []
    recorder = Recorder(setup, lines.append)
    session = partial(Session, Deciders(setup), [recorder])
    if apart is None:
        result = session().run()
    else:
        result = session(apart.chain, apart.wrap, delivery=apart.delivery).run()
    recorder.finish(result)
    return lines


def same_apart(scenario: Scenario) -> bytes:
    """Compare the transcripts of a dispute, in one process and apart; returns the last line."""
    script = dispute_script(scenario)
    lines: list[bytes] = []
    with side_processes(script) as real:
        recorded(script, lines.append, real=real)
    alone: list[bytes] = []
    recorded(script, alone.append)
    assert lines == alone
    return lines[-1]


def setup_of(games: tuple[str, ...], policies: tuple[str, str], hands: int = 1) -> Setup:
    return Setup(games, "apart", hands, 100, 10, 10_000, policies)


SCRIPT = Script((ScriptedHand(initiator="07" * 16),))


@pytest.mark.long
def test_three_processes_write_the_transcript_of_one() -> None:
    setup = replace(setup_of(("spacepoker",), ("folder", "caller")), script=SCRIPT)
    with session_processes(setup.seed, SCRIPT) as apart:
        assert lines_of(setup, apart) == lines_of(setup) != lines_of(replace(setup, script=None))


def test_a_dispute_in_three_processes_is_that_in_one() -> None:
    """With an adversary that replaces blocks, and connections that break."""
    scenario = Scenario(("spacepoker",), "apart", "undoes-shutdown", 2, weather="reconnects")
    assert b'"reorgs":1,"deviated":true' in same_apart(scenario)


@pytest.mark.long
@pytest.mark.parametrize("weather", WEATHERS)
@pytest.mark.parametrize(
    "adversary", ["rewinder", "oversized", "breaks-ch-msg-1", "pinner", "late-funder"]
)
def test_disputes_in_any_weather_are_the_same_too(adversary: str, weather: str) -> None:
    scenario = Scenario(("spacepoker",), "apart", adversary, weather=weather)
    same_apart(changed(scenario, fees=5))


@pytest.mark.long
@pytest.mark.parametrize(
    "setup",
    [
        setup_of(("calpoker", "spacepoker"), ("random", "random"), 6),
        setup_of(("holdem", "chinese"), ("random", "random"), 4),
    ],
    ids=("without decks", "with decks"),
)
def test_longer_sessions_are_the_same_too(setup: Setup) -> None:
    with session_processes(setup.seed) as apart:
        assert lines_of(setup, apart) == lines_of(setup)


@pytest.mark.long
def test_a_process_that_reacts_differently_is_noticed() -> None:
    setup = setup_of(("spacepoker",), ("folder", "caller"))
    with session_processes(setup.seed) as apart:
        wrap = apart.wrap

        def other(peer: Peer) -> object:
            directed = wrap(peer)
            peer.config = replace(peer.config, reward_address=bytes(32))
            return directed

        apart.wrap = other  # type: ignore[method-assign, assignment]
        with pytest.raises(InvariantError, match="react differently"):
            lines_of(setup, apart)
