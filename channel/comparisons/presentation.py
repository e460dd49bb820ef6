"""A comparison as lines of text, as JSON data, and as Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from channelsim.channel.comparisons.changes import Change, Comparison
from channelsim.games.names import printable

MOST_ROWS = 20
"""Changes in a Markdown table; the rest are counted."""

NO_WIDTH = "\N{ZERO WIDTH SPACE}"

MOST_LETTERS = 300
"""Letters of a cell in a Markdown table."""

_MARKS = re.compile(r"([\\`*_\[\]<>|~&])")
_LINKS = re.compile(r"([@#]|:(?=//))")
"""Behind these, a letter without width keeps GitHub from making a mention or a link."""


def as_data(comparison: Comparison) -> dict[str, Any]:
    """The comparison as JSON data."""
    return {
        "kind": comparison.kind,
        "target": comparison.target,
        "worse": comparison.worse,
        "better": comparison.better,
        "changes": [
            {**msgspec.to_builtins(change), "worse": change.effect.is_worse}
            for change in comparison.changes
        ],
        "notes": comparison.notes,
    }


def as_lines(comparison: Comparison) -> Iterator[str]:
    """The comparison as text: a line for each change, the worst first, then the counts."""
    for change in comparison.changes:
        values = _values(change)
        yield f"{change.effect.value}: {change.what}{': ' if values else ''}{values}"
    yield from comparison.notes
    yield f"{_title(comparison)}: {comparison.summary}"


def as_markdown(comparison: Comparison) -> str:
    """The comparison as GitHub's Markdown.

    Documents are other people's words: nothing in them becomes a link, an image or a mention.
    """
    counts = f"**{comparison.worse:,} worse**" if comparison.worse else "nothing worse"
    title = escaped(f"channelsim {_title(comparison)}")
    parts = [f"### {title}", f"{counts}, {comparison.better:,} better"]
    if comparison.changes:
        rows = ["| | what | before → after |", "|---|---|---|"]
        for change in comparison.changes[:MOST_ROWS]:
            name = f"**{change.effect.value}**" if change.effect.is_worse else change.effect.value
            rows.append(f"| {name} | {_cell(change.what)} | {_cell(_values(change))} |")
        parts.append("\n".join(rows))
        if len(comparison.changes) > MOST_ROWS:
            parts.append(f"and {len(comparison.changes) - MOST_ROWS:,} more")
    parts += map(escaped, comparison.notes)
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """A text that Markdown shows as it is, on one line.

    >>> escaped("a_b\\n@all").replace(NO_WIDTH, "+")
    'a\\\\_b @+all'
    """
    line = printable(" ".join(text.split()))
    return _LINKS.sub(rf"\1{NO_WIDTH}", _MARKS.sub(r"\\\1", line))


def _cell(text: str) -> str:
    cut = text if len(text) <= MOST_LETTERS else text[:MOST_LETTERS] + "…"
    return escaped(cut)


def _values(change: Change) -> str:
    """The values before and after, and by how many percent a figure differs."""
    if change.before is None or change.after is None:
        return ""
    match change.before, change.after:
        case int(before), int(after):
            grown = f" ({100 * (after - before) / before:+.2f} %)" if before else ""
            return f"{before:,} → {after:,}{grown}"
        case before, after:
            return f"{before} → {after}"


def _title(comparison: Comparison) -> str:
    of = f" of {comparison.target}" if comparison.target is not None else ""
    return f"{comparison.kind}{of}"
