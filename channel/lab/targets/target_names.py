"""Names that targets and their programs can have."""

from __future__ import annotations

LONGEST_NAME = 60
"""Names of targets and programs are used in tables and in file names."""


def is_name(name: str) -> bool:
    """True if a target can have this name."""
    return bool(name.strip()) and len(name) <= LONGEST_NAME and name.isprintable()


def is_program_name(name: str) -> bool:
    """True if a program can have this name: a file of a corpus is named after it.

    >>> is_program_name("show down"), is_program_name("../a")
    (True, False)
    """
    return is_name(name) and "/" not in name
