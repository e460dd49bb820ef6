"""HTML pages, read by a strict parser, and opened in a browser where there is one."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import html5lib
import pytest

from tests.accessibility import faults

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--enable-logging=stderr", "--dump-dom"),
)
NOISE = re.compile(r"^\[[^\]]*:CONSOLE[^\]]*\] (.*)$", re.M)


def parsed(html: str) -> Any:
    """The tree of a page, which has no fault. Raises for the first fault of its HTML."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    document = parser.parse(html)
    assert list(faults(document)) == []
    return document


def without_scripts(html: str) -> Any:
    """The page as a reader without JavaScript has it: no scripts, nothing that is hidden."""
    document = parsed(html)
    for parent in list(document.iter()):
        for child in list(parent):
            if child.tag in ("script", "style") or child.get("hidden") is not None:
                parent.remove(child)
    return document


@dataclass(frozen=True)
class Opened:
    """A page as its script left it, and what it wrote to the console."""

    document: Any
    console: list[str]


def opened(html: str, folder: Path, fragment: str = "", width: int = 800) -> Opened:
    """Open a page in a browser of this width in pixels; skips the test without one."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        pytest.skip(f"no browser is installed: none of {', '.join(NAMES)}")
    page = folder / "page.html"
    page.write_text(html, "utf-8")
    command = [browser, *OPTIONS, f"--user-data-dir={folder / 'profile'}"]
    command.append(f"--window-size={width},900")
    ran = subprocess.run(
        [*command, page.as_uri() + fragment],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    document = html5lib.parse(ran.stdout, namespaceHTMLElements=False)
    assert list(faults(document)) == []
    return Opened(document, NOISE.findall(ran.stderr))


def text_of(node: Any) -> str:
    """All text in an element."""
    return " ".join("".join(node.itertext()).split())


def by_id(document: Any, name: str) -> Any:
    """The only element with this id."""
    (found,) = (node for node in document.iter() if node.get("id") == name)
    return found
