"""Write the package of a new game: a small honest game under a name of the author's."""

from __future__ import annotations

import os
import re
import sys
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from keyword import iskeyword
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from unicodedata import normalize

from channelsim.channel.errors import UsageError
from channelsim.channel.system.interrupt import held
from channelsim.games import registry
from channelsim.games.names import quoted

PLACEHOLDER = "newgame"
"""The template's own name. It stands in its files and their names, in capitals in rule ids, and
nowhere by accident; the author's name replaces it."""

LONGEST = 40

HIDDEN = {"github": ".github"}
"""Folders that begin with a dot in the package, and not in the template."""

OWN = ("tests",)
"""Folders of the package, which would hide a game of their name."""

_NAME = re.compile("[a-z][a-z0-9_]*")


def check_name(name: str) -> None:
    """Check the name of a new game. Raises `UsageError` with the reason."""
    if not _NAME.fullmatch(name) or len(name) > LONGEST:
        raise UsageError(
            f"{quoted(name)}: no name of a game: up to {LONGEST} small letters, digits and _,"
            f" with a letter first{_suggested(name)}"
        )
    if iskeyword(name):
        raise UsageError(f"{name}: a keyword of Python; choose another name")
    if name in registry.names():
        raise UsageError(f"{name}: a game of this name is installed; choose another name")
    if name in OWN or name in sys.stdlib_module_names or find_spec(name) is not None:
        raise UsageError(f"{name}: a Python package has this name; choose another one")


def _suggested(name: str) -> str:
    """A name like a wrong one that can be used, for its message; empty for none."""
    letters = normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    near = re.sub("[^a-z0-9]+", "_", letters).strip("_")
    if near == name:
        return ""
    try:
        check_name(near)
    except UsageError:
        return ""
    return f"; {near} is one"


def write_package(name: str, folder: Path) -> list[Path]:
    """Write the package into a new folder, all of it or nothing; its files, in order.

    Raises `UsageError` for a bad name, or for a folder that exists or cannot be made.
    """
    check_name(name)
    if os.path.lexists(folder):
        raise UsageError(f"{folder}: exists already; name another folder")
    try:
        # A folder of its own, so that an error or an interrupt leaves nothing behind.
        scratch = Path(mkdtemp(prefix=".channelsim-", dir=folder.absolute().parent))
        try:
            package = scratch / name
            written = sorted(_copy(files("channelsim.channel.kit") / "template", package, name))
            with held():
                package.rename(folder)
        finally:
            with held():
                rmtree(scratch)
    except OSError as error:
        raise UsageError(f"{folder}: cannot be written ({error.strerror or error})") from None
    return [path.relative_to(package) for path in written]


def _copy(template: Traversable, folder: Path, name: str) -> list[Path]:
    """Copy a folder of the template under the author's name; the files that were written."""
    folder.mkdir()
    written = []
    for entry in template.iterdir():
        if entry.name.startswith((".", "__pycache__")):
            continue  # left by a linter or an import
        place = folder / renamed(HIDDEN.get(entry.name, entry.name), name)
        if entry.is_dir():
            written += _copy(entry, place, name)
        else:
            place.write_text(renamed(entry.read_text("utf-8"), name), "utf-8")
            written.append(place)
    return written


def renamed(text: str, name: str) -> str:
    """A text of the template with the author's name.

    >>> renamed("newgame: NEWGAME-END-1", "my_dice")
    'my_dice: MY_DICE-END-1'
    """
    return text.replace(PLACEHOLDER, name).replace(PLACEHOLDER.upper(), name.upper())
