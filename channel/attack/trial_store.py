"""A store for trials: it has contents, and adds nothing to them."""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.channel.store.interface import Contents


class TrialStore:
    """The contents of a store, to which nothing can be added."""

    def __init__(self, name: str, contents: Contents) -> None:
        self.name = name
        self._contents = contents

    def load(self) -> Contents:
        """Read what a restart needs."""
        return self._contents

    def append(self, events: Sequence[bytes], overview: bytes = b"") -> None:
        """Add nothing: this process ends at once."""

    def save_snapshot(
        self, snapshot: bytes, states: Sequence[bytes], *, erases: bool = False
    ) -> None:
        """Replace nothing."""

    def close(self) -> None:
        """Release nothing."""
