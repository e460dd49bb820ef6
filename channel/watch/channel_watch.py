"""One channel under watch: its data, which may be copied again, and what the user hears.

`channelsim watch` looks with it now and then; so does each watcher of an attacked session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from chia_rs import PrivateKey

from channelsim.channel.chain.interface import Chain
from channelsim.channel.errors import UsageError
from channelsim.channel.system.file_changes import snapshot
from channelsim.channel.watch.pusher import Notice, Offered, Pusher
from channelsim.channel.watch.watch_data import NEWEST, STATES, WatchData, read_watch_data
from channelsim.channel.watch.watch_lines import WatchLine, line_of, notice_text
from channelsim.channel.watch.watcher import Sight, Watcher


class ChannelWatch:
    """Watches the channel whose data are in a folder. Raises `UsageError` if they are damaged.

    `wait` are the blocks that it leaves the owner to preempt first (None: a third of the timeout).
    Fees are paid from coins of the `keys`, at most `most` mojos for a spend, as `Pusher` does.
    `complain` takes lines about trouble and fees.
    """

    def __init__(
        self,
        folder: Path,
        wait: int | None = None,
        keys: Sequence[PrivateKey] = (),
        most: int | None = None,
        complain: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._folder = folder
        self._wait = wait
        self._complain = complain
        self._files = folder / STATES, folder / NEWEST
        self._read = snapshot(self._files)
        self.data = read_watch_data(folder)
        self._pusher = Pusher(self.data.channel, keys, most)
        self._watcher = self._new_watcher()
        self._noticed: tuple[Notice, ...] = ()
        self._trouble = ""
        self._line: WatchLine | None = None

    def read_again(self) -> None:
        """Read the data again if they were copied again, and add what is new in them.

        What was known stays: also if a copy is not complete yet, lacks states, or is older. Data of
        another channel are left alone.
        """
        before, self._read = self._read, snapshot(self._files, self._read)
        if not before.changed(self._read):
            return
        known = self.data
        number = known.newest.state.number
        try:
            copied = read_watch_data(self._folder)
        except UsageError as error:
            self._complain(f"{error}; going on with state {number}")
            return
        if copied.channel != known.channel:
            self._complain(f"{self._folder}: data of another channel: going on without them")
            return
        if copied.newest.state.number < number or len(copied.states) < len(known.states):
            self._complain(f"{self._folder}: older data than before: going on with both")
        newest = max(known.newest, copied.newest, key=lambda newest: newest.state.number)
        self.data = WatchData(known.channel, {**copied.states, **known.states}, newest)
        self._watcher = self._new_watcher()

    def look(self, chain: Chain) -> Sight:
        """Look at the chain. Raises `NodeError`."""
        return self._watcher.look(chain)

    def push(self, chain: Chain, sight: Sight) -> Offered | None:
        """Offer the spend that is due, if there is one. Raises `NodeError`."""
        return self._pusher.push(chain, self._watcher, sight)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """The notices about fees that hold now."""
        return self._pusher.notices

    def line(self, sight: Sight, offered: Offered | None) -> WatchLine | None:
        """The line about what was seen and offered, if it is new; new notices are told before."""
        self._trouble = ""
        for notice in self.notices:
            if notice not in self._noticed:
                self._complain(notice_text(notice, self.data))
        self._noticed = self.notices
        line = line_of(sight, self.data, offered)
        if not line.has_news(self._line):
            return None
        self._line = line
        return line

    def look_failed(self, text: str) -> None:
        """Tell of a look that failed, once until the next one that does not, or another text."""
        if self._trouble != text:
            self._trouble = text
            self._complain(text)

    def _new_watcher(self) -> Watcher:
        owners_time = self.data.channel.unroll_timeout // 3
        return Watcher(self.data, owners_time if self._wait is None else self._wait)
