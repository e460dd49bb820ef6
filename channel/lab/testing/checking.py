"""Checks of a target for an author's own test suite: a law, a crosscheck, a stored case.

Each answer is empty, or the text of a failure: what is wrong, by which law, with the case that
shows it. `channelsim.channel.lab.testing.plugin` gives these to pytest.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.campaign.shards import describe_lost
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.findings.finding_files import parsed
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.crosscheck import crosscheck as runs
from channelsim.channel.lab.crosscheck.chunks import trials
from channelsim.channel.lab.laws import Law, laws, laws_for
from channelsim.channel.lab.node.node_checks import check_on_node
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind, format_of
from channelsim.games.amounts import counted
from channelsim.games.names import nearest, quoted
from channelsim.games.vectors import BadCase, Case, check_program, read

SHOWN = 5
"""The number of causes that a failure shows; the others are counted."""

CHUNK = 2048


def law_named(target: Target, name: str) -> Law:
    """The law of this name. Raises `UsageError`, naming those that this target can be held to."""
    usable = {law.name: law for law in laws_for(target)}
    if name in usable:
        return usable[name]
    known = {law.name: law for law in laws()}
    if name in known:
        problem = f"the law {name!r} needs {known[name].needs.value}"
    else:
        problem = f"no law is called {quoted(name)}{nearest(name, known)}"
    raise UsageError(f"{problem}; {target.name} can be held to: {', '.join(usable)}")


def law_failures(target: Target, law: Law | str, cases: int, seed: str) -> str:
    """Try one law, or that of this name, on this many cases, at every place: the violations, or
    empty. Raises `UsageError` for a law that this target cannot be held to."""
    law = law_named(target, law) if isinstance(law, str) else law
    target.check_playable()
    tally = LabTally()
    for number in range(-(-cases // CHUNK)):
        size = min(CHUNK, cases - number * CHUNK)
        for trial in trials(target, seed, number, size, tally):
            if trial.site.validator not in tally.runaway or law.every == 1:
                for finding in law.check(trial):
                    tally.found(finding)
    tried = tally.tried[law.name]
    if not tried:
        return f"{law.name}: was not tried once in {counted(cases, 'case')} of {target.name}"
    return _failure_text(target, tally, f"{tried:,} tries of the law {law.name!r}")


def crosscheck_failures(target: Target, cases: int, seed: str, jobs: int) -> str:
    """Try every law, as `channelsim crosscheck` does: the violations, or empty."""
    report = runs.crosscheck(target, cases, seed, jobs)
    if report.interrupted:
        raise KeyboardInterrupt
    if report.lost:
        return "\n".join(f"{target.name}: {lost}" for lost in describe_lost(report.lost, "case"))
    return _failure_text(target, report.tally, f"{counted(cases, 'case')} under every law")


def node_failures(target: Target, positions: int, seed: str) -> str:
    """Spend this many game coins on an embedded node: where it does not do what the rules and the
    model of the referee say, or empty."""
    differences = check_on_node(target, positions, seed).differences
    if not differences:
        return ""
    of = counted(positions, "spend")
    lines = [f"{target.name}: {len(differences):,} of {of} end otherwise", "", *differences[:SHOWN]]
    if len(differences) > SHOWN:
        lines.append(f"and {len(differences) - SHOWN} more")
    return "\n".join(lines)


def case_failures(target: Target, case: Case) -> str:
    """Run a stored case on the target's programs: the differences, or empty."""
    differences = check_program(case, target.name, target.programs)
    if not differences:
        return ""
    lines = [f"{target.name}, {case.validator}: {difference}" for difference in differences]
    return "\n".join([f"the case {case.id} ({case.tag}) does not hold:", *lines, _line(case)])


def stored_cases(path: Path) -> list[Case]:
    """The cases of a file: conformance cases or findings, JSON Lines or one JSON document; or
    those of all such files of a folder, which may be empty.

    A finding's case stands under its key `vector`; one without any is left out. Raises
    `UsageError`, naming the file and what is wrong.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.suffix in (".json", ".jsonl"))
        return [case for file in files for case in _cases_in(file)]
    cases = _cases_in(path)
    if not cases:
        raise UsageError(f"{path}: has no cases")
    return cases


def _cases_in(path: Path) -> list[Case]:
    data = input_files.read(path, input_files.LINES)
    text = input_files.decoded(path, data)
    try:
        document = json.loads(text)
        documents = document if isinstance(document, list) else [document]
        lines = [json.dumps(document) for document in documents]
    except (ValueError, RecursionError):
        lines = [line for line in text.splitlines() if line.strip()]
    try:
        return list(read(vector for line in lines if (vector := _vector(path, line)) is not None))
    except BadCase as error:
        check_kind(path, data, Kind.CASES, Kind.FINDING)
        raise UsageError(f"{path}: {error}") from None


def _vector(path: Path, line: str) -> str | None:
    """The line of a case, or of the case in a finding; None for a finding without any."""
    if format_of(line.encode()) is None:
        return line  # the reader says what is wrong with it
    vector = parsed(path, line.encode()).vector
    return None if vector is None else _line(vector)


def _failure_text(target: Target, tally: LabTally, of: str) -> str:
    broken = tally.causes()
    if not broken:
        return ""
    total = sum(finding.times for finding in broken)
    lines = [f"{target.name} is broken: {counted(total, 'finding')} in {of}"]
    for finding in broken[:SHOWN]:
        lines += ["", *_finding(finding)]
    if len(broken) > SHOWN:
        lines += ["", f"and {counted(len(broken) - SHOWN, 'more cause')}"]
    return "\n".join(lines)


def _finding(finding: Finding) -> list[str]:
    lines = [
        finding.line,
        f"  broken law: {finding.rule}; {counted(finding.times, 'time')};"
        " the first case, to keep in a .jsonl file:",
    ]
    return [*lines, f"  {_line(finding.vector)}" if finding.vector else "  (no case can say it)"]


def _line(case: Any) -> str:
    return msgspec.json.encode(case).decode()
