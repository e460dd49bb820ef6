"""What a player hides by a decision is stored, sealed, with its move: a restart gives it back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.channel.crypto import bls
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.peer.interface import Acted
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation import remote_actor
from channelsim.channel.simulation.arena import Arena
from channelsim.channel.simulation.crashes import run_killed
from channelsim.channel.simulation.promises.checker import check
from channelsim.channel.simulation.promises.old_copies import restored
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.store import snapshots
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sealed_store import MARK, SealedStore
from channelsim.games.contract import PlainPlayer, Player, Position
from channelsim.games.players import player_after
from channelsim.plugins import WrongAnswer
from tests.channel.simulation.instants import every_instant
from tests.channel.simulation.test_crashes import at, harmless, same_end, undisturbed
from tests.games import dots

ON_CHAIN = (
    Scenario(("dots",), "mb", "silent", step=5, side=0, hands=3),
    Scenario(("dots",), "mb", "silent", step=6, side=0, hands=3),
)
"""Disputes in which the honest side opens a cell on chain that it marked there, or before."""


@pytest.fixture(autouse=True)
def snapshots_between_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise most restarts would make the moves again, and remember for themselves."""
    monkeypatch.setattr(remote_actor, "EVENTS_PER_SNAPSHOT", 1)


@pytest.mark.parametrize("side", Side)
def test_a_peer_killed_at_any_event_sends_the_same_bytes(side: Side) -> None:
    with dots.registered(), bls.remembered():
        for kill in undisturbed("dots")[2][side][side::2]:
            same_end("dots", {side: {kill}})


@pytest.mark.parametrize("scenario", ON_CHAIN, ids=["marked there", "marked before"])
def test_a_peer_killed_on_chain_opens_what_it_marked(scenario: Scenario) -> None:
    with dots.registered(), bls.remembered():
        news = Arena(scenario).run().parties[scenario.honest].news
        counts = next(at for at, told in enumerate(news) if isinstance(told, StateCounts))
        acts = [told.action.verb for told in news[counts:] if isinstance(told, Acted)]
        assert acts == ["mark", "open"][-len(acts) :]
        assert len(acts) == scenario.step % 2 + 1
        for kill in every_instant(scenario, scenario.honest)[::5]:
            killed = run_killed(scenario, at(scenario.honest, kill))
            assert killed.kills[scenario.honest] == (kill,)
            assert harmless(killed), killed


def test_an_old_copy_of_a_store_loses_nothing() -> None:
    with dots.registered(), bls.remembered():
        copies = 0
        for step in range(3, 12):
            scenario = Scenario(("dots",), f"old {step}", "silent", step=step, side=0, hands=3)
            run = Arena(replace(scenario, old_copy=step)).run()
            copies += restored(run) is not None
            assert check(run) == []
        assert copies > 2


def test_a_lost_memory_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted mistake: a restart that forgets."""

    def forget(player: Player, position: Position, memory: bytes) -> Player:
        return player_after(player, position, b"")

    monkeypatch.setattr(snapshots, "player_after", forget)
    different = 0
    with dots.registered(), bls.remembered():
        for kill in undisturbed("dots")[2][Side.RECEIVER][::3]:
            try:
                same_end("dots", {Side.RECEIVER: {kill}})
            except (AssertionError, IndexError, WrongAnswer):
                different += 1
    assert different


def test_a_memory_is_sealed_and_stored_with_its_state() -> None:
    stores: dict[Side, MemoryStore] = {}
    peers: dict[Side, Peer] = {}

    def wrap(peer: Peer) -> DurablePeer:
        peers[peer.config.side] = peer
        stores[peer.config.side] = store = MemoryStore()
        return DurablePeer(peer, SealedStore(store, peer.config.secret))

    with dots.registered(), bls.remembered():
        Arena(Scenario(("dots",), "memory", hands=3), wrap=wrap).run()
        marked = 0
        for side, peer in peers.items():
            rows = SealedStore(stores[side], peer.config.secret).load().states
            assert all(row.startswith(MARK) for row in stores[side].load().states)
            for link in peer.play.history:
                for game in link.state.games:
                    if not game.memory:
                        continue
                    assert game.position.validator == "show"
                    if link.state.number < len(rows):
                        assert game.memory in rows[link.state.number]
                        assert game.memory not in stores[side].load().states[link.state.number]
                    signed = SignedGames.of(peer.endpoint, peer.play.history)
                    player = signed.player_at(link.state, game)
                    assert isinstance(player, PlainPlayer)
                    assert player.memory == game.memory
                    marked += 1
        assert marked == 3
