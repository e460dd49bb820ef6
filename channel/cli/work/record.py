"""The work of `channelsim record`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.cli.commands.record import RecordOptions
from channelsim.channel.cli.messages import all_tried, unfinished_output
from channelsim.channel.errors import UsageError
from channelsim.channel.kit import driver
from channelsim.channel.kit.recording import Recording, record
from channelsim.channel.lab.cases.corpus import CaseRuns
from channelsim.channel.lab.coverage.coverage import ProgramCoverage, corpus_coverage
from channelsim.channel.lab.targets.loading import play_files, read
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, json_line, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.channel.system.output import opened
from channelsim.channel.system.time_limit import OutOfTime, time_limit
from channelsim.games import registry
from channelsim.games.amounts import counted

SHOWN = 8
"""Unreached pieces of code that are printed for a validator; the rest are counted."""


def record_play(options: RecordOptions) -> int:
    """Record honest play of programs without rules as conformance cases."""
    target = options.target
    seconds = options.seconds
    if target in registry.names():
        raise UsageError(
            f"{target}: an installed game plays its own hands;"
            f" `channelsim vectors make {target}` writes cases of it"
        )
    path = Path(target)
    files = play_files(path)
    honest = options.output or files.honest
    out = console()
    with opened("-o" if options.output else "[play] honest", honest) as file:
        try:
            with progress("recording", "hand", shown=not options.quiet) as bar:
                tried = read(path, honest_play=False)
                # What a driver prints is no part of the output.
                with time_limit(seconds), redirect_stdout(sys.stderr):
                    hand = driver.load(files.driver)
                    recording = record(tried, hand, files.driver, options.hands, options.seed, bar)
                bar.phase("coverage")
                reached = _coverage(tried, recording)
        except OutOfTime:
            raise UsageError(
                f"{files.driver}: not done after --seconds {seconds:g}:"
                " a hand never ends, or play fewer --hands, or give it longer"
            ) from None
        except KeyboardInterrupt:
            say(out, f"interrupted; {unfinished_output(honest)}")
            return exit_code()
        with finishing():
            if recording.wrong is None:
                encoder = msgspec.json.Encoder()
                for case in recording.cases:
                    file.write(encoder.encode(case) + b"\n")
                file.finish()
            if options.json:
                print_json(_document(tried, recording, reached, honest))
            elif recording.wrong is None:
                _print(tried, recording, reached, honest)
            else:
                say(out, f"{recording.wrong.place}: {recording.wrong.difference}")
                print(json_line(recording.wrong.case))
                say(out, unfinished_output(honest))
    seen = {case.validator for case in recording.cases}
    complete = recording.wrong is not None or all_tried(
        tried.name, tried.programs, seen, f"{files.driver} plays none of it"
    )
    return exit_code(interrupted=False, failed=recording.wrong is not None or not complete)


def _coverage(target: Target, recording: Recording) -> Mapping[str, ProgramCoverage]:
    """The coverage of each validator by the recorded cases; the referee is not run."""
    reached = corpus_coverage(target, map(CaseRuns(target).stored, recording.cases))
    return {name: program for name, program in reached.items() if name in target.programs}


def _document(
    target: Target, recording: Recording, reached: Mapping[str, ProgramCoverage], honest: Path
) -> dict[str, Any]:
    wrong = None
    if recording.wrong is not None:
        wrong = {
            "place": recording.wrong.place,
            "difference": recording.wrong.difference,
            "case": msgspec.to_builtins(recording.wrong.case),
        }
    return {
        "target": target.name,
        "hands": recording.hands,
        "cases": len(recording.cases),
        "written": None if wrong else str(honest),
        "wrong": wrong,
        "validators": {
            name: {
                "cases": program.entries,
                **msgspec.to_builtins(program.total),
                "unreached": [
                    {"function": function, "code": code} for function, code in program.unreached()
                ],
            }
            for name, program in reached.items()
        },
        "endings": [
            {"validator": name, "ending": ending.value, "hands": times}
            for (name, ending), times in recording.endings.items()
        ],
        "unseen_endings": [
            {"validator": name, "ending": ending.value}
            for name, ending in recording.unseen_endings()
        ],
        "stopped": recording.stopped,
    }


def _print(
    target: Target, recording: Recording, reached: Mapping[str, ProgramCoverage], honest: Path
) -> None:
    out = console()
    rows: list[Sequence[str]] = []
    for name, program in reached.items():
        rows.append((name, f"{program.entries:,}", *program.total.shares))
    headings = ("validator", "cases", "nodes", "branches")
    show_table(out, headings, rows, title=f"recorded play of {target.name}")
    for name, program in reached.items():
        missing = program.unreached() if program.entries else []
        for function, code in missing[:SHOWN]:
            inside = "" if function == name else f" (in {function})"
            say(out, f"{name}: never reached{inside}: {code}")
        if len(missing) > SHOWN:
            say(out, f"{name}: and {counted(len(missing) - SHOWN, 'piece')} more")
    for (name, ending), times in sorted(recording.endings.items(), key=lambda item: item[0][0]):
        say(out, f"{name} ended {counted(times, 'hand')}: {ending.value}")
    for name, ending in recording.unseen_endings():
        say(out, f"{name} ended no hand in which {ending.value}")
    if recording.stopped:
        left = counted(recording.stopped, "hand")
        say(out, f"{left} stopped before the end")
    say(
        out,
        f"{counted(len(recording.cases), 'case')} of {counted(recording.hands, 'hand')} in"
        f" {honest}",
    )
