"""Notice a copy of a checkout whose virtual environment still runs the code of the original."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
"""The folder of the checkout, or of the installed packages, whose code this is."""


def copied_checkout(script: str, prefix: str, here: Path = HERE) -> str:
    """The sentence to print if a command of one checkout runs the code of another; "" if not.

    `script` is how the command was called, `prefix` its environment. An environment inside of a
    checkout was made for that one; in a copy, its files still name the folder of the original.
    """
    for checkout in dict.fromkeys(_checkouts(script, prefix)):
        if checkout.resolve() != here and _is_checkout(checkout) and _is_checkout(here):
            return (
                f"{checkout} is a copy whose environment runs the code of {here}; remove"
                f" {checkout / '.venv'} and install again"
            )
    return ""


def _checkouts(script: str, prefix: str) -> Iterator[Path]:
    """The folders that hold the environments of the command."""
    called = Path(script).absolute()
    if called.parent.name == "bin" and (called.parents[1] / "pyvenv.cfg").is_file():
        yield called.parents[2]
    if prefix != sys.base_prefix:
        yield Path(prefix).parent


def _is_checkout(folder: Path) -> bool:
    return all((folder / name).is_dir() for name in ("channelsim", "channel", "clsp", "games"))
