"""Stored results of searches, so that a long run goes on where it was stopped."""

from __future__ import annotations

from pathlib import Path

import msgspec

from channelsim.channel.errors import UsageError
from scripts.tools.mistakes.correct import Quiet
from scripts.tools.mistakes.searching import Search


class Results(msgspec.Struct, forbid_unknown_fields=True):
    """The results of searches with one seed, and of those of right programs."""

    seed: str
    searches: list[Search] = []
    correct: list[Quiet] = []

    def has(self, name: str, with_rules: bool, seconds: float) -> bool:
        """True if this mistake was found on this side, or searched for so long."""
        return any(
            (search.id, search.with_rules) == (name, with_rules)
            and (search.found or search.seconds >= seconds)
            for search in self.searches
        )

    def has_correct(self, game: str, with_rules: bool, number: int, runs: int) -> bool:
        """True if the fuzzer of this number searched a game's right programs for so many runs."""
        return any(
            (quiet.game, quiet.with_rules, quiet.number) == (game, with_rules, number)
            and quiet.runs >= runs
            for quiet in self.correct
        )

    def add(self, search: Search) -> None:
        """Add a result, instead of an older one."""
        key = search.id, search.with_rules
        self.searches = [old for old in self.searches if (old.id, old.with_rules) != key]
        self.searches.append(search)

    def add_correct(self, quiet: Quiet) -> None:
        """Add a result of right programs, instead of an older one."""
        key = quiet.game, quiet.with_rules, quiet.number
        self.correct = [
            old for old in self.correct if (old.game, old.with_rules, old.number) != key
        ]
        self.correct.append(quiet)


def read(path: Path | None, seed: str) -> Results:
    """The results that a file has, or none yet. Raises `UsageError`."""
    if path is None or not path.exists():
        return Results(seed)
    try:
        stored = msgspec.json.decode(path.read_bytes(), type=Results)
    except msgspec.DecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    if stored.seed != seed:
        raise UsageError(f"{path}: results with another seed")
    return stored


def write(path: Path | None, results: Results) -> None:
    """Write results, one in a line, so that changes can be read."""
    if path is not None:
        lists = b",".join(
            b'"%b":[\n%b\n]' % (name, b",\n".join(map(msgspec.json.encode, rows)))
            for name, rows in ((b"searches", results.searches), (b"correct", results.correct))
        )
        seed = msgspec.json.encode(results.seed)
        path.write_bytes(b'{"seed":' + seed + b"," + lists + b"}\n")
