"""A process of a side's watcher, which runs while the process of its side is down."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from channelsim.channel.attack.failing_node import FailingNode
from channelsim.channel.attack.side_monitors import SideMonitors
from channelsim.channel.attack.watch_duties import owners_time
from channelsim.channel.attack.watch_fees import WatcherTurn, spend_key
from channelsim.channel.errors import UsageError
from channelsim.channel.watch.pusher import Pusher
from channelsim.channel.watch.watch_data import FOLDER, WatchData, read_watch_data
from channelsim.channel.watch.watcher import Watcher


@dataclass(slots=True)
class WatcherProcess:
    """A watcher with its node, and the monitors that follow it.

    Nothing hinders it, or the process before it, `since` this height. It has pushed something, or
    not yet.
    """

    node: FailingNode
    monitors: SideMonitors
    pusher: Pusher
    watcher: Watcher
    data: WatchData
    since: int | None = None
    has_pushed: bool = False

    def look(self) -> None:
        """Look once, and push what is due. Raises `NodeError`."""
        chain, height, failed = self.node.chain, self.node.height, self.node.failed
        sight = self.watcher.look(self.node)
        amounts, rate = self._amounts(), self.node.rate
        key = spend_key(sight)
        earlier = chain.pending(key) if key and not self.has_pushed else ()
        self.has_pushed |= bool(key)
        with self.node.noting() as pushed:
            self.pusher.push(self.node, self.watcher, sight)
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
                notices=self.pusher.notices,
                earlier=earlier,
            )
            self.monitors.watch(chain, self.data, turn, self.since)

    def _amounts(self) -> tuple[int, ...]:
        """The amounts of its fee coins."""
        wallet = self.monitors.watch_wallet
        coins = self.node.chain.coins_at(wallet.address) if wallet is not None else []
        return tuple(seen.coin.amount for seen in coins)


def begun(
    folder: Path, node: FailingNode, monitors: SideMonitors, before: WatcherProcess | None
) -> WatcherProcess | None:
    """Start a watcher of the files in a side's folder; None before there are any.

    Raises `UsageError`.
    """
    watched = folder / FOLDER
    if not watched.exists():
        return None
    try:
        data = read_watch_data(watched)
    except UsageError as error:
        monitors.unwatchable(error)
        raise
    monitors.watcher_begins()
    wallet = monitors.watch_wallet
    keys, most = (wallet.keys, wallet.most) if wallet is not None else ((), None)
    pusher = Pusher(data.channel, keys, most)
    since = None if before is None else before.since
    return WatcherProcess(node, monitors, pusher, Watcher(data, owners_time(data)), data, since)
