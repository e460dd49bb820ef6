"""Processes that are killed at any instant come back and go on as if nothing had happened."""

from __future__ import annotations

import tempfile
from contextlib import closing
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from channelsim.channel.attack.crashes import crashes
from channelsim.channel.chain.coins import condition, signed_spend
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Received
from channelsim.channel.peer.machine import Peer, Phase
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.session.peer_driver import PeerStopped
from channelsim.channel.simulation.crashes import scenario_of
from channelsim.channel.simulation.kills import AIMS, LOST
from channelsim.channel.simulation.peer_process import PeerProcess
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.remote_actor import RemoteActor
from channelsim.channel.simulation.side_process import Work
from channelsim.channel.store.interface import Contents
from channelsim.channel.store.keys_file import FILE, write_keys
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.chance import Chance
from channelsim.games.referee import CREATE_COIN
from tests.channel.campaign.running import done
from tests.channel.table import sit


def test_scenarios_differ_and_have_every_weather() -> None:
    drawn = [scenario_of("x", count, AIMS[count % len(AIMS)]) for count in range(60)]
    assert len({(scenario.adversary, scenario.games, scenario.weather) for scenario in drawn}) > 40
    assert {scenario.side for scenario in drawn} == {0, 1}
    assert len({scenario.adversary for scenario in drawn}) > 20
    prepared = [scenario for scenario in drawn if scenario.agreed and scenario.dealer]
    assert len(prepared) == 12, "each run aimed at a step of a deck prepares decks"


@pytest.mark.parametrize("mixed", [False, True])
def test_killed_processes_come_back_from_the_disk(mixed: bool) -> None:
    totals = done(crashes(1, "processes", processes=True, mixed=mixed), 1)
    assert totals.kills == 1
    assert totals.failed == []


@pytest.mark.long
def test_many_killed_processes_come_back_from_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are killed before an event is on disk, and some after. No temporary file remains."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", folder)
        totals = done(crashes(300, "many processes", processes=True), 2)
        assert list(Path(folder).iterdir()) == []
    assert totals.kills == 300
    assert totals.failed == []


def test_a_killed_node_makes_the_same_blocks(tmp_path: Path) -> None:
    """It is killed at every second change, and no block or bundle is lost or made twice."""
    key = wallet_key(b"", "wallet")
    second = cycle((False, True))
    node = ProcessNode(tmp_path / "chain", 7, lambda: next(second), Chance(b""))
    with closing(node):
        chains = []
        for chain in (SimulatedChain(7), node):
            coin = chain.give(address_of(key), 1)
            paid = to_list([condition(CREATE_COIN, bytes(32), int_to_atom(coin.amount))])
            assert chain.push(signed_spend(key, coin, paid, chain.agg_sig_data())).benign
            chain.farm(2)
            chain.reorganise(1, 2, keep=False)
            chain.farm()
            chains.append((chain.peak(), chain.coin(coin.id), chain.children(coin.id)))
    assert chains[0] == chains[1]
    assert node.kills == 2


def test_a_process_that_reacts_otherwise_than_its_copy_is_noticed(tmp_path: Path) -> None:
    ann, ben = (end.peer for end in sit().ends)
    process = PeerProcess(ann.config, Work(tmp_path))
    process.child.kill()
    (tmp_path / FILE).unlink()
    write_keys(tmp_path, ben.config)
    process.child.begin()
    actor = RemoteActor(Peer(ann.config), process)
    with closing(actor), pytest.raises(InvariantError, match="react differently"):
        actor.start(1)


def killed_when_done(folder: Path) -> RemoteActor:
    """A peer whose process is killed as soon as it has handled an event."""
    process = PeerProcess(sit().ends[0].peer.config, Work(folder))

    def strike(chance: Chance) -> None:
        process.child.receive()
        process.child.kill()

    process.child.strike = strike  # type: ignore[method-assign]
    return RemoteActor(Peer(sit().ends[0].peer.config), process, lambda kill: True)


def test_a_killed_process_goes_on_from_what_it_has_stored(tmp_path: Path) -> None:
    with closing(killed_when_done(tmp_path)) as actor:
        actor.start(1)
        with pytest.raises(PeerStopped) as stopped:
            actor.handle(Received(b"no message"))
        assert stopped.value.effects
        actor.start(1)
        assert actor.peer.phase is Phase.FAILED
        assert [kill.effects for kill in actor.kills] == [0]


def test_a_process_that_was_killed_before_it_stored_an_event_goes_on_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(killed_when_done(tmp_path)) as actor:
        actor.start(1)
        keep_first(monkeypatch, 1)
        with pytest.raises(PeerStopped) as stopped:
            actor.handle(Received(b"no message"))
        assert stopped.value.effects is None
        assert [kill.effects for kill in actor.kills] == [LOST]


def test_a_store_that_lost_more_than_the_newest_event_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(killed_when_done(tmp_path)) as actor:
        actor.start(1)
        keep_first(monkeypatch, 0)
        with pytest.raises(InvariantError, match="neither"):
            actor.handle(Received(b"no message"))


def keep_first(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let stores of processes have so many events."""
    stored = PeerProcess.stored

    def kept(process: PeerProcess) -> Contents:
        contents = stored(process)
        return replace(contents, events=contents.events[:count])

    monkeypatch.setattr(PeerProcess, "stored", kept)
