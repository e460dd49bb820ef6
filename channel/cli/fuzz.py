"""`channelsim fuzz`, and `channelsim replay` of a finding."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
from rich.console import Console
from rich.table import Table

from channel.cli.progress import Bar, progress
from channel.errors import UsageError
from channel.interrupt import exit_code, finishing
from channel.lab.campaign import Progress
from channel.lab.findings import RECORDED, Document, keep, parsed, still_broken
from channel.lab.fuzz import Report, save
from channel.lab.fuzz import fuzz as run
from channel.lab.laws import laws_for
from channel.lab.runs import EXCEEDED, RAISE, SLASH, VALID
from channel.lab.target import load
from channel.output import check_folder, opened

SHOWN = 12
"""How many findings are told in full; the rest are named."""

HOME = Path(".channelsim")
"""Where findings are kept, in the current folder, unless `--out` says otherwise."""


def fuzz(
    target: str,
    *,
    seconds: float,
    seed: str,
    jobs: int | None,
    corpus: Path | None,
    out: Path | None,
    json: bool,
    junit: Path | None,
) -> int:
    """Fuzz a target; the exit code, 1 when something was found."""
    loaded = load(target)
    folder = out or HOME / _slug(loaded.name) / "findings"
    check_folder("--out", folder)
    if corpus is not None:
        check_folder("--corpus", corpus)
    with opened("--junit", junit) as suite:
        with progress(f"fuzzing {loaded.name}", clock=seconds) as bar:
            report = run(
                loaded,
                seconds=seconds,
                seed=seed,
                jobs=jobs or os.cpu_count() or 1,
                corpus=corpus,
                findings=folder,
                tell=partial(_tell, bar),
            )
        with finishing():
            # What was found is told even where it cannot be kept.
            trouble, added = "", 0
            paths: list[Path] = []
            try:
                paths = keep(folder, report.findings) if report.findings else []
                added = save(report, corpus) if corpus else 0
                suite.write(_junit(report))
                suite.finish()
            except UsageError as error:
                trouble = str(error)
            if json:
                _print_json(report, paths)
            else:
                _print(report, paths, added, corpus)
    if trouble:
        raise UsageError(trouble)
    return exit_code(report.interrupted, failed=bool(report.findings))


def replay(path: Path, data: bytes, target: str | None, *, json: bool) -> int:
    """Try a finding again, whose file was read; the exit code, 1 while it still happens."""
    found = parsed(path, data)
    try:
        loaded = load(target or found.source)
    except UsageError as error:
        hint = "" if target else "; --target names the target"
        raise UsageError(f"{path}: {error}{hint}") from None
    with progress("trying it again"):
        broken = still_broken(loaded, msgspec.to_builtins(found))
    if json:
        _dump({"target": loaded.name, "happens": bool(broken), "broken": broken})
        return 1 if broken else 0
    console = _console()
    if not broken:
        console.print(f"{loaded.name}: this does not happen any more: {found.text}", markup=False)
        return 0
    for line in (f"{found.severity}: {found.text}", *_details(found)):
        console.print(line, markup=False)
    console.print(f"{loaded.name}: it still happens", markup=False)
    return 1


# --- output -----------------------------------------------------------------------------------


def _print(report: Report, paths: Sequence[Path], added: int, corpus: Path | None) -> None:
    console = _console()
    console.print(_table(report))
    for one in report.mended:
        console.print(f"{one}: does not happen any more", markup=False, soft_wrap=True)
    for one, why in report.untried:
        console.print(f"{one}: cannot be tried: {why}", markup=False, soft_wrap=True)
    kept: list[Path | None] = [*paths, *[None] * (len(report.findings) - len(paths))]
    for number, (found, path) in enumerate(zip(report.findings, kept, strict=True), 1):
        console.print()
        console.print(f"{number}. {found.severity}: {found.text}", markup=False, style="bold")
        if number > SHOWN:
            continue
        for line in _details(found):
            console.print(f"   {line}", markup=False)
        if path is not None:
            console.print(f"   channelsim replay {path}", markup=False, soft_wrap=True)
            console.print(f"   channelsim trace {path}", markup=False, soft_wrap=True)
    console.print()
    if corpus is not None:
        console.print(f"{added} new cases in {corpus}", markup=False)
    console.print(_summary(report), markup=False)


def _details(found: Document) -> Iterator[str]:
    before, after = found.fields
    if found.law == RECORDED:
        yield "this is a case of the file of honest play"
    elif found.differs:
        yield f"not as in honest play ({before} → {after} fields): {'; '.join(found.differs)}"
    elif found.cause.startswith(("misdeclared", "two encodings")):
        yield "the move itself is honest play"
    else:
        yield "this happens in honest play"
    yield f"law: {found.law}"
    if found.also:
        more = f", and {len(found.also) - 3} more" if len(found.also) > 3 else ""
        yield f"also: {'; '.join(found.also[:3])}{more}"


def _summary(report: Report) -> str:
    nodes = sum(one.nodes for one in report.coverage.values())
    reached = sum(one.nodes_reached for one in report.coverage.values())
    branches = sum(one.branches for one in report.coverage.values())
    sides = sum(one.branches_reached for one in report.coverage.values())
    early = "; interrupted" if report.interrupted else ""
    rate = report.runs / report.seconds if report.seconds else 0
    count = len(report.findings)
    return (
        f"{report.runs:,} runs in {report.seconds:.1f} s, {rate:,.0f} runs per second,"
        f" nodes {reached} of {nodes}, branches {sides} of {branches},"
        f" {count} finding{'' if count == 1 else 's'}{early}"
    )


def _table(report: Report) -> Table:
    against = report.target.rules or "its honest play"
    table = Table(title=f"{report.target.name} against {against}")
    table.add_column("program")
    for heading in (VALID, SLASH, RAISE, EXCEEDED, "nodes", "branches"):
        table.add_column(heading, justify="right")
    for name, one in report.coverage.items():
        counts: Mapping[str, int] | None = report.tally.outcomes.get(name)
        table.add_row(
            name,
            *(
                "" if counts is None else f"{counts.get(outcome, 0):,}"
                for outcome in (VALID, SLASH, RAISE, EXCEEDED)
            ),
            f"{one.nodes_reached}/{one.nodes}",
            f"{one.branches_reached}/{one.branches}",
        )
    return table


def _print_json(report: Report, paths: Sequence[Path]) -> None:
    files: list[Path | None] = [*paths, *[None] * (len(report.findings) - len(paths))]
    _dump(
        {
            "target": report.target.name,
            "rules": report.target.rules,
            "seed": report.seed,
            "jobs": report.jobs,
            "seconds": round(report.seconds, 3),
            "stopped": report.stopped,
            "interrupted": report.interrupted,
            "runs": report.runs,
            "runs_per_second": round(report.runs / report.seconds) if report.seconds else 0,
            "coverage": msgspec.to_builtins(report.coverage),
            "tried": dict(sorted(report.tally.tried.items())),
            "findings": [
                {
                    **msgspec.to_builtins(found),
                    "replay": f"channelsim replay {path}" if path else None,
                }
                for found, path in zip(report.findings, files, strict=True)
            ],
            "mended": [str(path) for path in report.mended],
        }
    )


def _dump(data: Any) -> None:
    print(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())


def _junit(report: Report) -> bytes:
    """One test case a law; a law with findings fails, with each of them."""
    suite = ElementTree.Element("testsuite", name=f"channelsim fuzz {report.target.name}")
    failed = 0
    laws = laws_for(report.target)
    for law in laws:
        case = ElementTree.SubElement(
            suite, "testcase", classname=report.target.name, name=law.name
        )
        broken = [found for found in report.findings if found.law == law.name]
        failed += bool(broken)
        for found in broken:
            failure = ElementTree.SubElement(
                case, "failure", type=found.severity, message=_plain(found.text)
            )
            failure.text = _plain("\n".join((found.text, *_details(found), found.pytest)))
    suite.set("tests", str(len(laws)))
    suite.set("failures", str(failed))
    suite.set("time", f"{report.seconds:.3f}")
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))


def _plain(text: str) -> str:
    """Text without what XML cannot hold."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)


def _slug(name: str) -> str:
    """A folder's name for a target: different for different names, and never a way out."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    plain = slug == name.lower().replace(" ", "-")
    return slug if plain else f"{slug or 'target'}-{sha256(name.encode()).hexdigest()[:8]}"


def _console() -> Console:
    return Console(highlight=False, width=None if sys.stdout.isatty() else 110)


def _tell(bar: Bar, states: Sequence[Progress]) -> None:
    """How far the campaigns are, by the clock."""
    runs = sum(one.runs for one in states)
    nodes, sides = (max(one.nodes for one in states), max(one.branches for one in states))
    found = max(one.findings for one in states)
    bar.note(f"{runs:,} runs, {nodes} nodes, {sides} branches, {found} findings")
