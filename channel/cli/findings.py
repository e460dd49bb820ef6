"""Print findings of `channelsim fuzz`, and try them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.attack.campaign import broken_by, is_script, script_of
from channelsim.channel.cli.options import refuse
from channelsim.channel.errors import UsageError
from channelsim.channel.explore import exploration
from channelsim.channel.findings.finding import NOBODY_KNOWS, OWN_CHOICE, PLAYED, Finding
from channelsim.channel.findings.finding_files import command_line, parsed
from channelsim.channel.lab.cases.explanation import side_by_side
from channelsim.channel.lab.fuzz.findings import PROVED, RECORDED, STORED, still_broken
from channelsim.channel.lab.targets.loading import load
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.lab.trace.finding_targets import source_near
from channelsim.channel.prove.result import NO_SOLVER
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, print_json, say

SOLVER = "z3"

ORDER_ONLY = "no side loses in these: the program looks at evidence and rules in another order"
"""The title of the findings that are listed apart."""


_REACHED = {
    PLAYED: "this happens in a state of honest play",
    OWN_CHOICE: "one player can bring this about by its own choice",
    NOBODY_KNOWS: "nobody knows whether play leads to this",
}


def replay_finding(
    path: Path,
    data: bytes,
    target: str | None,
    *,
    json: bool,
    show: Callable[[Any], None] = print_json,
) -> int:
    """Try a finding again, given its file's bytes; the exit code, 1 if it still happens.

    `show` prints the document.
    """
    finding = parsed(path, data)
    if _is_session(finding):
        refuse("is for a finding about a program", target=target)
        return _replay_session(path, finding, json=json, show=show)
    if not _is_replayable(finding):
        shows = "trace" if finding.vector is not None or finding.brun else "view"
        hint = finding.replay or command_line(shows, path)
        raise UsageError(f"{path}: a finding that `replay` cannot try again; `{hint}` shows it")
    try:
        loaded = load(target or source_near(path, finding.source), partial=True)
    except UsageError as error:
        hint = "" if target else "; --target names the target"
        raise UsageError(f"{path}: {error}{hint}") from None
    with progress("trying it again"):
        broken = _still_broken(loaded, finding)
    if json:
        show({"target": loaded.name, "happens": bool(broken), "broken": broken})
        return 1 if broken else 0
    out = console()
    if not broken:
        say(out, f"{loaded.name}: this no longer happens: {finding.place}: {finding.text}")
        return 0
    if target is not None:  # the line of a source is one of the target that it was found in
        finding = msgspec.structs.replace(finding, source_line="", missing_check="")
    for line in (finding.line, *details(finding)):
        say(out, line)
    say(out, f"{loaded.name}: it still happens")
    return 1


def _replay_session(
    path: Path, finding: Finding, *, json: bool, show: Callable[[Any], None]
) -> int:
    """Run a script or an explored path again; the exit code, 1 if it breaks the same again."""
    attack = script_of(path, finding)
    with progress("running it again"):
        if attack is not None:
            broken = broken_by(attack)
        else:
            broken = exploration.replayed(path, finding.scenario or {})
    happens = finding.rule in broken
    if json:
        show({"target": None, "happens": happens, "broken": list(broken.values())})
    elif happens:
        say(console(), f"{finding.place}: {broken[finding.rule]}")
        say(console(), "it still happens")
    else:
        say(console(), f"this no longer happens: {finding.place}: {finding.text}")
    return int(happens)


def _is_session(finding: Finding) -> bool:
    """True if a finding is about a session: the script of an attack, or an explored path."""
    return is_script(finding.scenario) or exploration.is_path(finding.scenario)


def _is_replayable(finding: Finding) -> bool:
    """True if a finding has what `replay` tries again."""
    if _is_session(finding):
        return True
    if finding.rule == PROVED and not {"expected", "inputs"}.isdisjoint(finding.brun):
        return True
    of_case = finding.vector is not None and finding.rule in (PROVED, RECORDED, STORED)
    return bool(finding.probe) or of_case


def _still_broken(target: Target, finding: Finding) -> list[str]:
    """The parts of a finding that still happen on this target, a line each. Raises `UsageError`."""
    if finding.rule != PROVED or finding.vector is not None or "inputs" not in finding.brun:
        return still_broken(target, msgspec.to_builtins(finding))
    if find_spec(SOLVER) is None:
        raise UsageError(f"replay: this finding {NO_SOLVER}")
    from channelsim.channel.prove.replaying import still_breaks

    return still_breaks(target, finding)


def next_steps(finding: Finding, path: Path) -> Iterator[str]:
    """The commands that show and try a finding, given its file."""
    yield command_line("view", path)
    if finding.vector is not None or finding.brun:
        yield command_line("trace", path)
    if _is_replayable(finding):
        yield command_line("replay", path)
    elif finding.scenario is not None and finding.replay:
        yield finding.replay


def details(finding: Finding) -> Iterator[str]:
    """The lines of text below the title of a finding."""
    if finding.rule == RECORDED:
        yield "this is a case of the file of honest play"
    elif finding.rule == STORED:
        yield "this is a stored case"
    elif finding.rule == PROVED:
        yield from finding.differs
        yield _REACHED[finding.reach]
    elif finding.differs:
        yield f"not as in honest play: {'; '.join(finding.differs)}"
    elif finding.cause.startswith(("misdeclared", "two encodings", "not bound", "share not bound")):
        yield "the move itself is honest play"
    elif finding.reach == PLAYED:
        yield "this happens in honest play"
    elif finding.reach == OWN_CHOICE:
        yield "one player can bring this about by its own choice"
    yield from side_by_side(finding.compared)
    source = finding.source_line or finding.missing_check
    if source:
        yield f"source: {source}"
    broken = f"claim: {finding.cause}" if finding.rule == PROVED else f"broken law: {finding.rule}"
    yield broken
    if finding.also:
        more = f", and {len(finding.also) - 3} more" if len(finding.also) > 3 else ""
        yield f"also: {'; '.join(finding.also[:3])}{more}"
