"""The union of corpora: every case once, in the same order however they are merged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from channelsim.channel.campaign.directory import CORPUS, is_campaign
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.corpus import (
    RefereeSpend,
    check_file,
    corpus_files,
    corpus_lines,
    write_files,
)
from channelsim.channel.lab.targets.target import REFEREE
from channelsim.channel.lab.targets.target_names import LONGEST_NAME, is_program_name
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, kind_of
from channelsim.games import registry
from channelsim.games.vectors import BadCase, Case

Written = Case | RefereeSpend

Lines = Mapping[bytes, Written]
"""Lines of a corpus by their content, which is the line without its `id` and `tag`."""

line_of = msgspec.json.Encoder().encode
"""The line of a corpus that says this."""


@dataclass(frozen=True)
class StoredCorpus:
    """The lines of a corpus by program, and the games that its cases name."""

    lines: Mapping[str, Lines] = field(default_factory=dict)
    games: frozenset[str] = frozenset()

    def __or__(self, other: StoredCorpus) -> StoredCorpus:
        """The union: commutative, associative and idempotent.

        Of lines with the same content it has the least.
        """
        merged: dict[str, dict[bytes, Written]] = {}
        for corpus in (self, other):
            for name, lines in corpus.lines.items():
                into = merged.setdefault(name, {})
                for content, one in lines.items():
                    into[content] = min(one, into.get(content, one), key=line_of)
        return StoredCorpus(merged, self.games | other.games)

    def __len__(self) -> int:
        return sum(map(len, self.lines.values()))


def read_corpus(path: Path) -> StoredCorpus:
    """The corpus in a folder, of a campaign, or in one file of cases or spends, whatever its name.

    Raises `UsageError`, naming file and line.
    """
    if is_campaign(path):
        if not (path / CORPUS).is_dir():
            raise UsageError(f"{path}: a campaign without a corpus; only `fuzz` keeps one")
        path = path / CORPUS
    found: dict[str, dict[bytes, Written]] = {}
    games = set()
    for one in _written(path):
        content = line_of(msgspec.structs.replace(one, id="", tag=""))
        lines = found.setdefault(one.validator if isinstance(one, Case) else REFEREE, {})
        lines[content] = min(one, lines.get(content, one), key=line_of)
        if isinstance(one, Case):
            games.add(one.game)
    if not found:
        raise UsageError(f"{path}: has no cases")
    return StoredCorpus(found, frozenset(games))


def _written(path: Path) -> Iterator[Written]:
    files = corpus_files(path) if path.is_dir() else [path]
    for file in files:
        data = input_files.read(file, input_files.LINES)
        spends = kind_of(data) is Kind.SPENDS
        kind: type[Written] = RefereeSpend if spends else Case
        for number, written in corpus_lines(file, data, kind):
            try:
                if path.is_dir():
                    check_file(file, written)
                _check_name(written)
            except BadCase as error:
                raise UsageError(f"{file}: line {number}: {error}") from None
            yield written


def _check_name(written: Written) -> None:
    """Check that a file can be named after the validator of a case. Raises `BadCase`."""
    if isinstance(written, Case) and not is_program_name(written.validator):
        raise BadCase(f"{written.validator[:LONGEST_NAME]!a} is not a name of a validator")


def write_corpus(option: str, folder: Path, corpus: StoredCorpus) -> None:
    """Write a file for each program, sorted. Raises `UsageError`, naming the option."""
    every = {name: sorted(map(line_of, lines.values())) for name, lines in corpus.lines.items()}
    write_files(option, folder, every)


def check_games(corpora: Mapping[Path, StoredCorpus]) -> None:
    """Check that all cases are of one game, or of games that share programs. Raises `UsageError`,
    naming the corpus of another."""
    first: tuple[Path, str] | None = None
    for path, corpus in corpora.items():
        for game in sorted(corpus.games):
            first = first or (path, game)
            if game not in relatives(first[1]):
                where = "" if path == first[0] else f" as in {first[0]}"
                raise UsageError(f"{path}: has cases of {game!r}, not of {first[1]!r}{where}")


def relatives(game: str) -> frozenset[str]:
    """The names of the games that share programs with this one, itself among them."""
    if game not in registry.names():
        return frozenset((game,))
    return frozenset(one.name for one in registry.sharing(registry.get(game)))
