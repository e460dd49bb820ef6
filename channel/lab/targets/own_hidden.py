"""Hidden values of a target without rules: a file beside it that declares what players hide.

    from channelsim.games.hidden import Hidden

    HIDDEN = (Hidden("board", legal, possible),)

It is the same declaration as `Game.hidden` of a package.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from channelsim.channel.errors import UsageError
from channelsim.channel.system import user_code
from channelsim.games.contract import Hidden

HIDDEN = "HIDDEN"
"""The name of the declaration in such a file."""


def load(path: Path) -> tuple[Hidden, ...]:
    """The hidden values that a file declares. Raises `UsageError`.

    The file is run again only after it has changed.
    """
    try:
        changed = path.stat().st_mtime_ns
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror or error})") from None
    return _load(path, changed)


@cache
def _load(path: Path, changed: int) -> tuple[Hidden, ...]:
    declared = getattr(user_code.load(path), HIDDEN, None)
    if not isinstance(declared, tuple | list) or not declared:
        raise UsageError(f"{path}: defines no {HIDDEN}, a tuple of `Hidden` values")
    for value in declared:
        if not isinstance(value, Hidden):
            raise UsageError(f"{path}: {HIDDEN}: a {type(value).__name__} is no `Hidden`")
        if not callable(value.legal) or not callable(value.possible):
            raise UsageError(f"{path}: {HIDDEN}: `legal` and `possible` are functions")
    return tuple(declared)
