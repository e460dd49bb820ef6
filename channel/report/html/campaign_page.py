"""Make the page of a campaign from its directory, or of a command's document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from channelsim.channel.campaign.directory import (
    FINDINGS,
    SUMMARY,
    read_campaign,
    read_progress,
    read_shards,
)
from channelsim.channel.campaign.engine import ProgressLine
from channelsim.channel.documents.conform import mistake_key
from channelsim.channel.documents.document_files import read_document
from channelsim.channel.documents.explore import ExploreDocument
from channelsim.channel.documents.results import CampaignResults, Results
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import Finding, summary
from channelsim.channel.findings.finding_files import stored_findings
from channelsim.channel.findings.sentence import NO_LOSS, headline, lost
from channelsim.channel.report.html.campaign_tables import Table, fact, tables
from channelsim.channel.report.html.finding_page import FindingPage, finding_page
from channelsim.channel.report.html.page import Glance, render
from channelsim.channel.report.html.work_done import work_done
from channelsim.games.amounts import counted

FINISHED = "finished"
"""The end of a campaign all of whose work is done."""

DISPUTES = "Disputes with every adversary"
TITLES = {
    "dispute run --all": DISPUTES,
    "conform": "Conformance",
    "prove": "Proofs",
    "crash-test": "Crash test",
    "attack": "Attacked sessions",
    "explore": "Explored states",
}
"""Titles of pages whose command is no name of what it makes."""

MOST_SECTIONS = 40
"""Findings with a section of their own; of more, only the table has all."""

MOST_POINTS = 800
"""Points of a chart, at most; with more, every other one is left out."""

LEAST_VALUES = 2
"""Values of a count that there is a chart of: a level line shows nothing."""

CHART = (320, 90)
"""The size of a chart."""


class Chart(msgspec.Struct, frozen=True):
    """A count over the work done, as the points of a line."""

    name: str
    last: int
    points: str


class CampaignPage(msgspec.Struct, frozen=True):
    """The whole page. `unit` is what the charts count work in, such as `cases`.

    `done` is what the command did, and `story` its worst finding, each a sentence or "". `sections`
    are of the first findings, the worst first.
    """

    title: str
    glance: Glance
    done: str
    story: str
    facts: tuple[tuple[str, str], ...]
    charts: tuple[Chart, ...]
    unit: str
    tables: tuple[Table, ...]
    findings: tuple[Finding, ...]
    sections: tuple[FindingPage, ...]


def campaign_html(page: CampaignPage) -> str:
    """The HTML of the page."""
    script = "run.js" if any(section.run.parts for section in page.sections) else ""
    return render("campaign", script, page=page, chart={"width": CHART[0], "height": CHART[1]})


def directory_page(path: Path) -> CampaignPage:
    """The page of the campaign in a directory, also while it runs. Raises `UsageError`."""
    file = read_campaign(path)
    progress = _thinned(read_progress(path))
    shards, seconds = 0, 0.0
    for shard in read_shards(path):
        shards, seconds = shards + 1, seconds + shard.seconds
    document = read_document(path) if (path / SUMMARY).exists() else None
    last = progress[-1] if progress else None
    work = last.work if last else 0
    configuration = file.configuration
    of_all = f"{work:,} of {file.plan.total:,} {file.unit}"
    # A plan may be an upper bound: a hunt ends when nothing is left to hunt.
    state = f"{of_all} so far" if document is None else _end(document)
    findings = list(_stored(path / FINDINGS)) or _listed(path / SUMMARY, document)
    return _page(
        _title(configuration.command, configuration.target),
        state,
        (
            ("seed", configuration.seed),
            ("version", configuration.version),
            *((name, fact(value)) for name, value in configuration.options.items() if fact(value)),
            ("work done", f"{work:,} {file.unit}" if state == FINISHED else of_all),
            ("shards done", f"{shards:,}"),
            ("time in shards", f"{seconds:,.1f} s"),
            *_digest(document),
        ),
        document,
        findings,
        progress,
        file.unit,
    )


def document_page(path: Path, document: Results) -> CampaignPage:
    """The page of the document in a file."""
    named = ("seed", "cases", "runs", "seconds", "states", "frontier", "signatures")
    facts = [(name, fact(getattr(document, name, None))) for name in named]
    return _page(
        _title(document.command, document.target),
        _end(document),
        (*((name, value) for name, value in facts if value), *_digest(document)),
        document,
        _listed(path, document),
        (),
        "",
    )


def _title(command: str, target: str | None) -> str:
    """The name of a page: what was done, and to what.

    >>> _title("fuzz", "my game"), _title("dispute run --all", None)
    ('Fuzz of my game', 'Disputes with every adversary')
    """
    name = TITLES.get(command, command[:1].upper() + command[1:])
    return f"{name} {'over' if name == DISPUTES else 'of'} {target}" if target else name


def _digest(document: Results | None) -> Iterator[tuple[str, str]]:
    if isinstance(document, CampaignResults) and document.digest is not None:
        yield "digest", document.digest


def _end(document: Results) -> str:
    """The end of a command in a few words, such as an interrupt or lost seeds."""
    if document.interrupted:
        return "interrupted"
    if isinstance(document, CampaignResults) and document.lost:
        return f"not complete: {counted(len(document.lost), 'seed')} could not be done"
    return FINISHED


def _page(
    title: str,
    state: str,
    facts: tuple[tuple[str, str], ...],
    document: Results | None,
    listed: Sequence[tuple[Path, Finding]],
    progress: Sequence[ProgressLine],
    unit: str,
) -> CampaignPage:
    ordered = sorted(listed, key=lambda stored: (stored[1].rank, -stored[1].lost))
    findings = tuple(finding for _, finding in ordered)
    sections = tuple(
        _section(path, finding, f"finding-{number}")
        for number, (path, finding) in enumerate(ordered[:MOST_SECTIONS], 1)
    )
    keys = {mistake_key(section.finding): section.key for section in sections}
    shown = () if document is None else tables(document, keys)
    failed = bool(findings) or any(table.failed for table in shown)
    return CampaignPage(
        title=title,
        glance=_glance(f"{state}; {summary(findings)}", failed, document, sections),
        done="" if document is None else work_done(document),
        story=headline(findings[0]) if findings else "",
        facts=facts,
        charts=tuple(_charts(progress)),
        unit=unit,
        tables=shown,
        findings=findings,
        sections=sections,
    )


def _glance(
    verdict: str, failed: bool, document: Results | None, sections: Sequence[FindingPage]
) -> Glance:
    """What all findings come to, and what to do about the worst."""
    if sections:
        worst = sections[0]
        return Glance(
            False,
            verdict,
            lost(worst.finding),
            "begin with the first finding" + (", and try it again:" if worst.commands else ""),
            worst.commands[:1],
        )
    if document is None or document.interrupted:
        then = "let the campaign end, or go on with `--resume`"
    elif failed:
        then = "see the tables below for what is not as it should be"
    elif isinstance(document, ExploreDocument) and document.whole < document.searches:
        cut = counted(document.searches - document.whole, "search")
        then = f"{cut} did not come to the end: explore with more `--states` or `--seconds`"
    else:
        then = "nothing to do"
    unfinished = document is None or document.interrupted
    holds = False if failed else None if unfinished else True
    return Glance(holds, verdict, NO_LOSS, then)


def _stored(folder: Path) -> Iterator[tuple[Path, Finding]]:
    """The findings in a folder, by name. Raises `UsageError`."""
    for path, finding in stored_findings(folder):
        if isinstance(finding, UsageError):
            raise finding
        yield path, finding


def _listed(path: Path, document: Results | None) -> list[tuple[Path, Finding]]:
    """The findings of the document of a file."""
    return [] if document is None else [(path, finding) for finding in document.every_finding()]


def _section(path: Path, finding: Finding, key: str) -> FindingPage:
    """The section of a finding, stored alone or printed in a document."""
    alone = path.parent.name == FINDINGS
    commands = (finding.replay,) if finding.replay else ()
    return finding_page(path, finding, key, None if alone else commands)


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
    """A chart of each count that changes."""
    names = dict.fromkeys(name for line in progress for name in line.counts)
    width, height = CHART
    whole = max((line.work for line in progress), default=0) or 1
    for name in names:
        values = [line.counts.get(name, 0) for line in progress]
        if len(set(values)) < LEAST_VALUES:
            continue
        most = max(*values, 1)
        points = " ".join(
            f"{line.work / whole * width:.1f},{height - value / most * height:.1f}"
            for line, value in zip(progress, values, strict=True)
        )
        yield Chart(name, values[-1], f"0,{height} {points}")
