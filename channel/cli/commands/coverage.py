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

    Exit code 1: a validator has no case.

    Example: channelsim coverage my-validators.toml --corpus cases --html page.html
    """
    with opened("--html", html) as file:
        interrupted = False
        with progress("coverage", "case", shown=not quiet) as bar:
            tried = load(target, partial=True)
            tried.check_programs()
            found: dict[str, ProgramCoverage] = {}
            try:
                entries = []
                for entry in read(tried, corpus):
                    entries.append(entry)
                    bar(len(entries), note=f"{counted(len(entries), 'case', ',')} read")
                found = corpus_coverage(tried, ())
                for number, entry in enumerate(entries, 1):
                    found[entry.program].add(entry)
                    bar(number, len(entries))
            except KeyboardInterrupt:
                interrupted = True
                found = found or corpus_coverage(tried, ())
        with finishing():
            if html is not None and not interrupted:
                totals = {name: program.total for name, program in found.items()}
                programs = found.values()
                page = render("coverage", name=tried.name, totals=totals, programs=programs)
                file.write(page.encode())
                file.finish()
            reasons = stored_reasons(tried)
            if json:
                print_json(document(tried.name, found, reasons, interrupted))
            else:
                _print(tried.name, found, reasons)
                if interrupted:
                    left = f"; {unfinished_output(html)}" if html else ""
                    say(console(), f"interrupted: not all cases were run{left}")
            run = {one.name for one in found.values() if one.entries}
            every = interrupted or all_tried(
                tried.name, tried.present, run, f"add cases to {corpus}"
            )
    return exit_code(interrupted, failed=not every)


def document(
    name: str,
    found: dict[str, ProgramCoverage],
    reasons: Mapping[Place, str],
    interrupted: bool = False,
) -> CoverageDocument:
    """The coverage of each program as a document."""
    return CoverageDocument(
        target=name,
        interrupted=interrupted,
        programs={
            one.name: CoveredProgram(
                cases=one.entries,
                total=one.total,
                functions=one.functions,
                unreached=tuple(
                    UnreachedCode(
                        function,
                        code,
                        one.line_of(function, code),
                        reasons.get((one.name, function, code)),
                    )
                    for function, code in one.unreached()
                ),
                differs=tuple(one.differs),
            )
            for one in found.values()
        },
    )


def _print(name: str, found: dict[str, ProgramCoverage], reasons: Mapping[Place, str]) -> None:
    out = console()
    rows: list[Sequence[Cell]] = []
    for one in found.values():
        cells = (one.name, f"{one.entries:,}", *one.total.shares)
        rows.append([Text(cell, "bold") for cell in cells])
        for function, share in one.functions.items():
            if len(one.functions) > 1:
                rows.append((f"  {function}", "", *share.shares))
    headings = ("program, function", "cases", "nodes", "branches")
    show_table(out, headings, rows, title=f"what the corpus reaches of {name}")
    for one in found.values():
        for line in _never(one):
            print(line)  # code keeps its layout
        for function, code in one.unreached():
            if reason := reasons.get((one.name, function, code)):
                say(out, f"{one.name}, {function}: {code}: never reached, as {reason}")
    for one in found.values():
        for text in one.differs[:SHOWN]:
            say(out, f"{one.name}: {text}")
        if len(one.differs) > SHOWN:
            say(out, f"{one.name}: and {len(one.differs) - SHOWN} more")


def _never(one: ProgramCoverage) -> Iterator[str]:
    """The functions that were not reached completely; lines never reached are marked."""
    if one.total.whole:
        return
    yield f"\n{one.name}: what is marked with ! was never reached"
    for function, lines in one.listing():
        if all(piece.reached for line in lines for piece in line.pieces):
            continue
        arguments = "" if len(function.arguments) > WIDTH else function.arguments
        source = one.line_of(function.name)
        yield f"{function.name} {arguments}{f'  ; {source}' if source else ''}"
        for line in lines:
            never = any(not piece.reached for piece in line.pieces)
            yield f"{'!' if never else ' '} {line.text}"
