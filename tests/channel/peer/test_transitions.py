"""The table of a peer's transitions: what is taken in which phase."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import Command, Event, Fault, GoOnChain, Received
from channelsim.channel.peer.machine import REPORTS, TRANSITIONS, Phase, transition
from channelsim.channel.protocol.messages import Message
from tests.channel.table import ANN, sit

UNDECODED = {Phase.COMPLETED, Phase.CLOSED, Phase.ON_CHAIN, Phase.FAILED, Phase.OUTDATED}
"""The phases in which no message counts any more."""


@pytest.mark.parametrize("phase", Phase)
def test_each_phase_takes_blocks_and_every_message(phase: Phase) -> None:
    row = TRANSITIONS[phase]
    assert Block in row
    if phase in UNDECODED:
        assert Received in row
        assert not set(get_args(Message)) & set(row)
    else:
        assert Received not in row
        assert set(get_args(Message)) <= set(row)


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_takes_nothing_but_events(phase: Phase) -> None:
    events = {*get_args(Event), *get_args(Message)}
    assert set(TRANSITIONS[phase]) <= events


def test_every_command_is_taken_in_play() -> None:
    assert set(get_args(Command)) <= set(TRANSITIONS[Phase.PLAYING])


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("kind", REPORTS)
def test_a_report_of_the_driver_is_ignored_where_it_has_no_handler(
    phase: Phase, kind: type
) -> None:
    """A node says at any time what it thinks of a spend, or of fees."""
    peer = sit().ends[ANN].peer
    before = replace(peer.state, phase=phase)
    if kind not in TRANSITIONS[phase]:
        # What it holds does not matter there.
        assert transition(peer.config, before, kind.__new__(kind)) == (before, [])


def test_every_event_is_a_command_or_a_report_or_always_handled() -> None:
    """A new kind of event must not end a peer in some phase."""
    assert {*get_args(Event)} == {*get_args(Command), *REPORTS, Received, Block, Fault}


def test_a_command_out_of_its_phase_is_refused_and_changes_nothing() -> None:
    peer = sit().ends[ANN].peer
    before = peer.state
    with pytest.raises(UsageError, match="is in the opening: not now"):
        peer.handle(GoOnChain())
    assert peer.state == before
