"""Commands that start while the node is away: a channel waits for it, and says so once."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from channelsim.channel.chain.simulator import SimulatedChain
from channelsim.channel.cli import nodes
from channelsim.channel.cli.work import watch
from tests.channel.cli.test_recover import blocks, dead_in_a_hand
from tests.channel.command import channelsim
from tests.channel.disputes import publish_old, received
from tests.channel.on_chain import reward
from tests.channel.table import ANN, BALANCE, BEN, STAKE, sit
from tests.channel.watch.test_watch import in_a_hand

GUARD = 60.0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextmanager
def served_once_missed(chain: SimulatedChain, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Serve a chain as soon as a command has complained that it is not there; yields its URL."""
    port, missed, done = free_port(), Event(), Event()
    for module in (nodes, watch):
        complain = module.complain

        def heard(text: str, complain: object = complain) -> None:
            assert callable(complain)
            complain(text)
            missed.set()

        monkeypatch.setattr(module, "complain", heard)

    def serve() -> None:
        missed.wait(GUARD)
        with chain.served(("127.0.0.1", port)):
            done.wait(GUARD)

    server = Thread(target=serve)
    server.start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        missed.set()
        done.set()
        server.join()


def test_recover_waits_for_its_node(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = sit("the node comes later")
    directory, _ = dead_in_a_hand(tmp_path, table)
    with served_once_missed(table.chain, monkeypatch) as url, blocks(table, reorganised_at=-1):
        ran = channelsim(capsys, "recover", directory, "--node", url, "--every", "0.02", "--text")
    assert ran.code == 0
    assert ran.err.splitlines() == [
        f"channelsim: the node at {url} cannot be reached; asking again",
        "channelsim: the node answers again",
    ]
    assert BALANCE - STAKE <= reward(table, ANN) <= BALANCE + STAKE


@pytest.mark.parametrize("is_new", [True, False])
def test_watch_waits_for_its_node_and_says_what_the_end_means(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_new: bool,
) -> None:
    """With its newest data it preempts; a state that old data do not have may be right or wrong."""
    ours = in_a_hand(tmp_path / "watch", messages=12)
    tower, table = shutil.copytree(ours.folder, tmp_path / "tower"), ours.table
    if not is_new:
        while len(received(table, BEN)) < 5:
            assert table.step()
    publish_old(table, BEN, received(table, BEN)[0 if is_new else -1])
    with served_once_missed(table.chain, monkeypatch) as url, blocks(table, reorganised_at=-1):
        options = ("--node", url, "--every", "0.05", "--wait", "0", "--text")
        ran = channelsim(capsys, "watch", tower, *options)
    assert ran.err.splitlines() == [
        f"channelsim: the node at {url} cannot be reached; trying again every 0.05 s"
    ]
    verdict = "good for the owner" if is_new else "maybe bad for the owner"
    assert f"; this is final: {verdict}, " in " ".join(ran.out.split())
    assert ran.code == (0 if is_new else 1)
