"""The code that may replay a journal: a peer of other code might come to another state.

A restart hands the journal's events to a peer again. So a journal names the code that began it,
and `REACTIONS`, the number of the way in which that code reacts to events. **The rule:** code with
the same number replays the journal, whatever its version; other code refuses it, in one line. The
number is raised by every change that makes a peer react differently to some event: a test that
replays a stored session fails until it is.
"""

from __future__ import annotations

import msgspec

from channelsim.channel import __version__
from channelsim.channel.store.interface import StoreError

REACTIONS = 1
"""The number of the way in which this code reacts to events."""


class Code(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The code that began a journal: its version, for people, and its reactions."""

    version: str
    reactions: int


OURS = Code(__version__, REACTIONS)
"""This code."""


def check_code(name: str, data: bytes) -> None:
    """Check that this code may replay a journal begun by the code in `data`. Raises `StoreError`.

    `name` is the store's.
    """
    try:
        code = msgspec.msgpack.decode(data, type=Code)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise StoreError(f"{name}: damaged: the code that began it is not named") from None
    if code.reactions != REACTIONS:
        theirs = f"version {code.version[:40]!a}, reactions {code.reactions}"
        raise other_code(name, theirs, f"reactions {REACTIONS}")


def other_code(name: str, theirs: str, ours: str) -> StoreError:
    """The refusal of a journal of other code: it says how its money is got out."""
    return StoreError(
        f"{name}: written by other code of channelsim ({theirs}; this one has {ours}); nothing was"
        " written to it: end the channel with the version that began it (channelsim close, or"
        " recover), then start a new one with this version"
    )
