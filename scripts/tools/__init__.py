"""What maintainers run: the generators of documentation, and benchmarks.

It imports the product, which never imports it, and is not installed.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""The folder of the repository."""

VECTORS = ROOT / "tests" / "data" / "vectors"
"""The folder of stored conformance vectors, a file for each game."""


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown.

    >>> print(table(("", "or"), [("a  b", "a|b")]))
    |  | or |
    | --- | --- |
    | a b | a\\|b |
    """
    lines = [head, ("---",) * len(head), *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
