"""Make the page of a campaign from its directory, or of a command's JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from channelsim.channel.campaign.directory import (
    FINDINGS,
    SUMMARY,
    Figure,
    ProgressLine,
    read_campaign,
    read_progress,
    read_shards,
)
from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.trial import SEVERITIES
from channelsim.channel.lab.crosscheck.finding_files import FORMAT as CROSSCHECK_FINDING
from channelsim.channel.lab.fuzz.finding_files import command_line
from channelsim.channel.lab.fuzz.findings import FORMAT as FINDING
from channelsim.channel.lab.fuzz.findings import Document
from channelsim.channel.report.html.campaign_tables import Table, fact, tables
from channelsim.channel.report.html.finding_page import FindingPage, case_page, finding_page
from channelsim.channel.report.html.page import render
from channelsim.channel.system import input_files
from channelsim.games.amounts import counted

FINISHED = "finished"
"""The end of a campaign all of whose work is done."""

MOST_SECTIONS = 40
"""Findings with a section of their own; of more, only the table has all."""

MOST_POINTS = 800
"""Points of a chart, at most; with more, every other one is left out."""

CHART = (320, 90)
"""The size of a chart."""


class Chart(msgspec.Struct, frozen=True):
    """A count over the work done, as the points of a line."""

    name: str
    last: int
    points: str


class FoundCase(msgspec.Struct, frozen=True):
    """A finding in the table, with its section if it has one.

    `fields` are those of its case, for a finding that is not a document of `fuzz`.
    """

    key: str
    severity: str
    validator: str
    law: str
    text: str
    loss: int
    times: int
    section: FindingPage | None
    fields: tuple[tuple[str, str], ...]


class CampaignPage(msgspec.Struct, frozen=True):
    """The whole page. `unit` is what the charts count work in, such as `cases`."""

    title: str
    summary: str
    good: bool
    facts: tuple[tuple[str, str], ...]
    charts: tuple[Chart, ...]
    unit: str
    tables: tuple[Table, ...]
    findings: tuple[FoundCase, ...]
    without_section: int


class _Found(msgspec.Struct, frozen=True):
    """What findings of all commands have."""

    text: str = ""
    severity: str = ""
    validator: str = ""
    law: str = ""
    loss: int = 0
    times: Figure = 1
    vector: dict[str, Any] | None = None
    scenario: dict[str, Any] | None = None


class _CaseHead(msgspec.Struct, frozen=True):
    """The keys that every finding of `crosscheck` has, for the head of its page."""

    text: str
    severity: str
    validator: str


def campaign_html(page: CampaignPage) -> str:
    """The HTML of the page."""
    return render("campaign", page=page, chart={"width": CHART[0], "height": CHART[1]})


def case_section(path: Path, document: dict[str, Any]) -> FindingPage | None:
    """The page of a finding of `crosscheck`, if it has a case. Raises `UsageError`."""
    return _found(path, document, "", in_full=True).section


def directory_page(path: Path) -> CampaignPage:
    """The page of the campaign in a directory, also while it runs. Raises `UsageError`."""
    file = read_campaign(path)
    progress = _thinned(read_progress(path))
    shards, seconds = 0, 0.0
    for shard in read_shards(path):
        shards, seconds = shards + 1, seconds + shard.seconds
    summary = path / SUMMARY
    document: dict[str, Any] = {}
    if summary.exists():
        document = read_document(summary, input_files.read(summary, input_files.LINES))
    last = progress[-1] if progress else None
    work = last.work if last else 0
    configuration = file.configuration
    of_all = f"{work:,} of {file.plan.total:,} {file.unit}"
    # A plan may be an upper bound: a hunt ends when nothing is left to hunt.
    finished = bool(document) and _end(document) == FINISHED
    found = list(_stored(path / FINDINGS)) or _listed(summary, document)
    return _page(
        summary,
        f"Campaign: {configuration.command} of {configuration.target}",
        _end(document) if document else f"{of_all} so far",
        (
            ("seed", configuration.seed),
            ("version", configuration.version),
            *((name, fact(value)) for name, value in configuration.options.items() if fact(value)),
            ("work done", f"{work:,} {file.unit}" if finished else of_all),
            ("shards done", f"{shards:,}"),
            ("time in shards", f"{seconds:,.1f} s"),
            *([("digest", str(document["digest"]))] if "digest" in document else []),
        ),
        document,
        found,
        progress,
        file.unit,
    )


def document_page(path: Path, document: dict[str, Any]) -> CampaignPage:
    """The page of the JSON document that a command printed. Raises `UsageError`."""
    named = ("seed", "cases", "runs", "seconds", "digest")
    return _page(
        path,
        f"Results of {document.get('target', 'a campaign')}",
        _end(document),
        tuple((name, str(document[name])) for name in named if name in document),
        document,
        _listed(path, document),
        (),
        "",
    )


def _end(document: Mapping[str, Any]) -> str:
    """The end of a campaign in a few words, such as an interrupt or lost seeds."""
    if document.get("interrupted") is True:
        return "interrupted"
    lost = document.get("lost")
    if isinstance(lost, list) and lost:
        return f"not complete: {counted(len(lost), 'seed')} could not be done"
    return FINISHED


def read_document(path: Path, data: bytes) -> dict[str, Any]:
    """The JSON object in a file. Raises `UsageError`."""
    if not data.strip():
        raise UsageError(f"{path}: is empty: not a transcript, a finding or a JSON document")
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = ascii(str(error)[:200])[1:-1]
        raise UsageError(
            f"{path}: not a transcript, a finding or a JSON document ({reason})"
        ) from None


def _page(
    where: Path,
    title: str,
    state: str,
    facts: tuple[tuple[str, str], ...],
    document: dict[str, Any],
    listed: Sequence[tuple[Path, Any]],
    progress: Sequence[ProgressLine],
    unit: str,
) -> CampaignPage:
    findings = tuple(
        _found(path, one, f"finding-{number}", number <= MOST_SECTIONS)
        for number, (path, one) in enumerate(sorted(listed, key=_severity), 1)
    )
    made = tables(where, document)
    failed = bool(findings) or any(table.failed for table in made)
    survivors = document.get("survivors")
    found = (
        f"{counted(len(survivors), 'mutant')} open"
        if isinstance(survivors, list)
        else counted(len(findings), "finding")
    )
    explained = findings or survivors or document.get("lost")
    return CampaignPage(
        title=title,
        summary=f"{state}; {found}" + ("; a check failed" if failed and not explained else ""),
        good=not failed,
        facts=facts,
        charts=tuple(_charts(progress)),
        unit=unit,
        tables=made,
        findings=findings,
        without_section=max(len(findings) - MOST_SECTIONS, 0),
    )


def _severity(listed: tuple[Path, Any]) -> int:
    """The rank of a finding, the worst first."""
    severity = listed[1].get("severity") if isinstance(listed[1], dict) else None
    return SEVERITIES.index(severity) if severity in SEVERITIES else len(SEVERITIES)


def _stored(folder: Path) -> Iterator[tuple[Path, Any]]:
    """The findings in a folder, by name."""
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        yield path, read_document(path, input_files.read(path, input_files.FINDING))


def _listed(path: Path, document: Mapping[str, Any]) -> list[tuple[Path, Any]]:
    """The findings in the document of a file. Raises `UsageError`."""
    try:
        found = msgspec.convert(document.get("findings", []), list[Any])
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: key `findings`: {error}") from None
    return [(path, one) for one in found]


def _found(path: Path, data: Any, key: str, in_full: bool) -> FoundCase:
    """A finding for the table, with its section. Raises `UsageError`."""
    section: FindingPage | None = None
    fields: tuple[tuple[str, str], ...] = ()
    try:
        one = msgspec.convert(data, _Found)
        if in_full and isinstance(data, dict):
            if data.get("format") == FINDING:
                section = _section(path, data, key)
            elif data.get("format") == CROSSCHECK_FINDING and one.vector is not None:
                msgspec.convert(data, _CaseHead)
                facts = (("law", one.law), *_case(one.vector))
                trace = command_line("trace -v", path)
                section = case_page(path, data, facts, key, (trace,))
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: a finding: {ascii(str(error)[:200])[1:-1]}") from None
    if section is None and in_full:
        fields = tuple(_case(one.vector or one.scenario or {}))
    return FoundCase(
        *(key, one.severity, one.validator, one.law, one.text or _plain(data)),
        *(one.loss, one.times, section, fields),
    )


def _section(path: Path, data: dict[str, Any], key: str) -> FindingPage:
    """The section of a finding of `fuzz`, stored alone or printed in a document."""
    known = {name: data[name] for name in Document.__struct_fields__ if name in data}
    replay = data.get("replay")
    commands = (str(replay),) if replay else ()
    alone = "replay" not in data
    found = msgspec.convert(known, Document)
    return finding_page(path, found, key, None if alone else commands)


def _plain(data: Mapping[str, Any]) -> str:
    """The text of a finding of a dispute: who played what, and a promise or an exception."""
    words = [data.get(name) for name in ("promise", "how", "exception")]
    match data.get("scenario"):
        case {"adversary": str(adversary), "step": int(step), "games": list(games)}:
            words.insert(0, f"{adversary or 'nobody'}@{step}, {', '.join(map(str, games))}")
    return ": ".join(str(word) for word in words if word)


def _case(vector: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in vector.items():
        yield name, value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _thinned(progress: Iterable[ProgressLine]) -> list[ProgressLine]:
    """So many lines as a chart has points, evenly, and the last one."""
    chosen: list[ProgressLine] = []
    step = 1
    last: ProgressLine | None = None
    for at, line in enumerate(progress):
        last = line
        if at % step == 0:
            chosen.append(line)
            if len(chosen) == MOST_POINTS:
                chosen, step = chosen[::2], 2 * step
    return chosen if last is None or chosen[-1] is last else [*chosen, last]


def _charts(progress: Sequence[ProgressLine]) -> Iterator[Chart]:
    """A chart of each count."""
    names = dict.fromkeys(name for line in progress for name in line.counts)
    width, height = CHART
    whole = max((line.work for line in progress), default=0) or 1
    for name in names:
        values = [line.counts.get(name, 0) for line in progress]
        most = max(*values, 1)
        points = " ".join(
            f"{line.work / whole * width:.1f},{height - value / most * height:.1f}"
            for line, value in zip(progress, values, strict=True)
        )
        yield Chart(name, values[-1], f"0,{height} {points}")
