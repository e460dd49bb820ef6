"""The work of `channelsim vectors make`."""

from __future__ import annotations

import msgspec

from channelsim.channel.cli.commands.vectors.make import VectorsMakeOptions
from channelsim.channel.cli.messages import complain, unfinished_output
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


def make_vectors(options: VectorsMakeOptions) -> int:
    """Write conformance cases around generated hands; rules and programs agree on each."""
    game = options.game
    output = options.output
    cases = options.cases
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
            with progress(f"cases of {game}", "case", shown=not options.quiet) as bar:
                for case in make_cases(target, cases, options.seed):
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
