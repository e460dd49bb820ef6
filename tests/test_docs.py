from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from channelsim.channel.chain.coins import Bundle, Coin, Spend
from channelsim.channel.cli.app import commands
from channelsim.channel.protocol.messages import BatchAction, Message, Offer
from channelsim.channel.protocol.rules import DUTIES
from channelsim.channel.protocol.rules import RULES as CHANNEL_RULES
from channelsim.clsp.programs import SOURCE as SOURCES
from channelsim.games import registry
from channelsim.games.referee import RULES as REFEREE_RULES
from scripts.tools.reference import pages
from tests.markdown import DOCS, anchor, headings, links, read
from tests.paths import ROOT

each_page = pytest.mark.parametrize("page", DOCS, ids=lambda page: str(page.relative_to(ROOT)))


def test_the_generated_pages_are_the_codes() -> None:
    generated = pages()
    folder = ROOT / "docs"
    written = {f"reference/{file.name}" for file in (folder / "reference").iterdir()}
    assert written == generated.keys() - {"rules.md", "faults.md", "found.md"}
    for name, text in generated.items():
        assert read(folder / name) == text, f"docs/{name}: run `python -m scripts.tools`"


@each_page
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, fragment = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        anchors = map(anchor, headings(target)) if target.suffix == ".md" else [fragment]
        if not target.exists() or fragment not in {"", *anchors}:
            broken.append(link)
    assert broken == []


def test_the_handbook_has_every_page_once() -> None:
    listed = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", read(ROOT / "mkdocs.yml"), re.M)
    pages = (ROOT / "docs").rglob("*.md")
    assert sorted(listed) == sorted(str(page.relative_to(ROOT / "docs")) for page in pages)


@pytest.mark.long
def test_the_handbook_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="the extra `docs` is not installed")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "spec" / "channel" / "index.html").exists()


@each_page
def test_a_heading_stands_once_on_a_page(page: Path) -> None:
    found = headings(page)
    assert len(set(found)) == len(found)


PATH = re.compile(r"`((?:channel|games|clsp|tests|docs|scripts|examples)/[\w./-]+)`")
"""Files and folders of this project, as the documents write them."""


@each_page
def test_files_that_the_docs_name_are_there(page: Path) -> None:
    assert [name for name in PATH.findall(read(page)) if not (ROOT / name).exists()] == []


def sources(text: str) -> Iterator[tuple[str, list[str]]]:
    """The pages and sections that a text names as its source.

    >>> list(sources('Source: spec/a.md, "One",\\n"Two" and "Three"; spec/b.md. More.'))
    [('spec/a.md', ['One', 'Two', 'Three']), ('spec/b.md', [])]
    """
    for sentence in re.findall(r"\bSource:\s+(.+?)\.(?:\s|$)", text, re.DOTALL):
        for cited in " ".join(sentence.split()).split("; "):
            yield cited.partition(",")[0], re.findall(r'"([^"]+)"', cited)


@pytest.mark.parametrize("layer", ["clsp", "games", "channel"])
def test_sources_are_pages_and_sections_of_the_specification(layer: str) -> None:
    files = [file for kind in ("py", "clsp", "clinc") for file in (ROOT / layer).rglob(f"*.{kind}")]
    cited = [(file, *one) for file in files for one in sources(file.read_text("utf-8"))]
    wrong = [
        (str(file.relative_to(ROOT)), name, section)
        for file, name, sections in cited
        for section in sections or [""]
        if section not in {"", *headings_of(name)} or not headings_of(name)
    ]
    assert wrong == []
    assert len(cited) >= sum(file.read_text("utf-8").count("Source:") for file in files)


def headings_of(name: str) -> list[str]:
    """The headings of a page of the handbook; none if there is no such page."""
    path = ROOT / "docs" / name
    return headings(path) if path.is_file() else []


def test_the_specification_has_every_rule() -> None:
    text = "".join(read(one) for one in DOCS if one.parent.name == "spec")
    ids = {
        rule
        for rules in (
            CHANNEL_RULES,
            DUTIES,
            REFEREE_RULES,
            *(registry.get(one).rules for one in registry.built_in()),
        )
        for rule in rules
    }
    ids |= set(re.findall(r"; (UNROLL-\d)", (SOURCES / "channel/unroll.clsp").read_text("utf-8")))
    assert sorted(rule for rule in ids if not re.search(rf"{rule}(?!\d)", text)) == []


def test_the_specification_has_every_message() -> None:
    text = read(ROOT / "docs" / "spec" / "channel.md")
    for kind in (*get_args(Message), *get_args(BatchAction), Offer, Coin, Spend, Bundle):
        tag = kind.__struct_config__.tag
        names = [*kind.__struct_fields__, *([tag] if tag else [])]
        assert [name for name in names if f"`{name}`" not in text] == [], kind.__name__


def test_the_map_has_every_package() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    for package in (ROOT / "channel").glob("*/__init__.py"):
        assert f"`channel/{package.parent.name}`" in text
    for room in (ROOT / "channel" / "lab").glob("*/__init__.py"):
        assert f"`{room.parent.name}`" in text


def test_the_page_of_deadlines_names_what_is_there() -> None:
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    section = text.split("## Deadlines\n")[1].split("\n## ")[0]
    places = re.findall(r"`([a-z_/]+\.py)`((?:,? (?:and )?`\w+`)*)", section)
    assert len(places) > 15
    for file, names in places:
        folder = ROOT if file.startswith("channelsim/") else ROOT / "channel"
        code = (folder / file).read_text(encoding="utf-8")
        for name in re.findall(r"\w+", names.replace(" and ", " ")):
            assert re.search(rf"^(?:def|class) {name}\b|^{name} = ", code, re.M), (file, name)


def test_the_handbook_lists_every_command() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name, command in commands.commands.items():
        inside = getattr(command, "commands", {None: command})
        for one in inside:
            assert f"| `channelsim {name} {one or ''}".rstrip() in text


def test_the_glossary_explains_each_term_once() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"\*\*(.+?)\*\*", text)
    assert len(terms) > 50
    assert len(set(terms)) == len(terms)


def test_the_scripts_pass_their_arguments_on() -> None:
    """A sourced file sees the arguments of its script, and must not read any."""
    assert not re.search(r"\$[@*1-9]|\$\{[@*1-9]", (ROOT / "scripts" / "env.sh").read_text())
    for name in ("demo", "docs", "test"):
        text = (ROOT / "scripts" / name).read_text(encoding="utf-8")
        assert "\n. scripts/env.sh\n" in text
        assert '"$@"' in text
