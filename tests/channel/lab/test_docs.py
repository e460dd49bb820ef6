"""What docs/lab.md must mention. Its examples are run by tests/test_docs_examples.py."""

from __future__ import annotations

from channelsim.channel.lab.laws import laws
from tests.markdown import read
from tests.paths import ROOT


def test_every_law_is_on_the_page() -> None:
    page = read(ROOT / "docs" / "lab.md")
    assert all(f"| {law.name} | " in page for law in laws())
