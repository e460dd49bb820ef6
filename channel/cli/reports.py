"""The HTML page of a file: its session or dispute is run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from channelsim.channel.attack.campaign import script_of
from channelsim.channel.campaign.directory import is_campaign
from channelsim.channel.cli.session_files import Display
from channelsim.channel.cli.work.replay import replay_transcript
from channelsim.channel.documents.document_files import parsed as parsed_document
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding_files import command_line, parsed
from channelsim.channel.report.html.attack_page import attack_page
from channelsim.channel.report.html.campaign_page import (
    campaign_html,
    directory_page,
    document_page,
)
from channelsim.channel.report.html.finding_page import finding_html, finding_page
from channelsim.channel.report.html.session_page import session_html
from channelsim.channel.system import input_files
from channelsim.channel.system.file_kinds import Kind, check_kind, kind_of

_PAGED = (Kind.TRANSCRIPT, Kind.FINDING, Kind.DOCUMENT)
"""The kinds of files that there is a page of."""


def page_of(file: Path) -> tuple[str, int]:
    """The page of a file or of a campaign's folder, and an exit code; the page is empty if the run
    was interrupted.

    A transcript is run again. Raises `UsageError` for a file that there is no page of.
    """
    if file.is_dir():
        if not is_campaign(file):
            raise UsageError(f"{file}: this folder holds no campaign, so it has no page")
        return campaign_html(directory_page(file)), 0
    data = input_files.read(file, input_files.LINES)
    check_kind(file, data, *_PAGED)
    match kind_of(data):
        case Kind.TRANSCRIPT:
            pages: list[str] = []
            code = replay_transcript(file, data, Display(True, True, _nowhere, pages.append))
            # A broken promise is what the page shows, and no failure to make it.
            return "".join(pages), 0 if pages else code
        case Kind.FINDING:
            finding = parsed(file, data)
            attack = script_of(file, finding)
            if attack is not None:
                return session_html(attack_page(attack, command_line("replay", file))), 0
            return finding_html(finding_page(file, finding)), 0
        case _:
            return campaign_html(document_page(file, parsed_document(file, data))), 0


def _nowhere(document: Any) -> None:
    """Print nothing: the page has it all."""
