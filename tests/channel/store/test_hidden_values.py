"""A peer that is restarted hides what it hid before, and lies as it lied."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.channel.crypto import bls
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.store import durable_peer
from channelsim.games.hidden import Lies
from tests.channel.scenarios import play_hands
from tests.channel.store.test_durable_peer import Compared
from tests.games import dots

LIES: Lies = (("board", b"seed"),)


@pytest.mark.parametrize("lies", [(), LIES], ids=["truth", "lies"])
def test_a_restarted_peer_hides_the_same(lies: Lies, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable_peer, "EVENTS_PER_SNAPSHOT", 3)
    made: list[Compared] = []

    def wrap(peer: Peer) -> Compared:
        if peer.config.side is Side.RECEIVER:
            peer.config = replace(peer.config, lies=lies)
        made.append(Compared(peer, every=1))
        return made[-1]

    with dots.registered(), bls.remembered():
        play_hands(("dots",), "hidden", wrap, hands=3)
        last = Phase.ON_CHAIN if lies else Phase.COMPLETED
        assert {Phase.PLAYING, last} <= set(made[1].compared)


def test_another_lie_is_noticed() -> None:
    """The planted mistake: a restart that draws other values leads to another player."""

    class Forgetful(Compared):
        def compare(self) -> None:
            config = self.durable.peer.config
            if config.side is Side.RECEIVER:
                self.durable.peer.config = replace(config, lies=())
            super().compare()
            self.durable.peer.config = config

    def wrap(peer: Peer) -> Compared:
        if peer.config.side is Side.RECEIVER:
            peer.config = replace(peer.config, lies=LIES)
        return Forgetful(peer, every=1)

    with dots.registered(), bls.remembered(), pytest.raises(AssertionError):
        play_hands(("dots",), "hidden", wrap, hands=3)
