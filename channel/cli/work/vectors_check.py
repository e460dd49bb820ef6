"""The work of `channelsim vectors check`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from channelsim.channel.cli.check_reports import Checked, CheckReport, report_files
from channelsim.channel.cli.commands.vectors.check import VectorsCheckOptions
from channelsim.channel.cli.messages import complain, never_tried, untried
from channelsim.channel.cli.watch import Round, watch, watched_target
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import FAILED_CHECK, Finding, summary
from channelsim.channel.lab.cases.explanation import explanation
from channelsim.channel.lab.targets.loading import read as read_target
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.progress import Bar, progress
from channelsim.channel.report.terminal import console, say
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind, kind_of
from channelsim.channel.system.interrupt import exit_code, polled
from channelsim.games.deck.vectors import BadDeckLine, DeckVectors
from channelsim.games.deck.vectors import read as read_deck_lines
from channelsim.games.vectors import BadCase, Case, check_program, lacks_program, read
from channelsim.games.vectors import check as check_case

SHOWN = 20
"""Failures that are printed; the rest are counted."""


Check: TypeAlias = tuple[str, list[str], Iterator[str]]
"""A case by name, its differences, and lines that explain them."""


def check_vectors(options: VectorsCheckOptions) -> int:
    """Run conformance cases, and conversations of decks, through rules and programs."""
    target = options.target
    if options.again:
        more = watched_target(str(target)) if target is not None else tuple
        return watch(
            lambda: chain(options.files, more()), lambda check: _round(options.files, target)
        )
    tried = _Tried()
    out = console()
    with report_files(options.reports) as write_report:
        try:
            programs = _run(options.files, target, tried, quiet=options.quiet)
        except UsageError:
            # Failures before the error are still printed.
            for line in tried.shown:
                say(out, line)
            raise
        for line in tried.lines():
            say(out, line)
        left = untried(programs, tried.validators, "these files have no case of it")
        if tried.interrupted:
            left = "interrupted: not all cases were run"
        elif left:
            complain(f"{target}: {left}")
        write_report(_check_report(target, tried, left))
    failed = bool(tried.failed) or bool(left and not tried.interrupted)
    return exit_code(tried.interrupted, failed=failed)


def _check_report(target: Path | None, tried: _Tried, incomplete: str) -> CheckReport:
    """A check for each file."""
    findings = [finding for failures in tried.findings.values() for finding in failures]
    return CheckReport(
        command="vectors check",
        target="" if target is None else str(target),
        source="" if target is None else str(target),
        checks=[Checked(str(path), failures) for path, failures in tried.findings.items()],
        summary=summary(findings),
        incomplete=incomplete,
    )


def _round(files: Sequence[Path], target: Path | None) -> Round:
    """One round of `--watch`: the counts, the first failure and what was never tried."""
    tried = _Tried()
    programs = _run(files, target, tried)
    left = never_tried(programs, tried.validators)
    parts = [tried.lines()[-1], *tried.shown[:1], *filter(None, (left,))]
    return Round(1 if tried.failed or left else 0, "; ".join(parts), tried.interrupted)


def _run(
    files: Sequence[Path], target: Path | None, tried: _Tried, *, quiet: bool = False
) -> Sequence[str]:
    """Run the cases of all files; the programs that must have one. Raises `UsageError`."""
    with progress("cases", "case", shown=not quiet) as bar:
        loaded = None if target is None else read_target(target)
        with polled() as interrupted:
            for path in files:
                _check_file(path, loaded, tried, bar, interrupted)
    return () if loaded is None else list(loaded.programs)


@dataclass
class _Tried:
    """Counts of cases, the first failures, all of them by file, and the validators tried."""

    passed: int = 0
    failed: int = 0
    shown: list[str] = field(default_factory=list)
    findings: dict[Path, list[Finding]] = field(default_factory=dict)
    validators: set[str] = field(default_factory=set)
    by_rules: set[str] = field(default_factory=set)
    interrupted: bool = False

    def lines(self) -> list[str]:
        """The first failures, and the counts."""
        more = [f"and {self.failed - SHOWN:,} more"] if self.failed > SHOWN else []
        early = "; interrupted: not all cases were run" if self.interrupted else ""
        alone = ", ".join(sorted(self.by_rules))
        without = [f"no program of {alone}: checked by the rules alone"] if alone else []
        counts = f"{self.passed:,} passed, {self.failed:,} failed{early}"
        return [*self.shown, *more, *without, counts]


def _check_file(
    path: Path,
    target: Target | None,
    tried: _Tried,
    bar: Bar,
    interrupted: Callable[[], bool],
) -> None:
    """Run the cases of one file. Raises `UsageError`."""
    data = input_files.read(path, input_files.LINES)
    if not data.strip():
        raise UsageError(f"{path}: has no cases")
    lines = input_files.lines_of(data)
    failures = tried.findings.setdefault(path, [])
    if kind_of(data) is Kind.DECKS:
        checks = _deck_checks(path, lines, target)
    else:
        checks = _case_checks(lines, target, tried)
    try:
        for number, (name, differences, explained) in enumerate(checks, 1):
            if differences:
                failures.append(_finding(path, number, f"{name}: {'; '.join(differences)}"))
                tried.failed += 1
                if tried.failed <= SHOWN:
                    tried.shown.append(f"{path}: {name}: {'; '.join(differences)}")
                    tried.shown.extend(f"  {line}" for line in explained)
            else:
                tried.passed += 1
            bar(number, len(lines))
            if interrupted():
                tried.interrupted = True
                return
    except BadDeckLine as error:
        raise UsageError(f"{path}: {error}") from None
    except BadCase as error:
        check_kind(path, data, Kind.CASES)
        raise UsageError(f"{path}: {error}") from None


def _finding(path: Path, number: int, text: str) -> Finding:
    """A case that failed, at its line of the file."""
    place = f"{path}:{number}"
    return Finding(rule="vectors", place="", severity=FAILED_CHECK, text=text, source_line=place)


def _case_checks(lines: Sequence[bytes], target: Target | None, tried: _Tried) -> Iterator[Check]:
    """Check the cases of one file. Raises `BadCase`."""
    for case in read(lines):
        if target is None:
            differences = check_case(case)
        else:
            differences = check_program(case, target.name, target.programs)
        tried.validators.add(case.validator)
        if target is None and lacks_program(case):
            tried.by_rules.add(f"{case.game}/{case.validator}")
        yield f"{case.id} ({case.tag})", differences, _explained(case, target)


def _deck_checks(path: Path, lines: Sequence[bytes], target: Target | None) -> Iterator[Check]:
    """Check the conversations of decks in one file. Raises `BadDeckLine`."""
    if target is not None:
        raise UsageError(f"{path}: has conversations of decks, not for --target")
    vectors = DeckVectors()
    for line in read_deck_lines(lines):
        yield f"{line.id} ({line.tag})", vectors.check(line), iter(())


def _explained(case: Case, target: Target | None) -> Iterator[str]:
    """The explanation of a difference of a target's program."""
    if target is None or case.validator not in target.programs:
        return
    try:
        yield from explanation(target, case)
    except BadCase:
        return  # it is itself the difference
