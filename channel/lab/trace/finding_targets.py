"""The target that a finding was found in, from wherever the finding is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.programs import Program


@dataclass(frozen=True, slots=True)
class FindingTarget:
    """The target of a finding, or what is wrong with it: which file is not there, or changed."""

    target: Target | None
    problem: str = ""


def source_near(path: Path, source: str) -> str:
    """The target that a finding in the file `path` names, as it can be loaded here.

    A path is looked for in the current folder, then in each folder above the finding: commands
    store findings below the folder in which they run.
    """
    return next(_sources_near(path, source), source)


def _sources_near(path: Path, source: str) -> Iterator[str]:
    """All targets of this name, the nearest one first."""
    if not source.endswith(".toml"):
        yield source
        return
    names = [source, Path(source).name] if os.path.isabs(source) else [source]
    above = [str(folder / name) for folder in path.resolve().parents for name in names]
    yield from (file for file in dict.fromkeys((source, *above)) if Path(file).is_file())


def target_of(path: Path, finding: Finding, run: tuple[bytes, bytes] | None) -> FindingTarget:
    """The target of a finding in the file `path`, if it has the programs of the finding's run."""
    if not finding.source or run is None:
        return FindingTarget(None)
    problems = []
    for source in _sources_near(path, finding.source):
        try:
            target = load(source, partial=True)
        except UsageError as error:
            problems.append(str(error))
            continue
        if any(has(run, program) for program in target.with_referee.values()):
            return FindingTarget(target)
        problems.append(f"{source}: its programs are not those of the finding any more")
    above = path.resolve().parent
    problems.append(f"{finding.source} is neither here nor in a folder above {above}")
    return FindingTarget(None, problems[0])


def has(run: tuple[bytes, bytes], program: Program) -> bool:
    """True if one of these serialized values is, or contains, a program."""
    return any(program.serialized in blob for blob in run)


def line_here(line: str, finding: Finding, target: Target) -> str:
    """A finding's `file:line`, with the file as this target, loaded from here, names it."""
    if not line or target.source == finding.source:
        return line
    file, _, number = line.rpartition(":")
    inside = os.path.relpath(file, Path(finding.source).parent)
    return f"{Path(target.source).parent / inside}:{number}"


def missing_source(target: Target | None, name: str) -> str:
    """The reason why there are no lines of a program's source; "" where there are."""
    if target is None or target.sources is None:
        return ""
    path = target.sources.programs.get(name)
    if path is not None and path.suffix == ".hex":
        return f"{path} is a compiled program; name its source in the target to see its lines"
    return ""
