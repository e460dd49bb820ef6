"""Monitors of the watchers of one side, which run while its process is down."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from channelsim.channel.attack.watch_duties import false_sight, overdue, untimely
from channelsim.channel.attack.watch_fees import WatcherTurn, WatchFees, WatchWallet, wrong_drops
from channelsim.channel.chain.interface import Coins
from channelsim.channel.errors import UsageError
from channelsim.channel.watch.watch_data import FOLDER, NEWEST, STATES, WatchData


@dataclass(slots=True)
class WatcherMonitors:
    """Follows the watchers of the side whose files are in a folder; `found` takes an id and a line.

    They pay fees from the `wallet`, if there is one. `confirmations` is the depth of what is final.
    """

    folder: Path
    confirmations: int
    wallet: WatchWallet | None
    found: Callable[[str, str], None]
    _fees: WatchFees | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Begin with no offer."""
        if self.wallet is not None:
            self._fees = WatchFees(self.wallet, self.confirmations)

    def begins(self) -> None:
        """Note that a watcher starts."""
        if self._fees is not None:
            self._fees.begin()

    def looked(self, chain: Coins, data: WatchData, turn: WatcherTurn, since: int | None) -> None:
        """Look at what a watcher does, `since` this height unhindered."""
        late = () if since is None else overdue(chain, data, since)
        wrong = false_sight(chain, data, turn.sight)
        fees = self._fees.follow(turn) if self._fees is not None else ()
        early = untimely(data, turn.sight, chain.peak())
        self.says((*early, *late, *wrong, *fees, *wrong_drops(turn)))

    def says(self, wrong: Iterable[str]) -> None:
        """Note what is wrong with what a watcher does, reads or tells its user."""
        for how in wrong:
            self.found("watcher", f"its watcher {how}"[:300])

    def unwatchable(self, error: UsageError) -> None:
        """Note that a watcher cannot read the files that are there for it, and are not torn."""
        folder = self.folder / FOLDER
        is_whole = (folder / STATES).exists() and (folder / NEWEST).exists()
        if is_whole and "truncated" not in str(error):
            how = str(error).replace(f"{self.folder}", self.folder.name)
            self.found("watch-data", f"cannot be watched: {how}"[:300])
