"""The table of a peer's transitions: what is taken in which phase."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from channelsim.channel.chain.coins import Bundle
from channelsim.channel.chain.observations import Block, PendingBundle
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import (
    Command,
    Connected,
    DeckComputed,
    DecksChanged,
    Dropped,
    Event,
    Fault,
    FeeLimits,
    FeeRate,
    GoOnChain,
    NodeReport,
    Pinned,
    Received,
    Refused,
    SpendDropped,
    Tell,
)
from channelsim.channel.peer.machine import REPORTS, TRANSITIONS, Phase, transition
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.messages import Message
from tests.channel.table import ANN, sit

UNDECODED = {Phase.COMPLETED, Phase.CLOSED, Phase.ON_CHAIN, Phase.FAILED, Phase.OUTDATED}
"""The phases in which no message counts any more."""


BUNDLE = Bundle((), NO_SIGNATURE)
EXAMPLES: list[Event] = [
    Pinned(BUNDLE, (PendingBundle(BUNDLE, 1, 1),)),
    Dropped(BUNDLE),
    Refused(BUNDLE, "INVALID_FEE_LOW_FEE"),
    FeeRate(3),
    FeeLimits(None, 5),
    DecksChanged(0),
    Connected(),
]


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
@pytest.mark.parametrize("report", EXAMPLES, ids=lambda report: type(report).__name__)
def test_a_report_of_the_driver_is_ignored_where_it_has_no_handler(
    phase: Phase, report: Event
) -> None:
    """A node says at any time what it thinks of a spend, or of fees."""
    peer = sit().ends[ANN].peer
    before = replace(peer.state, phase=phase)
    if isinstance(report, NodeReport | FeeLimits):
        after, effects = transition(peer.config, before, report)
        assert replace(after, fees=before.fees) == before
        assert effects == ([Tell(SpendDropped(""))] if isinstance(report, Dropped) else [])
    elif type(report) not in TRANSITIONS[phase]:
        assert transition(peer.config, before, report) == (before, [])


ALWAYS = {*get_args(NodeReport), FeeLimits}
"""Reports that are taken in every phase."""


def test_there_is_an_example_of_every_report() -> None:
    assert {*map(type, EXAMPLES), DeckComputed} == {*REPORTS, *ALWAYS}


def test_every_event_is_a_command_or_a_report_or_always_handled() -> None:
    """A new kind of event must not end a peer in some phase."""
    assert {*get_args(Event)} == {*get_args(Command), *REPORTS, *ALWAYS, Received, Block, Fault}


def test_a_command_out_of_its_phase_is_refused_and_changes_nothing() -> None:
    peer = sit().ends[ANN].peer
    before = peer.state
    with pytest.raises(UsageError, match="is in the opening: not now"):
        peer.handle(GoOnChain())
    assert peer.state == before
