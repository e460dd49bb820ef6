"""A process of a side's watcher, which runs while the process of its side is down.

It has a copy of the side's watch data in a folder of its own: what it had when the side was down
before, until the files are copied again, one after the other.
"""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.watch_fees import WatcherTurn, spend_key
from channelsim.channel.attack.watch_words import WatchWords
from channelsim.channel.attack.watcher_monitors import WatcherMonitors
from channelsim.channel.chain.rpc import NodeError
from channelsim.channel.errors import UsageError
from channelsim.channel.watch.channel_watch import ChannelWatch
from channelsim.channel.watch.watch_data import FOLDER, NEWEST, STATES, WatchData, read_watch_data
from channelsim.games.amounts import counted


@dataclass(slots=True)
class WatcherProcess:
    """A watcher with its node, and the monitors that follow it, also its `words`.

    Nothing hinders it, or the process before it, `since` this height. It has pushed something, or
    not yet.
    """

    node: FailingNode
    monitors: WatcherMonitors
    watch: ChannelWatch
    words: WatchWords
    since: int | None = None
    has_pushed: bool = False

    def look(self) -> None:
        """Look once, and push what is due. Raises `NodeError`."""
        try:
            self._look()
        except NodeError as error:
            trouble = f"{error}; trying again"
            self.watch.look_failed(trouble)
            self.monitors.says(self.words.failed(trouble))
            raise

    def _look(self) -> None:
        chain, height, failed = self.node.chain, self.node.height, self.node.failed
        sight = self.watch.look(self.node)
        amounts, rate = self._amounts(), self.node.rate
        key = spend_key(sight)
        earlier = chain.pending(key) if key and not self.has_pushed else ()
        self.has_pushed |= bool(key)
        with self.node.noting() as pushed:
            offered = self.watch.push(self.node, sight)
        line, notices = self.watch.line(sight, offered), self.watch.notices
        newest = self.watch.data.newest.state.number
        self.monitors.says(self.words.looked(sight, offered, newest, notices, line))
        is_free = not (chain.fee_rate() or self.node.is_behind)
        since = max(self.since or self.node.height, self.node.hampers_until)
        self.since = since if is_free else None
        if self.node.height == height and not self.node.is_behind:
            turn = WatcherTurn(
                sight=sight,
                pushed=pushed,
                pending=chain.pending(key) if key else (),
                amounts=amounts,
                rate=rate,
                failed=self.node.failed > failed,
                notices=notices,
                earlier=earlier,
            )
            self.monitors.looked(chain, self.watch.data, turn, self.since)

    def _amounts(self) -> tuple[int, ...]:
        """The amounts of its fee coins."""
        wallet = self.monitors.wallet
        coins = self.node.chain.coins_at(wallet.address) if wallet is not None else []
        return tuple(seen.coin.amount for seen in coins)


def begun(
    folder: Path, node: FailingNode, monitors: WatcherMonitors, before: WatcherProcess | None
) -> WatcherProcess | None:
    """Start a watcher of the files in a side's folder; None before there are any.

    Raises `UsageError`.
    """
    files, tower = folder / FOLDER, folder.with_name(f"{folder.name} watcher")
    if not files.exists():
        return None
    new: WatchData | None = None
    if not _is_copied(files, tower):
        try:
            new = read_watch_data(files)
        except UsageError as error:
            monitors.unwatchable(error)
            raise
    if not tower.exists():
        tower.mkdir()
        for name in (STATES, NEWEST):
            shutil.copyfile(files / name, tower / name)
    words, wallet = WatchWords(), monitors.wallet
    keys, most = (wallet.keys, wallet.most) if wallet is not None else ((), None)

    def complain(text: str) -> None:
        """Note a line; the folder has another name in each run."""
        words.complaints.append(text.replace(f"{tower}", FOLDER))

    watch = ChannelWatch(tower, None, keys, most, complain)
    if new is not None:
        names = (STATES, NEWEST) if node.height % 2 else (NEWEST, STATES)
        try:
            monitors.says(_copied_again(watch, files, tower, names, new, words))
        except UsageError as error:
            monitors.says([f"ends: {error}".replace(f"{tower}", FOLDER)])
    monitors.begins()
    since = None if before is None else before.since
    return WatcherProcess(node, monitors, watch, words, since)


def _is_copied(files: Path, tower: Path) -> bool:
    """True if a watcher's folder has these files."""
    same, _, _ = filecmp.cmpfiles(files, tower, (STATES, NEWEST), shallow=False)
    return len(same) == len((STATES, NEWEST))


def _copied_again(
    watch: ChannelWatch,
    files: Path,
    tower: Path,
    names: Sequence[str],
    new: WatchData,
    words: WatchWords,
) -> Iterator[str]:
    """Copy the files again, in this order, and one of them in two parts; find what is not read."""
    known, number = watch.data, watch.data.newest.state.number
    is_older = new.newest.state.number < number or len(new.states) < len(known.states)
    # With the newest state of one file, and the others of the other, it may know one more.
    may_be_older = is_older or len(new.states) < len({**known.states, **new.states})
    for name in names:
        whole = (files / name).read_bytes()
        if name == NEWEST and (tower / name).read_bytes() != whole:
            before = watch.data
            words.complaints.clear()
            (tower / name).write_bytes(whole[: len(whole) // 2])
            watch.read_again()
            goes_on = any(f"going on with state {number}" in line for line in words.complaints)
            if watch.data is not before or not goes_on:
                yield f"says {words.complaints} of a file that is not whole yet"
        (tower / name).write_bytes(whole)
        watch.read_again()
    newest = max(number, new.newest.state.number)
    if watch.data.newest.state.number != newest:
        yield f"has state {watch.data.newest.state.number}, and {newest} is right"
    if watch.data.states != {**known.states, **new.states}:
        yield f"knows {counted(len(watch.data.states), 'state')}, and not all that it was given"
    says_older = any("older data than before" in line for line in words.complaints)
    if says_older not in (is_older, may_be_older):
        yield f"says {words.complaints} of data that were copied again"
    words.complaints.clear()
