"""Trials of a player's wish to close, beside the peer and without any effect on it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.trial_close import wrong_close
from channelsim.channel.peer.interface import AcceptGames, ProposeGames
from channelsim.channel.peer.play import sending
from tests.channel.table import ANN, BEN, Table, sit


def waiting() -> Table:
    """Ben has accepted a proposal, and proposes himself; he has given the potato away."""
    table = sit("trial").open().propose(ANN)
    while not table.ends[BEN].state.groups:
        table.deliver()
    return table


def tried(table: Table, *queue: AcceptGames | ProposeGames) -> list[str]:
    peer = table.ends[BEN].peer
    play = peer.state.play
    assert play is not None
    state = replace(peer.state, play=replace(play, queue=queue, potato=False))
    return list(wrong_close(peer.config, peer.state, state))


def test_a_peer_that_closes_begins_no_game() -> None:
    table = waiting()
    (group,) = table.ends[BEN].state.groups
    assert tried(table) == []
    assert tried(table, AcceptGames(group.id), ProposeGames(())) == []


def test_what_it_would_begin_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def kept(play: Any) -> Any:
        return play, []

    table = waiting()
    (group,) = table.ends[BEN].state.groups
    monkeypatch.setattr(sending, "without_new_games", kept)
    lines = tried(table, AcceptGames(group.id), ProposeGames(()))
    assert lines == [
        "would begin games by 2 decisions after its player closes",
        "would tell its player of 0 of 1 proposal that it drops",
    ]
