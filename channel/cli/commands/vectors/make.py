"""`channelsim vectors make`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from channelsim.channel.cli.messages import complain, unfinished_output
from channelsim.channel.cli.options import MOST_CASES, NoProgress, Seed, file_option, whole
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.crosscheck.vectors import Disagreement
from channelsim.channel.lab.crosscheck.vectors import make as make_cases
from channelsim.channel.lab.targets.target import of_game
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.system.interrupt import exit_code
from channelsim.channel.system.output import opened
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.errors import UnknownGame


def command(
    game: Annotated[str, typer.Argument(help="A game (see `channelsim games`).")],
    output: Annotated[Path, file_option("The file to write.", "-o", "--output")],
    cases: Annotated[int, whole(1, MOST_CASES, "How many cases.")] = 1000,
    seed: Seed = "vectors",
    quiet: NoProgress = False,
) -> int:
    """Write conformance cases around generated hands; rules and programs agree on each.

    Exit code 1: they disagree on one, which is printed, and nothing is written; or fewer cases
    than these can be written.

    Example: channelsim vectors make {game} --cases 2000 -o cases.jsonl
    """
    try:
        target = of_game(registry.asked(game))
    except UnknownGame as error:
        raise UsageError(str(error)) from None
    encoder = msgspec.json.Encoder()
    written, interrupted = 0, False
    wrong: Disagreement | None = None
    out = console()
    with opened("-o", output) as file:
        try:
            with progress(f"cases of {game}", "case", shown=not quiet) as bar:
                for case in make_cases(target, cases, seed):
                    file.write(encoder.encode(case) + b"\n")
                    written += 1
                    bar(written, cases)
        except KeyboardInterrupt:
            interrupted = True
        except Disagreement as disagreement:
            wrong = disagreement
        left = f"; {unfinished_output(output)}" if file.renamed else ""
        if wrong is not None:
            if file.renamed:
                print(json_line(wrong.case))
            complain(f"{wrong}{left}; `channelsim crosscheck {game}` looks for all such cases")
        elif interrupted:
            say(out, f"interrupted after {written} of {counted(cases, 'case')}{target.cards}{left}")
        elif not written:
            complain(f"no case of {game} can be written{left}")
        else:
            file.finish()
            say(out, f"{counted(written, 'case')} in {output}{target.cards}")
            if written < cases:
                complain(f"{game} has no more cases than these {written} that can be written")
    return exit_code(interrupted, failed=wrong is not None or not (interrupted or written == cases))
