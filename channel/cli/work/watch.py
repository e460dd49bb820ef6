"""The work of `channelsim watch`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, assert_never

from chia_rs import PrivateKey
from chia_wallet_sdk import Address

from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Chain
from channelsim.channel.chain.peaks import MAINNET
from channelsim.channel.cli.commands.watch import WatchOptions
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.nodes import (
    check_network,
    node_addresses,
    nodes_at,
)
from channelsim.channel.cli.running import printing, unless_interrupted
from channelsim.channel.cli.secret_files import read_wallet_keys
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.system.file_changes import snapshot
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.channel.watch.pusher import (
    FeeAtMaximum,
    FeesUnknown,
    NoFeeCoin,
    Notice,
    Offered,
    Pusher,
    SpendIsDropped,
    StakeTooSmall,
)
from channelsim.channel.watch.watch_data import NEWEST, STATES, WatchData, read_watch_data
from channelsim.channel.watch.watcher import Sight, Step, Watcher
from channelsim.games.amounts import counted

PAUSE = 0.2
"""Seconds after which an interrupt is noticed."""


def watch_channel(options: WatchOptions) -> int:
    """Watch a channel for its owner, from public data alone, until the channel has ended."""
    as_json = options.form.as_json
    data = read_watch_data(options.folder)
    pusher = Pusher(data.channel, _fee_keys(options.fee_key), options.max_fee)
    with (
        closing(nodes_at(node_addresses(options.nodes))) as chain,
        polled() as interrupted,
    ):
        return _watch(
            options.folder,
            data,
            chain,
            options.wait,
            options.every,
            interrupted,
            pusher,
            as_json=as_json,
        )


def _watch(
    folder: Path,
    data: WatchData,
    chain: Chain,
    wait: int | None,
    every: float,
    interrupted: Callable[[], bool],
    pusher: Pusher,
    *,
    as_json: bool,
) -> int:
    shown: dict[str, Any] = {}
    noticed: tuple[Notice, ...] = ()
    complaint = ""
    files, watcher = snapshot(_files(folder)), _watcher(data, wait)
    while not interrupted():
        before, files = files, snapshot(_files(folder), files)
        if before.changed(files):
            data = _read_again(folder, data)
            watcher = _watcher(data, wait)
        look = partial(_looked, watcher, pusher, chain, data.channel.agg_sig_data)
        try:
            seen = unless_interrupted(look, interrupted)
        except NodeError as error:
            if complaint != f"{error}":
                complaint = f"{error}"
                complain(f"{complaint}; trying again every {every:g} s")
        else:
            if seen is None:
                break
            sight, offered = seen
            complaint = ""
            for notice in pusher.notices:
                if notice not in noticed:
                    _explain(notice, data)
            noticed = pusher.notices
            line = _document(sight, data, offered)
            if {**line, "height": 0} != {**shown, "height": 0}:
                _show(line, as_json=as_json)
                shown = line
            if sight.final:
                return exit_code(False, failed=not sight.ended_well(data.newest.state.number))
        _pause(every, interrupted)
    return exit_code()


def _looked(
    watcher: Watcher, pusher: Pusher, chain: Chain, agg_sig_data: bytes
) -> tuple[Sight, Offered | None]:
    """Look at the chain, and push what is due. Raises `UsageError` for another network."""
    check_network(chain, agg_sig_data)
    sight = watcher.look(chain)
    return sight, pusher.push(chain, watcher, sight)


def _fee_keys(path: Path | None) -> tuple[PrivateKey, ...]:
    """The keys of the fee coins; none without a file, or with one that cannot be used."""
    if path is None:
        return ()
    try:
        return read_wallet_keys(path)
    except UsageError as error:
        # A watcher without fees is better than none.
        complain(f"{error}; watching without fees")
        return ()


def _explain(notice: Notice, data: WatchData) -> None:
    """Print a line about fees on stderr."""
    match notice:
        case NoFeeCoin(address, least):
            prefix = "xch" if data.channel.agg_sig_data == MAINNET else "txch"
            place = Address(address, prefix).encode()
            complain(
                f"--fee-key: no coin of at least {counted(least, 'mojo')} at {place}: fund it;"
                " watching without fees until then"
            )
        case StakeTooSmall(most):
            complain(
                f"--fee-key: by default a spend of this channel costs at most"
                f" {counted(most, 'mojo')}, less than mempools take as a raise; watching without"
                " fees: give --max-fee"
            )
        case FeeAtMaximum(fee, coin_is_small):
            remedy = "a larger coin" if coin_is_small else "a higher --max-fee"
            complain(
                f"our spend is not confirmed with its highest fee, {counted(fee, 'mojo')}: start"
                f" the owner's peer, or this command again with {remedy}"
            )
        case SpendIsDropped():
            complain(
                "the node has dropped our spend, and takes it no more as it is: name another"
                " --node, or give --fee-key and coins for a fee"
            )
        case FeesUnknown(reason):
            complain(f"{reason}; going on with the fees that are known")
        case _:
            assert_never(notice)


def _watcher(data: WatchData, wait: int | None) -> Watcher:
    return Watcher(data, data.channel.unroll_timeout // 3 if wait is None else wait)


def _files(folder: Path) -> list[Path]:
    return [folder / STATES, folder / NEWEST]


def _read_again(folder: Path, data: WatchData) -> WatchData:
    """Read data that were copied again; those from before while the copy is not complete."""
    try:
        copied = read_watch_data(folder)
    except UsageError as error:
        complain(f"{error}; going on with state {data.newest.state.number}")
        return data
    if copied.channel != data.channel or copied.newest.state.number < data.newest.state.number:
        complain(f"{folder}: data of another channel, or older ones: going on without them")
        return data
    return copied


def _pause(seconds: float, interrupted: Callable[[], bool]) -> None:
    until = monotonic() + seconds
    while not interrupted() and monotonic() < until:
        sleep(min(PAUSE, seconds))


def _document(sight: Sight, data: WatchData, offered: Offered | None) -> dict[str, Any]:
    return {
        "height": sight.peak,
        "step": sight.step.name.lower(),
        "state": sight.state,
        "newest": data.newest.state.number,
        "since": sight.since,
        "due": sight.due,
        "latest": sight.latest,
        "late": sight.late,
        "pushed": offered.result.text if offered is not None else None,
        "fee": offered.fee if offered is not None else None,
        "final": sight.final,
        "good": sight.ended_well(data.newest.state.number) if sight.final else None,
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
        if line["fee"]:
            what += f", for a fee of at most {counted(line['fee'], 'mojo')}"
    elif line["due"] is not None:
        blocks = counted(line["due"] - line["height"], "block")
        what += f"; our spend is due in {blocks}"
    if line["late"]:
        what += (
            f"; it is not in, and must be by height {line['latest']}: blocks are full, or somebody"
            f" keeps it out. {_late_remedy(line['fee'])}"
        )
    with printing():
        end = f"; this is final: {_VERDICTS[line['good']]}" if line["final"] else ""
        say(console(), f"height {line['height']}: {what}{end}")


_VERDICTS = {
    True: "good for the owner, it was paid as the newest of these data, or as both sides agreed",
    False: "maybe bad for the owner, the newest of these data did not count; the owner's peer knows"
    " whether that was right: start it",
}
"""The meaning of the end for the owner, by whether it ended well."""


def _late_remedy(fee: int | None) -> str:
    """Advice for the user when a spend is late."""
    if fee:
        return "Its fee rises; if it cannot, start the owner's peer"
    return "A fee can help: start the owner's peer, or this command again with --fee-key"
