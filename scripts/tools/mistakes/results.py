"""Stored results of searches, so that a long run goes on where it was stopped."""

from __future__ import annotations

from pathlib import Path

import msgspec

from channelsim.channel.errors import UsageError
from scripts.tools.mistakes.correct import Quiet
from scripts.tools.mistakes.searching import Search


class Results(msgspec.Struct, forbid_unknown_fields=True):
    """The results of searches with one seed, each for so many seconds of the processor at most, and
    of those of right programs."""

    seed: str
    seconds: float
    searches: list[Search] = []
    correct: list[Quiet] = []

    def has(self, name: str, with_rules: bool) -> bool:
        """True if this mistake was searched for, on this side."""
        return any(
            search.id == name and search.with_rules == with_rules for search in self.searches
        )


def read(path: Path | None, seed: str, seconds: float) -> Results:
    """The results that a file has, or none yet. Raises `UsageError`."""
    if path is None or not path.exists():
        return Results(seed, seconds)
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=Results)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    if (stored.seed, stored.seconds) != (seed, seconds):
        raise UsageError(f"{path}: results with another seed or budget")
    return stored


def write(path: Path | None, results: Results) -> None:
    """Write results, one in a line, so that changes can be read."""
    if path is not None:
        head = msgspec.json.encode({"seed": results.seed, "seconds": results.seconds})
        lists = b",".join(
            b'"%b":[\n%b\n]' % (name, b",\n".join(map(msgspec.json.encode, rows)))
            for name, rows in ((b"searches", results.searches), (b"correct", results.correct))
        )
        path.write_bytes(head[:-1] + b"," + lists + b"}\n")
