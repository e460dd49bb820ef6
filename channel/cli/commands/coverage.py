"""`channelsim coverage`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from rich.text import Text

from channelsim.channel.cli.messages import all_tried, unfinished_output
from channelsim.channel.cli.options import Json, NoProgress, TargetName, file_option
from channelsim.channel.documents.coverage import CoverageDocument, CoveredProgram, UnreachedCode
from channelsim.channel.lab.cases.corpus import read
from channelsim.channel.lab.coverage.coverage import (
    WIDTH,
    ProgramCoverage,
    corpus_coverage,
    stored_reasons,
)
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.stored_reasons import Place
from channelsim.channel.report.html.page import render
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import Cell, show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.channel.system.output import opened
from channelsim.games.amounts import counted

SHOWN = 5
"""Cases with an unexpected outcome that are printed; the rest are counted."""


def command(
    target: TargetName,
    corpus: Annotated[Path, file_option("A folder with a .jsonl of cases for each validator.")],
    html: Annotated[
        Path | None, file_option("Write a page with the code, marked, to this file.")
    ] = None,
    json: Json = False,
    quiet: NoProgress = False,
) -> int:
    """Show which nodes and branches of each program a corpus reaches, and which it never reaches.

    If a reason is stored why no run can reach a place, it is shown as well.

    Exit code 1: a validator has no case, or a case does not end as it expects.

    Example: channelsim coverage my-validators.toml --corpus cases --html page.html
    """
    with opened("--html", html) as file:
        interrupted = False
        with progress("coverage", "case", shown=not quiet) as bar:
            tried = load(target, partial=True)
            tried.check_programs()
            programs: dict[str, ProgramCoverage] = {}
            try:
                entries = []
                for entry in read(tried, corpus):
                    entries.append(entry)
                    bar(len(entries), note=f"{counted(len(entries), 'case', ',')} read")
                programs = corpus_coverage(tried, ())
                for number, entry in enumerate(entries, 1):
                    programs[entry.program].add(entry)
                    bar(number, len(entries))
            except KeyboardInterrupt:
                interrupted = True
                programs = programs or corpus_coverage(tried, ())
        with finishing():
            if html is not None and not interrupted:
                totals = {name: program.total for name, program in programs.items()}
                page = render(
                    "coverage", name=tried.name, totals=totals, programs=programs.values()
                )
                file.write(page.encode())
                file.finish()
            reasons = stored_reasons(tried)
            if json:
                print_json(document(tried.name, programs, reasons, interrupted))
            else:
                _print(tried.name, programs, reasons)
                if interrupted:
                    left = f"; {unfinished_output(html)}" if html else ""
                    say(console(), f"interrupted: not all cases were run{left}")
            reached = {program.name for program in programs.values() if program.entries}
            complete = interrupted or all_tried(
                tried.name, tried.present, reached, f"add cases to {corpus}"
            )
    wrong = any(program.differs for program in programs.values())
    return exit_code(interrupted, failed=wrong or not complete)


def document(
    name: str,
    programs: dict[str, ProgramCoverage],
    reasons: Mapping[Place, str],
    interrupted: bool = False,
) -> CoverageDocument:
    """The coverage of each program as a document."""
    return CoverageDocument(
        target=name,
        interrupted=interrupted,
        programs={
            program.name: CoveredProgram(
                cases=program.entries,
                total=program.total,
                functions=program.functions,
                unreached=tuple(
                    UnreachedCode(
                        function,
                        code,
                        program.line_of(function, code),
                        reasons.get((program.name, function, code)),
                    )
                    for function, code in program.unreached()
                ),
                differs=tuple(program.differs),
            )
            for program in programs.values()
        },
    )


def _print(name: str, programs: dict[str, ProgramCoverage], reasons: Mapping[Place, str]) -> None:
    out = console()
    rows: list[Sequence[Cell]] = []
    for program in programs.values():
        cells = (program.name, f"{program.entries:,}", *program.total.shares)
        rows.append([Text(cell, "bold") for cell in cells])
        for function, share in program.functions.items():
            if len(program.functions) > 1:
                rows.append((f"  {function}", "", *share.shares))
    headings = ("program, function", "cases", "nodes", "branches")
    show_table(out, headings, rows, title=f"what the corpus reaches of {name}")
    for program in programs.values():
        for line in _never(program):
            print(line)  # code keeps its layout
        for function, code in program.unreached():
            if reason := reasons.get((program.name, function, code)):
                say(out, f"{program.name}, {function}: {code}: never reached, as {reason}")
    for program in programs.values():
        for text in program.differs[:SHOWN]:
            say(out, f"{program.name}: {text}")
        if len(program.differs) > SHOWN:
            say(out, f"{program.name}: and {len(program.differs) - SHOWN} more")


def _never(program: ProgramCoverage) -> Iterator[str]:
    """The functions that were not reached completely; lines never reached are marked."""
    if program.total.whole:
        return
    yield f"\n{program.name}: what is marked with ! was never reached"
    for function, lines in program.listing():
        if all(piece.reached for line in lines for piece in line.pieces):
            continue
        arguments = "" if len(function.arguments) > WIDTH else function.arguments
        source = program.line_of(function.name)
        yield f"{function.name} {arguments}{f'  ; {source}' if source else ''}"
        for line in lines:
            never = any(not piece.reached for piece in line.pieces)
            yield f"{'!' if never else ' '} {line.text}"
