"""`channelsim watch`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any

from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Chain
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.nodes import Certificate, NodeKey, NodeUrl, node_addresses, nodes_at
from channelsim.channel.cli.options import InText, Json, file_argument, json_wanted, real, whole
from channelsim.channel.cli.running import printing
from channelsim.channel.errors import UsageError
from channelsim.channel.protocol.proposals import MOST_TIMEOUT
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.system.file_changes import snapshot
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.channel.watch.watch_data import NEWEST, STATES, WatchData, read_watch_data
from channelsim.channel.watch.watcher import Sight, Step, Watcher
from channelsim.games.amounts import counted

PERIOD = 5.0
"""Seconds between two looks at the chain, unless the user chooses."""

PAUSE = 0.2
"""Seconds after which an interrupt is noticed."""


def command(
    folder: Annotated[Path, file_argument("A copy of the folder `watch` of a data directory.")],
    node: NodeUrl = None,
    cert: Certificate = None,
    key: NodeKey = None,
    wait: Annotated[
        int | None,
        whole(
            0, MOST_TIMEOUT, "Blocks in which the owner can preempt first (a third of the timeout)."
        ),
    ] = None,
    every: Annotated[float, real(0.05, 3600, "Seconds between two queries of the chain.")] = PERIOD,
    json: Json = False,
    text: InText = False,
) -> int:
    """Watch a channel for its owner, from public data alone, until the channel has ended.

    A stale state that the counterparty publishes is preempted with the newest one; any other
    state is paid out after its timeout. Nothing else can be spent without the owner's keys. Data
    that are copied again meanwhile are read again. It prints every change; with --json, a line
    each. Exit code 1: the channel ended in an older state than the newest of these data, or in one
    that they do not have.

    Example: channelsim watch tower/watch --node http://127.0.0.1:8555
    """
    as_json = json_wanted(json, text)
    data = read_watch_data(folder)
    with closing(nodes_at(node_addresses(node, cert, key))) as chain, polled() as interrupted:
        _check_network(chain, data)
        return _watch(folder, data, chain, wait, every, interrupted, as_json=as_json)


def _watch(
    folder: Path,
    data: WatchData,
    chain: Chain,
    wait: int | None,
    every: float,
    interrupted: Callable[[], bool],
    *,
    as_json: bool,
) -> int:
    shown: dict[str, Any] = {}
    complaint = ""
    files, watcher = snapshot(_files(folder)), _watcher(data, wait)
    while not interrupted():
        before, files = files, snapshot(_files(folder), files)
        if before.changed(files):
            data = _read_again(folder, data)
            watcher = _watcher(data, wait)
        try:
            sight = watcher.look(chain)
            pushed = chain.push(sight.spend) if sight.spend is not None else None
        except NodeError as error:
            if complaint != f"{error}":
                complaint = f"{error}"
                complain(f"{complaint}; trying again every {every:g} s")
        else:
            complaint = ""
            line = _document(sight, data, pushed.text if pushed else None)
            if {**line, "height": 0} != {**shown, "height": 0}:
                _show(line, as_json=as_json)
                shown = line
            if sight.final:
                return exit_code(False, failed=not _ended_well(sight, data))
        _pause(every, interrupted)
    return exit_code()


def _ended_well(sight: Sight, data: WatchData) -> bool:
    """True for a clean shutdown, and for a payout of the newest state or a later one."""
    if sight.step is Step.PAID and sight.state is not None:
        return sight.state >= data.newest.state.number
    return sight.step is Step.SHUT


def _watcher(data: WatchData, wait: int | None) -> Watcher:
    return Watcher(data, data.channel.unroll_timeout // 3 if wait is None else wait)


def _files(folder: Path) -> list[Path]:
    return [folder / STATES, folder / NEWEST]


def _read_again(folder: Path, data: WatchData) -> WatchData:
    """Read data that were copied again; those from before while the copy is not complete."""
    try:
        found = read_watch_data(folder)
    except UsageError as error:
        complain(f"{error}; going on with state {data.newest.state.number}")
        return data
    if found.channel != data.channel or found.newest.state.number < data.newest.state.number:
        complain(f"{folder}: data of another channel, or older ones: going on without them")
        return data
    return found


def _check_network(chain: Chain, data: WatchData) -> None:
    if chain.agg_sig_data() != data.channel.agg_sig_data:
        raise UsageError("--node: it is on another network than the channel")


def _pause(seconds: float, interrupted: Callable[[], bool]) -> None:
    until = monotonic() + seconds
    while not interrupted() and monotonic() < until:
        sleep(min(PAUSE, seconds))


def _document(sight: Sight, data: WatchData, pushed: str | None) -> dict[str, Any]:
    return {
        "height": sight.peak,
        "step": sight.step.name.lower(),
        "state": sight.state,
        "newest": data.newest.state.number,
        "since": sight.since,
        "due": sight.due,
        "latest": sight.latest,
        "late": sight.late,
        "pushed": pushed,
        "final": sight.final,
    }


def _show(line: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        with printing():
            print(json_line(line), flush=True)
        return
    what = Step[line["step"].upper()].value
    if line["state"] is not None:
        what += f": state {line['state']}, and the newest is {line['newest']}"
    if line["pushed"] is not None:
        what += f"; our spend is {line['pushed']}"
    elif line["due"] is not None:
        blocks = counted(line["due"] - line["height"], "block")
        what += f"; our spend is due in {blocks}"
    if line["late"]:
        what += (
            f"; it is not in, and must be by height {line['latest']}: blocks are full, or somebody"
            " keeps it out. Only the owner's peer can pay a fee: start it now"
        )
    with printing():
        say(console(), f"height {line['height']}: {what}{'; this is final' * line['final']}")
