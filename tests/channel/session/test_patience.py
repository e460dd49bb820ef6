"""A player whose proposal nobody answers waits for so many blocks, and then wants the shutdown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from channelsim.channel.peer.interface import Close
from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.protocol.state import Side
from channelsim.channel.session.agreed_hands import BegunHands
from channelsim.channel.session.side_player import SidePlayer

PATIENCE = 60


def idle_player(peak: int) -> tuple[SidePlayer, Any]:
    """An initiator with an open proposal, and its peer at this height."""
    proposal = SimpleNamespace(id=0, proposer=Side.INITIATOR)
    state = SimpleNamespace(games=(), groups=(proposal,))
    play = SimpleNamespace(state=state, queue=(), closing=False, refusal=None, history=None)
    peer: Any = SimpleNamespace(
        phase=Phase.PLAYING,
        config=SimpleNamespace(side=Side.INITIATOR),
        play=play,
        state=SimpleNamespace(block=SimpleNamespace(peak=peak), resuming=False),
    )
    counter: Any = SimpleNamespace(begun=lambda history: BegunHands())
    setup: Any = None
    decide: Any = None
    player = SidePlayer(setup, peer, decide, prepares=False, counter=counter)
    return player, peer


def test_an_idle_player_closes_after_its_patience_and_not_before() -> None:
    player, peer = idle_player(100)
    for waited in (0, PATIENCE - 1, PATIENCE):
        peer.state.block.peak = 100 + waited
        assert player.next_command() is None
    peer.state.block.peak = 100 + PATIENCE + 1
    assert isinstance(player.next_command(), Close)


def test_a_lower_height_after_a_reorganisation_prolongs_no_wait() -> None:
    player, peer = idle_player(100)
    for peak in (100, 98, 98 + PATIENCE):
        peer.state.block.peak = peak
        assert player.next_command() is None
    peer.state.block.peak = 98 + PATIENCE + 1
    assert isinstance(player.next_command(), Close)
