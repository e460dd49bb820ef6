"""Disputes for tests: scenarios, which are run as attacked sessions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any
from unittest import mock

import msgspec

from channelsim.channel.attack import process
from channelsim.channel.attack.disputes import Dispute, dispute_script, play
from channelsim.channel.attack.mortal_peer import NotedPeer
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.promises.checker import CHECKS, OF_AGREED_STATES, BrokenPromise
from channelsim.channel.simulation.promises.due_spends import unwatched
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.terms import Terms


def changed(scenario: Scenario, **given: Any) -> Scenario:
    """A scenario with other fields, of its own or of its terms."""
    own = {field.name for field in fields(Scenario)}
    terms = {name: given.pop(name) for name in [*given] if name not in own}
    assert not {*terms} - {*Terms.__struct_fields__}
    return replace(scenario, **given, terms=msgspec.structs.replace(scenario.terms, **terms))


def dispute(scenario: Scenario, on: FarmableChain | None = None) -> Dispute:
    """Run a scenario."""
    return play(dispute_script(scenario), on=on)


def check(run: Run) -> list[BrokenPromise]:
    """The promises that a run broke, as its messages, its chain and the news have it now.

    A session under attack watches more than its last blocks show.
    """
    run = replace(run, scenario=replace(run.scenario, weather="reorgs"))
    talk = conversation(run)
    left_out = (unwatched, *(OF_AGREED_STATES if talk.broken else ()))
    return [
        BrokenPromise(promise, how)
        for promise, find in CHECKS
        if find not in left_out
        for how in dict.fromkeys(find(run, talk))
    ]


@contextmanager
def honest_sides_are(kind: type[NotedPeer]) -> Iterator[None]:
    """Let the peers of honest sides be of this class."""
    with mock.patch.object(process, "NotedPeer", kind):
        yield
