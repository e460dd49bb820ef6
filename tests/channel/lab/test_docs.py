"""What docs/lab.md must say. Its commands are run by tests/test_docs_examples.py."""

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
    assert all(f"| {law.name} | " in read(PAGE) for law in laws())
