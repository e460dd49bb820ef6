"""`channelsim mutants`."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from channel.cli.progress import Bar, progress
from channel.errors import UsageError
from channel.interrupt import exit_code, finishing
from channel.lab.mutants.hunt import Hunt
from channel.lab.mutants.kinds import KINDS
from channel.lab.mutants.report import Count, Report, Survivor, all_mutants, hunted
from channel.lab.target import load

HEADINGS = ("made", "killed", "share", "argued", "open", "median runs")


def mutants(
    game: str,
    *,
    seconds: float,
    seed: str,
    jobs: int | None,
    validator: str | None,
    argued_too: bool,
    json: bool,
) -> int:
    """Hunt every mutant of a target's programs; the exit code, 1 when one lives unargued."""
    if seconds <= 0:
        raise UsageError(f"--seconds {seconds:g}: more than 0")
    with progress("mutants") as bar:
        target = load(game)
        assert target.game
        report = hunted(
            target,
            all_mutants(target, validator),
            seed=seed,
            seconds=seconds,
            jobs=jobs or os.cpu_count() or 1,
            argued_too=argued_too,
            hunt=Hunt(told=partial(_tell, bar)),
        )
    with finishing():
        if json:
            text = msgspec.json.format(msgspec.json.encode(document(report, seconds)), indent=2)
            print(text.decode())
        else:
            _print(report)
    if report.hunt.interrupted:
        return exit_code(failed=report.shown_open(seconds))
    return 0 if report.passed else 1


def document(report: Report, seconds: float) -> dict[str, Any]:
    """A report as JSON data."""
    return {
        "target": report.target.name,
        "seed": report.seed,
        "seconds": seconds,
        "interrupted": report.hunt.interrupted,
        **_counted(report.count()),
        "validators": {
            name: {
                **_counted(report.count(name)),
                "kinds": {
                    kind: _counted(count)
                    for kind in KINDS
                    if (count := report.count(name, kind)).made
                },
            }
            for name in report.validators
        },
        "kinds": {kind: _counted(report.count(kind=kind)) for kind in KINDS},
        "survivors": msgspec.to_builtins(report.survivors),
    }


def _counted(count: Count) -> dict[str, Any]:
    return {**msgspec.to_builtins(count), "share": round(count.share, 4)}


def _print(report: Report) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    names = {name: report.count(name) for name in report.validators}
    kinds = {kind: report.count(kind=kind) for kind in KINDS}
    for heading, counts in (("validator", names), ("kind", kinds)):
        table = Table(title=f"mutants of {report.target.name}, by {heading}")
        table.add_column(heading)
        for name in HEADINGS:
            table.add_column(name, justify="right")
        for name, count in counts.items():
            table.add_row(name, *_cells(count))
        table.add_section()
        table.add_row("all", *_cells(report.count()))
        console.print(table)
    for survivor in report.survivors:
        # Of an interrupted hunt, those that it had not come to are only counted.
        if survivor.runs or not report.hunt.interrupted:
            console.print(told(survivor), markup=False, soft_wrap=True)
    if report.hunt.interrupted:
        console.print("interrupted: what was not hunted to the end counts as open")
    total = report.count()
    half = "" if total.median_runs is None else f", half of them within {total.median_runs} runs"
    console.print(
        f"{total.killed:,} of {total.made:,} mutants killed ({total.share:.2%}){half};"
        f" {total.argued} argued, {total.open} open"
    )


def told(survivor: Survivor) -> str:
    """A survivor in words.

    >>> told(Survivor("end", "up", 3, "constant", "(q . 1)", "(q . 2)", "(+ 2 (q . 1))", 9, 1, ""))
    'argued: end, up, expression 3: (q . 1) -> (q . 2) in (+ 2 (q . 1)) (constant; 9 runs): '
    """
    one = survivor
    where = f"{one.validator}, {one.function}, expression {one.expression}"
    inside = f" in {one.within}" if one.within else ""
    text = f"{where}: {one.old} -> {one.new}{inside} ({one.kind}; {one.runs:,} runs)"
    return f"OPEN: {text}" if one.reason is None else f"argued: {text}: {one.reason}"


def _cells(count: Count) -> tuple[str, ...]:
    runs = "" if count.median_runs is None else f"{count.median_runs:,}"
    numbers = (f"{count.argued:,}", f"{count.open:,}", runs)
    return (f"{count.made:,}", f"{count.killed:,}", f"{count.share:.1%}", *numbers)


def _tell(bar: Bar, hunt: Hunt) -> None:
    """How many are killed, and how long the others are hunted."""
    killed = len(hunt.fates) - len(hunt.alive)
    left = f", at most {hunt.left:,.0f} s more" if hunt.chunks and hunt.left else ""
    bar(killed, None, f"{killed:,} of {len(hunt.fates):,} killed{left}")
