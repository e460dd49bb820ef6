"""Disputes for tests: scenarios, which are run as attacked sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any
from unittest import mock

import msgspec

from channelsim.channel.attack import process
from channelsim.channel.attack.disputes import Dispute, dispute_script, play
from channelsim.channel.attack.mortal_peer import NotedPeer
from channelsim.channel.chain.interface import FarmableChain
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.peer.interface import GoOnChain
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.driver import Driver
from channelsim.channel.session.identity import make_config, node_seed
from channelsim.channel.session.peer_driver import Actor, DrivenPeer
from channelsim.channel.session.players import Players
from channelsim.channel.session.side_player import SidePlayer, by_policy
from channelsim.channel.simulation.model.conversation import conversation
from channelsim.channel.simulation.promises.checker import CHECKS, OF_AGREED_STATES, BrokenPromise
from channelsim.channel.simulation.promises.due_spends import unwatched
from channelsim.channel.simulation.run import Run
from channelsim.channel.simulation.scenario import Scenario, setup_of
from channelsim.channel.simulation.terms import Terms

LIMIT = 300
"""Blocks in which hands are over, also on chain."""


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


def play_hands(
    games: tuple[str, ...],
    seed: str,
    wrap: Callable[[Peer], Actor],
    *,
    hands: int = 2,
    leaves: int | None = None,
) -> FarmableChain:
    """Play hands to the last payout, each peer inside of what wraps it; returns the chain.

    The receiver goes on chain after so many messages and decisions, if it `leaves`.
    """
    setup = setup_of(Scenario(games, seed, hands=hands))
    secret = seed.encode()
    chain = SimulatedChain(node_seed(secret))
    peers = [Peer(make_config(secret, side, chain, setup.agreement)) for side in Side]
    first, second = (DrivenPeer(peer.config.name, wrap(peer)) for peer in peers)
    driver = Driver(chain, (first, second))
    sides = [
        SidePlayer(setup, peer, by_policy("", peer.config.secret), prepares=False) for peer in peers
    ]
    players = Players(driver, sides)
    driver.start()
    steps = 0
    for _ in range(LIMIT):
        while driver.deliver() or players.ask() or players.act():
            steps += peers[1].phase is Phase.PLAYING
            if steps == leaves:
                players.command(1, GoOnChain())
        if all(peer.is_over for peer in peers):
            return chain
        driver.farm()
    raise AssertionError([peer.phase for peer in peers])
