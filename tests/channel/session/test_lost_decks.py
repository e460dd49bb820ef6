"""A session whose peers lose decks: each hand is proposed again, a few times."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from channelsim.channel.errors import UsageError
from channelsim.channel.peer.interface import Effect, Event, Received
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.messages import Batch, Propose, decode
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.deciders import Deciders
from channelsim.channel.session.peer_driver import Actor
from channelsim.channel.session.result import Result
from channelsim.channel.session.script import Script, ScriptedHand
from channelsim.channel.session.session import Session
from channelsim.channel.session.setup import Setup

SETUP = Setup(("holdem",), "lost decks", 3, 100, 10, 10_000, ("caller", "caller"))


class Forgetful:
    """A peer that has lost its decks when the first proposals that name one arrive."""

    def __init__(self, peer: Peer, times: int) -> None:
        self.peer = peer
        self.times = times

    def start(self, peak: int) -> list[Effect]:
        return self.peer.start(peak)

    def handle(self, event: Event) -> list[Effect]:
        message = decode(event.message) if isinstance(event, Received) else None
        actions = message.actions if isinstance(message, Batch) else ()
        if self.times and any(isinstance(action, Propose) for action in actions):
            self.times -= 1
            play = self.peer.play
            play = changed(play, decks=replace(play.decks, decks={}))
            self.peer.state = changed(self.peer.state, play=play)
        return self.peer.handle(event)


def played(times: int, setup: Setup = SETUP) -> Result:
    def wrap(peer: Peer) -> Actor:
        return Forgetful(peer, times) if peer.config.side is Side.RECEIVER else peer

    return Session(Deciders(setup), wrap=wrap, simulated_dealer=True).run()


@pytest.mark.parametrize("times", [1, 3])
def test_all_hands_are_played_though_decks_are_lost(times: int) -> None:
    result = played(times)
    assert len(result.hands) == 3
    assert (result.reason, result.excused) == ("all hands are played", True)
    assert result.checks.conserved


def test_a_session_says_that_a_deck_was_lost_too_often() -> None:
    result = played(4)
    assert result.hands == ()
    assert result.reason == "hand 1 was proposed 4 times, and its deck was lost"
    assert not result.excused
    assert result.checks.conserved


def test_a_script_does_not_outlive_a_lost_deck() -> None:
    """Its secret bytes are of games by their ids, which the second proposal shifts."""
    script = Script((ScriptedHand(initiator="07" * 64, receiver="08" * 64),))
    with pytest.raises(UsageError, match="the deck of hand 1 was lost: its script no longer fits"):
        played(1, replace(SETUP, script=script))
