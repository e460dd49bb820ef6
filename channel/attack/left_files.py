"""The files that a process leaves: their size, and what can be read in them without keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from channelsim.channel.attack.noted_store import SealedSecrets
from channelsim.channel.attack.store_duties import readable_by_others
from channelsim.channel.peer.interface import DecksChanged, Effect, Event, Pinned, Received
from channelsim.channel.peer.peer_state import PeerState
from channelsim.channel.watch.watch_data import FOLDER
from channelsim.games.amounts import counted

MOST_BYTES, MOST_BYTES_PER_EVENT, TIMES_RECEIVED = 48_000, 2_000, 4
"""The most bytes that a side's files have after its opening, and of each event that matters, beside
so many times the bytes that it got from outside: decks, and pins of our spends, above all."""

SEALED, UNLIKE = 64, 8
"""A message of so many bytes, so many of which differ, is looked for in the files.

A row of zeros is in every database.
"""


@dataclass(slots=True)
class LeftFiles:
    """Follows what the files of one side are made of, through all lives of its process.

    `changes` are the events that changed its state, and `outside` the bytes that came from outside.
    The `messages` and `secrets` must not be read in them.
    """

    changes: int = 0
    outside: int = 0
    messages: list[bytes] = field(default_factory=list)
    secrets: SealedSecrets = field(default_factory=SealedSecrets)

    def restored(self) -> None:
        """Forget the secrets that an older copy of the files lacks."""
        self.secrets = SealedSecrets()

    def follow(
        self, event: Event | None, before: PeerState, after: PeerState, effects: Sequence[Effect]
    ) -> None:
        """Take what an event adds."""
        self.secrets.follow(before, after, effects, started=event is None)
        match event:
            case Pinned(_, pending):
                spends = [spend for other in pending for spend in other.bundle.spends]
                self.outside += sum(len(spend.puzzle) + len(spend.solution) for spend in spends)
            case DecksChanged(added=added):
                self.outside += sum(map(len, added))
            case Received(message) if before is not after:
                self.outside += len(message)
                if _is_known_again(message):
                    self.messages.append(message)
            case _:
                pass
        self.changes += before is not after

    def wrong(self, folder: Path, *, killed: bool) -> Iterator[tuple[str, str]]:
        """Find what is wrong with the files: monitors, with what each has found.

        A process that was `killed` has left the log of its database, which the next one empties.
        """
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        most = MOST_BYTES + MOST_BYTES_PER_EVENT * self.changes + TIMES_RECEIVED * self.outside
        if size > most and not killed:
            after = counted(self.changes, "event")
            yield "disk", f"has files of {counted(size, 'byte')} after {after}"
        # What a watcher gets is public.
        own = [path for path in files if path.parent.name != FOLDER]
        for how in readable_by_others(own):
            yield "store", f"its store {how}"
        for path in own:
            data = path.read_bytes()
            if any(message in data for message in self.messages):
                yield "sealed", f"can be read in {path.name} without its keys"
            if self.secrets.left_in(data):
                yield "erased", f"has secrets of an erased deck in {path.name}"


def _is_known_again(message: bytes) -> bool:
    """True if a file that has these bytes has them from this message."""
    return len(message) >= SEALED and len({*message}) >= UNLIKE
