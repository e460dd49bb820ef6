"""Facts of docs/lab.md and docs/fuzz.md. tests/test_docs_examples.py runs their commands."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree

from channelsim.channel.lab.laws import laws
from channelsim.channel.lab.targets.loading import load
from channelsim.clsp.programs import SOURCE
from tests.markdown import blocks, read
from tests.paths import ROOT

PAGE = ROOT / "docs" / "lab.md"


def test_the_target_on_the_page_is_read(tmp_path: Path) -> None:
    shown = next(block.text for block in blocks(PAGE) if block.language == "toml")
    (tmp_path / "target.toml").write_text(shown, "utf-8")
    copytree(SOURCE, tmp_path / "onchain")
    target = load(str(tmp_path / "target.toml"))
    assert target.hashes == {name: one.hash for name, one in target.game.programs.items()}


def test_every_law_is_on_the_page() -> None:
    assert all(f"| {law.name} | " in read(ROOT / "docs" / "fuzz.md") for law in laws())
