"""The pages of the handbook as tests read them: headings, links and fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.paths import ROOT

DOCS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))

_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language and text, and the last line of text before it."""

    language: str
    text: str
    before: str


@cache
def read(page: Path) -> str:
    """The text of a page."""
    return page.read_text("utf-8")


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = read(page)
    end = 0
    for found in _BLOCK.finditer(text):
        before = text[end : found.start()].strip()
        yield Block(found["language"], found["text"], before.rpartition("\n")[2].strip())
        end = found.end()


def prose(page: Path) -> str:
    """The text of a page without its fenced blocks."""
    return re.sub(r"^( *)```.*?^\1```$", "", read(page), flags=re.DOTALL | re.MULTILINE)


def headings(page: Path) -> list[str]:
    """The headings of a page."""
    return re.findall(r"^#+ +(.+?) *$", prose(page), re.MULTILINE)


def anchor(heading: str) -> str:
    """The fragment of a heading, as code hosts and mkdocs make it.

    >>> anchor("The game coin (`referee`)")
    'the-game-coin-referee'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links(page: Path) -> Iterator[str]:
    """The targets of the links of a page that lead into the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" not in target:
            yield target
