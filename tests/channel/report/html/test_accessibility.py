"""The colours of the pages can be told apart; the checks of their structure find what is wrong."""

from __future__ import annotations

import re

import html5lib
import pytest

from tests.accessibility import contrast, faults, palettes
from tests.paths import ROOT

TEMPLATES = ROOT / "channel/report/html/templates"
CSS = (TEMPLATES / "page.css").read_text("utf-8")

TEXT = ("text", "dim", "accent", "good", "bad", "warn", "initiator", "receiver", "chain")
"""Colours of text, on the page and on panels; and of lines and areas."""


@pytest.mark.parametrize("palette", palettes(CSS), ids=("light", "dark"))
def test_text_and_drawings_have_contrast(palette: dict[str, str]) -> None:
    pairs = [(name, back, 4.5) for name in TEXT for back in ("back", "panel")]
    pairs += [(name, "mark", 4.5) for name in ("text", "dim", "bad", "accent")]
    pairs += [("games", "back", 3.0)]
    # The faces of cards, the filled chip of the worst severities, and code that was never run.
    pairs += [("ink", "card", 4.5), ("red", "card", 4.5), ("back", "bad", 4.5)]
    pairs += [("gone", "never", 4.5)]
    assert not [
        (name, back)
        for name, back, least in pairs
        if contrast(palette[name], palette[back]) < least
    ]


def test_every_colour_is_one_of_the_palette() -> None:
    """So that the contrast of all text is computed: no rule has a colour of its own."""
    rules = re.sub(r":root {.*?}", "", CSS, flags=re.S)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b[^{]*;|\brgba?\(", rules)
    backs = set(re.findall(r"background: var\(--(\w+)\)", CSS))
    fills = {"initiator", "receiver", "games"}  # areas of a chart, without text
    assert backs - fills == {"back", "panel", "mark", "card", "bad", "never"}


def test_nothing_moves_or_fades() -> None:
    """There is nothing that `prefers-reduced-motion` would have to stop."""
    scripts = [path.read_text("utf-8") for path in TEMPLATES.glob("*.js")]
    assert len(scripts) > 1
    for text in (CSS, *scripts):
        assert not re.search("animation|transition|smooth|opacity", text)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<button></button>", "has no name"),
        ("<input id=x>", "has no name"),
        ("<a href='#gone'>x</a>", "names gone, which is nowhere"),
        ("<div tabindex=0></div>", "has no name"),
        ("<p tabindex=3 aria-label=x></p>", "changes the order"),
        ("<p id=a></p><p id=a></p>", "two elements have the id a"),
        ("<svg></svg>", "neither a name nor is hidden"),
        ("<h3>x</h3>", "a heading h3 after a level of 1"),
        ("<table><tr><th>x</table>", "heads nothing"),
        ("<main></main>", "2 elements main"),
    ],
)
def test_a_fault_is_found(body: str, said: str) -> None:
    start = "<!DOCTYPE html><html lang=en><title>t</title><main><h1>t</h1></main>"
    clean, wrong = (html5lib.parse(start + one, namespaceHTMLElements=False) for one in ("", body))
    assert list(faults(clean)) == []
    (found,) = faults(wrong)
    assert said in found
