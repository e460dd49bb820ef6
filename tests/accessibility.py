"""What a page owes to readers who use a keyboard, a screen reader, or little contrast."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

POINTERS = ("aria-labelledby", "aria-describedby", "aria-activedescendant", "for")
"""Attributes that name elements by their ids."""

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")

SVG = "{http://www.w3.org/2000/svg}svg"


def faults(document: Any) -> Iterator[str]:
    """What is wrong with the names, the roles, the order and the links of a page."""
    nodes = [node for node in document.iter() if isinstance(node.tag, str)]
    ids = Counter(node.get("id") for node in nodes if node.get("id"))
    labels = {node.get("for"): _text(node) for node in nodes if node.tag == "label"}
    yield from (f"two elements have the id {name}" for name, count in ids.items() if count > 1)
    for node in nodes:
        shown = f"<{node.tag} {dict(node.attrib)}>"
        named = [name for key in POINTERS for name in node.get(key, "").split()]
        target = node.get("href", "")
        named += [target[1:]] if target.startswith("#") else []
        yield from (f"{shown} names {name}, which is nowhere" for name in named if name not in ids)
        if _is_reached(node) and not (_name(node) or labels.get(node.get("id"))):
            yield f"{shown} has no name"
        if node.get("tabindex", "0") != "0":
            yield f"{shown} changes the order of the keyboard"
        if node.tag == SVG and node.get("aria-hidden") != "true" and not _name(node):
            yield f"{shown} has neither a name nor is hidden"
        if node.tag == "th" and not node.get("scope"):
            yield f"{shown} heads nothing"
    yield from _structure(nodes)


def _structure(nodes: list[Any]) -> Iterator[str]:
    tags = Counter(node.tag for node in nodes)
    for tag in ("title", "main", "h1"):
        if tags[tag] != 1:
            yield f"{tags[tag]} elements {tag}"
    if not nodes[0].get("lang"):
        yield "no language"
    levels = [HEADINGS.index(node.tag) for node in nodes if node.tag in HEADINGS]
    for before, level in zip([-1, *levels], levels, strict=False):
        if level > before + 1:
            yield f"a heading {HEADINGS[level]} after a level of {before + 1}"


def _is_reached(node: Any) -> bool:
    """True if the keyboard reaches an element."""
    if node.tag == "a":
        return node.get("href") is not None
    return node.tag in ("button", "input", "select", "summary") or node.get("tabindex") is not None


def _name(node: Any) -> str:
    named = node.get("aria-label") or node.get("aria-labelledby")
    roles_named_by_text = node.tag in ("a", "button", "summary")
    return named or (_text(node) if roles_named_by_text else "")


def _text(node: Any) -> str:
    return "".join(node.itertext()).strip()


# --- contrast -----------------------------------------------------------------------------------


def palettes(css: str) -> list[dict[str, str]]:
    """The colours of a style sheet by name: in light, and in dark."""
    found = [
        dict(re.findall(r"--(\w+): (#\w+)", root))
        for root in re.findall(r":root {(.*?)}", css, re.S)
    ]
    light, dark = found[:2]
    return [light, {**light, **dark}]


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG 2.2 defines it: 1 to 21."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
