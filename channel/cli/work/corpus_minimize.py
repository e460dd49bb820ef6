"""The work of `channelsim corpus minimize`."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import msgspec

from channelsim.channel.cli.corpora import check_output
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.coverage.corpora import (
    Minimum,
    StoredCorpus,
    minimum,
    read_corpus,
    write_corpus,
)
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import finishing
from channelsim.games import registry
from channelsim.games.amounts import counted


def minimize(corpus: Path, output: Path, target: str | None, *, json: bool, quiet: bool) -> int:
    """Keep few cases that reach every node, branch and highest cost that the corpus reaches."""
    check_output(output, [corpus])
    with progress("corpus", "case", shown=not quiet) as bar:
        read = read_corpus(corpus)
        tried = load(target, partial=True) if target else _named_target(corpus, read)
        run = count(1)
        smallest = minimum(tried, read, lambda: bar(next(run), len(read)))
    with finishing():
        write_corpus("-o", output, smallest.corpus)
        if json:
            programs = msgspec.to_builtins(smallest.programs)
            print_json(
                {
                    "target": tried.name,
                    "cases": len(read),
                    "needed": len(smallest.corpus),
                    "programs": programs,
                }
            )
        else:
            _print(tried, smallest)
            say(
                console(),
                f"{len(smallest.corpus):,} of {counted(len(read), 'different case')} in {output}",
            )
    return 0


def _named_target(path: Path, corpus: StoredCorpus) -> Target:
    """The installed game that the cases name. Raises `UsageError`."""
    games = sorted(corpus.games)
    if not games or games[0] not in registry.names():
        what = f"of {games[0]!r}, which is not installed" if games else "that name no game"
        raise UsageError(f"{path}: has cases {what}; name their target with --target")
    return load(games[0], partial=True)


def _print(target: Target, smallest: Minimum) -> None:
    rows = []
    for name, program in smallest.programs.items():
        reached = (
            (*program.coverage.shares, f"{program.highest_cost:,}")
            if program.measured
            else ("",) * 3
        )
        rows.append((name, f"{program.cases:,}", f"{program.needed:,}", *reached))
    headings = ("program", "cases", "needed", "nodes", "branches", "highest cost")
    show_table(console(), headings, rows, title=f"what the corpus reaches of {target.name}")
