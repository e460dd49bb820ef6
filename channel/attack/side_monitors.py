"""Monitors of one side's process: of each event, each restart, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from channelsim.channel.attack.news_due import missing
from channelsim.channel.attack.times_due import untimely
from channelsim.channel.chain.coins import Coin
from channelsim.channel.chain.observations import Block
from channelsim.channel.errors import UsageError
from channelsim.channel.peer.config import Config
from channelsim.channel.peer.interface import Effect, Event, Received, Watch
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.watch.watch_data import FOLDER, NEWEST, STATES, read_newest, read_states
from channelsim.games.amounts import counted

MOST_BYTES, MOST_BYTES_PER_EVENT, TIMES_RECEIVED = 40_000, 2_000, 4
"""The most bytes that a side's files have after its opening, and of each event that matters, beside
so many times the bytes that the other side sent: decks, above all."""

SEALED = 64
"""Bytes of a message from which it is looked for in the files."""


@dataclass(slots=True)
class SideMonitors:
    """Follows one side through all lives of its process; `violated` takes an id and a line.

    Its files are in the folder.
    """

    config: Config
    folder: Path
    violated: Callable[[str, str], None]
    watched: set[Coin] = field(default_factory=set)
    changes: int = 0
    messages: list[bytes] = field(default_factory=list)

    def follow(
        self, event: Event | None, before: PeerState, after: PeerState, effects: Sequence[Effect]
    ) -> None:
        """Follow an event that is stored; None for the start, or a restart."""
        coins = {effect.coin for effect in effects if isinstance(effect, Watch)}
        if event is None and self.watched - coins:
            lost = len(self.watched - coins)
            self._found(
                "restart", f"does not watch {lost} of {counted(len(self.watched), 'coin')} any more"
            )
        self.watched |= coins
        if before is not after:
            self.changes += 1
            if isinstance(event, Received) and len(event.message) >= SEALED:
                self.messages.append(event.message)
        for how in missing(before, after, effects):
            self._found("news", how)
        if isinstance(event, Block):
            for how in untimely(self.config, event, before, after, effects):
                self._found("times", how)
        if after.play is not None and not _same_history(before, after):
            for how in _behind(self.folder / FOLDER, after):
                self._found("watch-data", how)

    def stopped(self) -> None:
        """Look at the files of a process that has ended."""
        files = [path for path in sorted(self.folder.rglob("*")) if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        most = MOST_BYTES + MOST_BYTES_PER_EVENT * self.changes
        most += TIMES_RECEIVED * sum(map(len, self.messages))
        if size > most:
            after = counted(self.changes, "event")
            self._found("disk", f"has files of {counted(size, 'byte')} after {after}")
        for path in files:
            if path.parent.name == FOLDER:
                continue
            data = path.read_bytes()
            if any(message in data for message in self.messages):
                self._found("sealed", f"can be read in {path.name} without its keys")

    def _found(self, monitor: str, how: str) -> None:
        self.violated(monitor, f"the {self.config.name}: {how}")


def _same_history(before: PeerState, after: PeerState) -> bool:
    return (
        before.play is not None
        and after.play is not None
        and before.play.history is after.play.history
    )


def _behind(folder: Path, state: PeerState) -> Iterator[str]:
    """Find states that the watcher's data lack."""
    play = state.play
    if play is None:
        return
    try:
        _, states = read_states(folder / STATES)
        newest = read_newest(folder / NEWEST)
    except UsageError as error:
        yield f"cannot be read: {error}".replace(str(folder), FOLDER)[:100]
        return
    if len(states) <= play.history.state.number:
        newest_number = play.history.state.number
        yield f"has {counted(len(states), 'state')}, and the newest is number {newest_number}"
    if newest.state.number < play.newest.state.number:
        yield f"preempts with state {newest.state.number} of {play.newest.state.number}"
