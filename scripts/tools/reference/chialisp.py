"""The page of Chialisp to include, from the files of `clsp/source/lib`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scripts.tools import ROOT, table

DEFINITION = re.compile(
    r"((?:^ *;[^\n]*\n)*)^  \((defun-inline|defun|defmac|defconstant) (\S+)(?: \(?([^()\n]*))?",
    re.MULTILINE,
)
"""A definition of a library: the comment above it, its kind, its name, its arguments or value."""


def library_sections() -> Iterator[str]:
    """The files of Chialisp to include, each with its comments."""
    yield (
        "A source includes these files of channelsim by the path shown; nothing has to be copied,"
        " and a file of the same path beside the source or in a folder of `include` wins."
    )
    yield (
        '`(include "hashes/NAME.clinc")` defines `NAME_HASH`, in capital letters: the tree hash of'
        " the validator NAME of the same game or target. A validator that leads to itself needs no"
        " include: its own hash is the first item of its environment, PROGRAM_HASH."
    )
    for path in sorted((ROOT / "clsp" / "source" / "lib").glob("*.clinc")):
        text = path.read_text("utf-8")
        head, _, body = text.partition("\n(\n")
        rows = (
            (f"`{name}`", shape)
            if kind == "defconstant"
            else (f"`({' '.join(filter(None, (name, shape)))})`", _comment(comment))
            for comment, kind, name, shape in DEFINITION.findall(body)
        )
        about = _comment(head)
        yield f"## lib/{path.name}\n\n{about}\n\n{table(('', ''), rows)}"


def _comment(text: str) -> str:
    """Comments of Chialisp as one paragraph."""
    return " ".join(line.strip().lstrip("; ") for line in text.splitlines() if line.strip())
