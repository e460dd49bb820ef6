"""`channelsim corpus merge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.channel.cli.options import Json, NoProgress, file_argument, file_option


def command(
    files: Annotated[
        list[Path], file_argument("Folders of cases, as `fuzz --corpus` has them, or files.")
    ],
    output: Annotated[Path, file_option("The folder to write.", "-o", "--output")],
    json: Json = False,
    quiet: NoProgress = False,
) -> int:
    """Merge corpora of one game: every case once, in whatever order they are named.

    The folder to write is new, empty, or one of those that are merged.

    Example: channelsim corpus merge monday tuesday -o both
    """
    from functools import reduce
    from operator import or_

    from channelsim.channel.cli.corpora import check_output
    from channelsim.channel.lab.coverage.corpora import check_games, read_corpus, write_corpus
    from channelsim.channel.report.progress import progress
    from channelsim.channel.report.terminal import console, print_json, say
    from channelsim.channel.system.interrupt import finishing
    from channelsim.games.amounts import counted

    check_output(output, files)
    with progress("corpora", "corpus", shown=not quiet) as bar:
        read = {}
        for number, path in enumerate(files, 1):
            read[path] = read_corpus(path)
            bar(number, len(files))
    check_games(read)
    merged = reduce(or_, read.values())
    with finishing():
        write_corpus("-o", output, merged)
        if json:
            print_json(
                {
                    "cases": len(merged),
                    "corpora": {str(path): len(corpus) for path, corpus in read.items()},
                    "programs": {name: len(lines) for name, lines in sorted(merged.lines.items())},
                }
            )
        else:
            for path, corpus in read.items():
                say(console(), f"{path}: {counted(len(corpus), 'case')}")
            say(console(), f"{counted(len(merged), 'different case')} in {output}")
    return 0
