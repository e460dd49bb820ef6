"""The work of `channelsim coverage`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from rich.text import Text

from channelsim.channel.campaign.directory import CORPUS, is_campaign
from channelsim.channel.cli.check_reports import Checked, CheckReport, report_files
from channelsim.channel.cli.commands.coverage import CoverageOptions
from channelsim.channel.cli.messages import complain, unfinished_output, untried
from channelsim.channel.cli.targets import stored_folder
from channelsim.channel.documents.coverage import (
    CoverageDocument,
    CoveredProgram,
    UnreachedCode,
    failed_coverage,
)
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding, summary
from channelsim.channel.lab.cases.corpus import StoredCase, read
from channelsim.channel.lab.coverage.coverage import (
    WIDTH,
    ProgramCoverage,
    corpus_coverage,
    stored_reasons,
    unexplained,
)
from channelsim.channel.lab.coverage.gathered import CaseSource, corpora, gathered
from channelsim.channel.lab.coverage.source_coverage import source_coverage
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.stored_reasons import Place
from channelsim.channel.lab.targets.target import REFEREE, Target
from channelsim.channel.report.html.coverage_page import coverage_html
from channelsim.channel.report.lcov import lcov
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import Cell, show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.channel.system.output import opened
from channelsim.games.amounts import counted

LOW = "branches reached"
"""The beginning of what is said of a program of which too little is reached."""

SHOWN = 5
"""Cases with an unexpected outcome that are printed; the rest are counted."""


def measure_coverage(options: CoverageOptions) -> int:
    """Show which nodes and branches of each program stored cases and honest play reach."""
    target = options.target
    corpus = options.corpus
    with (
        opened("--html", options.html) as file,
        opened("--lcov", options.lcov_file) as lines,
        report_files(options.reports) as write_report,
    ):
        interrupted = False
        counted_sources: dict[str, int] = {}
        with progress("coverage", "case", shown=not options.quiet) as bar:
            tried = load(target, partial=True)
            tried.check_programs()
            programs: dict[str, ProgramCoverage] = {}
            try:
                entries: list[StoredCase] = []
                for source in _sources(tried, corpus):
                    before = len(entries)
                    for entry in _read(source, given=corpus is not None):
                        entries.append(entry)
                        bar(len(entries), note=f"{counted(len(entries), 'case')} read")
                    counted_sources[source.name] = len(entries) - before
                shown = _shown(tried, entries, corpus, everything=options.everything)
                programs = corpus_coverage(tried, (), shown)
                for number, entry in enumerate(entries, 1):
                    if entry.program in programs:
                        programs[entry.program].add(entry)
                    bar(number, len(entries))
            except KeyboardInterrupt:
                interrupted = True
                programs = programs or corpus_coverage(tried, ())
        with finishing():
            if not interrupted:
                if options.html is not None:
                    file.write(coverage_html(tried.name, programs.values()).encode())
                    file.finish()
                if options.lcov_file is not None:
                    at_sources = source_coverage(
                        tried, programs.values(), libraries=options.everything
                    )
                    lines.write(lcov(at_sources).encode())
                    lines.finish()
            reasons = stored_reasons(tried)
            printed = document(tried.name, programs, reasons, interrupted)
            if options.json:
                print_json(printed)
            else:
                _print(tried.name, programs, reasons)
                sources = (f"{name} ({number:,})" for name, number in counted_sources.items())
                say(console(), f"cases: {', '.join(sources)}")
                if interrupted:
                    left = [
                        unfinished_output(path)
                        for path in (options.html, options.lcov_file)
                        if path
                    ]
                    say(console(), "; ".join(("interrupted: not all cases were run", *left)))
            reached = {program.name for program in programs.values() if program.entries}
            hint = f"add cases to {corpus}" if corpus else f"`channelsim fuzz {target}` finds cases"
            left_out = "" if interrupted else untried(tried.present, reached, hint)
            failures = {
                name: _failures(its, reasons, options.at_least) for name, its in programs.items()
            }
            for line in [] if interrupted else _low(failures):
                complain(f"{tried.name}: {line}")
            if left_out:
                complain(f"{tried.name}: {left_out}")
            write_report(
                CheckReport(
                    command="coverage",
                    target=tried.name,
                    source=tried.source,
                    checks=[Checked(name, at_sources) for name, at_sources in failures.items()],
                    summary=summary(chain.from_iterable(failures.values())),
                    incomplete="interrupted: not all cases were run" if interrupted else left_out,
                )
            )
    wrong = any(program.differs for program in programs.values())
    below = not interrupted and any(failures.values())
    return exit_code(interrupted, failed=wrong or below or bool(left_out))


def _sources(target: Target, corpus: Path | None) -> Iterator[CaseSource]:
    """The sources of cases: the one that was named, or all that there are."""
    if corpus is None:
        home = stored_folder(target) / CORPUS
        yield from gathered(target, corpora(target, Path(), home))
    else:
        yield CaseSource(
            str(corpus), read(target, corpus / CORPUS if is_campaign(corpus) else corpus)
        )


def _read(source: CaseSource, *, given: bool) -> Iterator[StoredCase]:
    """The cases of a source. What nobody named may be out of date: it ends with a complaint."""
    try:
        yield from source.cases
    except UsageError as error:
        if given:
            raise
        complain(f"left out: {error}")


def _shown(
    target: Target, entries: Sequence[StoredCase], corpus: Path | None, *, everything: bool
) -> list[str]:
    """The programs to show: the author's own, and the referee if its cases were asked for."""
    asked = corpus is not None and any(entry.program == REFEREE for entry in entries)
    own = REFEREE not in target.unchanged
    return [*target.present, *([REFEREE] if everything or asked or own else [])]


def _failures(
    program: ProgramCoverage, reasons: Mapping[Place, str], percent: int | None
) -> list[Finding]:
    """The cases that do not end as expected, and the places not reached if those are too many."""
    failures = [failed_coverage(program.name, text) for text in program.differs]
    total, places = program.total, unexplained(program, reasons)
    if percent is not None and places and 100 * total.branches_reached < percent * total.branches:
        reached = f"{total.branches_reached} of {total.branches}"
        failures.append(failed_coverage(program.name, f"{LOW}: {reached}, not {percent} %"))
        for function, code in places:
            line = program.line_of_place(function, code)
            failures.append(
                failed_coverage(program.name, f"never reached, in {function}: {code}", line)
            )
    return failures


def _low(failures: Mapping[str, Sequence[Finding]]) -> Iterator[str]:
    """The programs of which too little is reached."""
    for at_sources in failures.values():
        yield from (finding.line for finding in at_sources if finding.text.startswith(LOW))


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
                        program.line_of_place(function, code),
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
    show_table(out, headings, rows, title=f"what the cases reach of {name}")
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
