"""What a player hides by a decision is stored, sealed, with its move: a restart gives it back."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.disputes import play
from channelsim.channel.attack.kinds import OLD_COPY
from channelsim.channel.crypto import bls
from channelsim.channel.peer.chain_news import StateCounts
from channelsim.channel.peer.interface import Acted
from channelsim.channel.peer.machine import Peer
from channelsim.channel.peer.onchain.signed_games import SignedGames
from channelsim.channel.protocol.state import Side
from channelsim.channel.simulation.promises.old_copies import restored
from channelsim.channel.store import snapshots
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.memory_store import MemoryStore
from channelsim.channel.store.sealed_store import MARK, SealedStore
from channelsim.games.contract import PlainPlayer, Player, Position
from channelsim.games.players import player_after
from channelsim.plugins import WrongAnswer
from tests.channel.attack.killing import Played, played
from tests.channel.scenarios import play_hands
from tests.games import dots
from tests.sampling import one_in

LEAVES_AT = {1: 14, 2: 22}
"""The event at which the receiver goes on chain, by the moves that it makes there: it opens a cell
that it marked before, or marks it there first."""


def dotted(*actions: Action) -> Attack:
    """A session whose restarts come from snapshots: they do not make the moves again."""
    return Attack(("dots",), "mb", actions, hands=3, snapshots=1)


def random(*actions: Action) -> Attack:
    return replace(dotted(*actions), policies=("random", "random"))


@pytest.mark.parametrize("side", one_in(2, Side))
def test_a_peer_killed_at_any_event_sends_the_same_bytes(side: Side) -> None:
    with dots.registered(), bls.remembered():
        calm = played(random())
        for at in range(9 + side, 30, 4):
            killed = played(random(Action("crash", side, at, 1)))
            assert killed.session.violations == ()
            assert (killed.batches, killed.paid) == (calm.batches, calm.paid)


def acts_on_chain(run: Played) -> list[str]:
    news = run.news[Side.RECEIVER]
    counts = next(at for at, told in enumerate(news) if isinstance(told, StateCounts))
    return [told.action.verb for told in news[counts:] if isinstance(told, Acted)]


@pytest.mark.parametrize("acts", one_in(2, LEAVES_AT), ids=["marked before", "marked there"])
def test_a_peer_killed_on_chain_opens_what_it_marked(acts: int) -> None:
    leaves = Action("go-on-chain", 1, LEAVES_AT[acts])
    with dots.registered(), bls.remembered():
        assert acts_on_chain(played(dotted(leaves))) == ["mark", "open"][-acts:]
        for since, at in (("chain", 3), ("counts", 0), ("counts", 2)):
            killed = played(dotted(leaves, Action("crash", 1, at, 1, since=since)))
            assert killed.session.violations == ()
            assert len(killed.session.done) == 2
            assert acts_on_chain(killed) == ["mark", "open"][-acts:]


def test_an_old_copy_of_a_store_loses_nothing() -> None:
    with dots.registered(), bls.remembered():
        copies = 0
        for at in range(13, 27, 2):
            silent = Action("deviate", 0, at // 2, name="silent")
            dispute = play(dotted(silent, Action(OLD_COPY, 1, at, at // 2)))
            copies += restored(dispute.run) is not None
            assert dispute.broken == []
        assert copies > 2


def test_a_lost_memory_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted mistake: a restart that forgets."""

    def forget(player: Player, position: Position, memory: bytes) -> Player:
        return player_after(player, position, b"")

    kills = [Action("crash", 1, at, 1) for at in range(15, 30)]
    with dots.registered(), bls.remembered():
        calm = played(random())
        monkeypatch.setattr(snapshots, "player_after", forget)
        assert any(_is_other(random(kill), calm) for kill in kills)


def _is_other(attack: Attack, calm: Played) -> bool:
    try:
        killed = played(attack)
    except WrongAnswer:
        return True
    return bool(killed.session.violations) or killed.batches != calm.batches


def test_a_memory_is_sealed_and_stored_with_its_state() -> None:
    stores: dict[Side, MemoryStore] = {}
    peers: dict[Side, Peer] = {}

    def wrap(peer: Peer) -> DurablePeer:
        peers[peer.config.side] = peer
        stores[peer.config.side] = store = MemoryStore()
        return DurablePeer(peer, SealedStore(store, peer.config.secret))

    with dots.registered(), bls.remembered():
        play_hands(("dots",), "memory", wrap, hands=3)
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
