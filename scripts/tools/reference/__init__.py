"""Pages of docs/reference.

Everything on these pages is read from the code: commands from typer, games and laws from their
registries, the rest from definitions and docstrings. A test compares the pages with the code.
"""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.games import registry
from scripts.tools import faults_page, rules
from scripts.tools.mistakes import page as mistakes_page
from scripts.tools.reference.chialisp import library_sections
from scripts.tools.reference.commands import ABOUT_COMMANDS, command_sections
from scripts.tools.reference.files import file_sections
from scripts.tools.reference.games import family_section
from scripts.tools.reference.laws import law_sections
from scripts.tools.reference.python import python_sections


def pages() -> dict[str, str]:
    """The text of each generated page, by its path in `docs`."""
    return {
        "rules.md": rules.page(),
        "faults.md": faults_page.page(),
        "found.md": mistakes_page.page(),
        "reference/commands.md": _page("Commands", command_sections(), ABOUT_COMMANDS),
        "reference/games.md": _page("Games", map(family_section, registry.families())),
        "reference/laws.md": _page("Laws", law_sections()),
        "reference/files.md": _page("File formats", file_sections()),
        "reference/python.md": _page("The Python interface", python_sections()),
        "reference/chialisp.md": _page("Chialisp to include", library_sections()),
    }


def _page(title: str, sections: Iterator[str], about: str = "") -> str:
    note = "(`python -m scripts.tools` writes this page from the code.)"
    parts = (f"# {title}", about, *(section.strip() for section in sections), note)
    return "\n\n".join(part for part in parts if part) + "\n"
