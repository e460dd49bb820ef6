"""Processes that are killed at any instant come back and go on as if nothing had happened."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from itertools import cycle
from pathlib import Path

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.attack.crashes import crashes
from channelsim.channel.attack.session import Session
from channelsim.channel.attack.side_processes import SideProcess, side_processes
from channelsim.channel.attack.world import run_observed
from channelsim.channel.chain.coins import condition, signed_spend
from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.errors import InvariantError
from channelsim.channel.peer.interface import Event
from channelsim.channel.peer.machine import Peer
from channelsim.channel.protocol.wallet import address_of, wallet_key
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.channel.simulation.process_node import ProcessNode
from channelsim.channel.simulation.remote_actor import RemoteActor
from channelsim.channel.simulation.side_process import Work, open_side
from channelsim.channel.store.keys_file import write_keys
from channelsim.channel.store.sqlite_store import FILE as DATABASE
from channelsim.clsp.values import int_to_atom, to_list
from channelsim.games.chance import Chance
from channelsim.games.referee import CREATE_COIN
from tests.channel.campaign.running import done
from tests.channel.table import sit
from tests.sampling import one_in


@pytest.mark.parametrize("mixed", one_in(2, [False, True]))
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
    write_keys(tmp_path, ben.config)
    child = ChildProcess("a peer's process", open_side, Work(tmp_path))
    actor = RemoteActor("initiator", Peer(ann.config), child)
    try:
        with pytest.raises(InvariantError, match="react differently"):
            actor.start(1)
    finally:
        child.kill()


CRASHES = Attack(("calpoker",), "real", tuple(Action("crash", 0, at, 1) for at in (7, 20)))


def killed() -> Session:
    """A session whose initiator is killed twice."""
    with side_processes(CRASHES) as real:
        session, _ = run_observed(CRASHES, real=real)
    return session


def test_a_process_that_was_killed_once_it_had_stored_an_event_goes_on_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def strike(child: ChildProcess, chance: Chance) -> None:
        child.receive()
        child.kill()

    monkeypatch.setattr(ChildProcess, "strike", strike)
    session = killed()
    assert (session.done, session.violations) == (CRASHES.actions, ())


def test_a_process_that_was_killed_before_it_stored_an_event_goes_on_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def kill(side: SideProcess, event: Event | None, peak: int) -> None:
        side.end()
        side.was_killed = True

    monkeypatch.setattr(SideProcess, "kill", kill)
    session = killed()
    assert (session.done, session.violations) == (CRASHES.actions, ())


def test_a_store_that_lost_more_than_the_newest_event_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give = SideProcess.give_files

    def given(side: SideProcess) -> None:
        give(side)
        with closing(sqlite3.connect(side.folder / DATABASE)) as database, database:
            database.execute("DELETE FROM events WHERE number > 3")

    monkeypatch.setattr(SideProcess, "give_files", given)
    assert "restart" in {violation.monitor for violation in killed().violations}
