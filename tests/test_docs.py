from __future__ import annotations

import re
from pathlib import Path

from channel.report.rules import page

ROOT = Path(__file__).parents[1]


def test_the_page_of_rules_is_the_codes() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    assert text == page(), "run `python -m channel.report.rules > docs/rules.md`"


def test_links_in_the_readme_lead_somewhere() -> None:
    for file in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        text = file.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (file.parent / target).exists(), f"{file.name}: {target}"
