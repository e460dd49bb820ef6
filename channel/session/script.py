"""Scripts: small TOML files that fix the entropy and the actions of hands.

    unit  = 100                # mojos (optional, as are stack, balance and seed)
    stack = 10                 # units

    [[hand]]
    first     = "initiator"    # who moves first in the hand (optional)
    initiator = "000102030405060708090a0b0c0d0e0f"  # secret bytes, hex (optional)
    receiver  = "101112131415161718191a1b1c1d1e1f"  # (each game says how many it needs)
    actions   = ["initiator fold"]  # decisions, in order, as the game reads them (optional)
    decline   = "receiver"     # declines the hand (optional): the session closes
    game      = "NAME pot"     # the game that the dealer names, where it chooses (optional)

Only decisions are listed: commitments and reveals are automatic. When the list ends before the
hand does, the policies decide.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from channelsim.channel.system import toml_files
from channelsim.channel.system.file_kinds import Kind
from channelsim.games.decoding import Key

_PLAYERS = ("initiator", "receiver")
_RENAMED = {"alice": "initiator", "bob": "receiver"}

_ENTROPY = re.compile("(?:[0-9a-fA-F]{2}){16,64}")


def _hint(name: str) -> str:
    """The new name of a peer, for scripts that use an old one."""
    return f" ({name} is now called {_RENAMED[name]})" if name in _RENAMED else ""


class ScriptedHand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One hand: entropy by peer (16 to 64 bytes in hex), decisions, and who moves first.

    `game` is the game that the dealer names in dealer's choice, with its betting structure or not.
    """

    initiator: str | None = None
    receiver: str | None = None
    actions: tuple[str, ...] = ()
    first: str | None = None
    decline: str | None = None
    game: str | None = None

    def __post_init__(self) -> None:
        """Check the values. Raises `ValueError` for those that fit no hand."""
        for name in ("first", "decline"):
            if (who := getattr(self, name)) not in (None, *_PLAYERS):
                raise ValueError(f"{name} is initiator or receiver, not {who!r}{_hint(who)}")
        for name in _PLAYERS:
            text = getattr(self, name)
            if text is not None and not _ENTROPY.fullmatch(text):
                raise ValueError(f"{name} is 16 to 64 bytes in hex, not {text[:80]!r}")
        for number, line in enumerate(self.actions, 1):
            who, _, what = line.partition(" ")
            if who not in _PLAYERS or not what.strip():
                raise ValueError(
                    f"action {number} is a player and what it does, as in 'initiator fold',"
                    f" not {line[:80]!r}{_hint(who)}"
                )
        if self.decline is not None and self.actions:
            raise ValueError("a hand that is declined has no actions")

    def entropy(self, player: str) -> bytes | None:
        """Return the secret bytes of a peer; None if the script does not fix them."""
        text = self.initiator if player == "initiator" else self.receiver
        return bytes.fromhex(text) if text is not None else None


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A script; the command line decides what it leaves out."""

    hand: tuple[ScriptedHand, ...] = ()
    seed: str | None = None
    unit: int | None = None
    stack: int | None = None
    balance: int | None = None


def read(path: Path) -> Script:
    """Read the script in a file. Raises `UsageError`, naming the file and the place."""
    return toml_files.read(path, Script, Kind.SCRIPT, _place).value


def _place(keys: tuple[Key, ...]) -> str:
    """Name a place in a script, counted from 1.

    >>> _place(("hand", 0, "actions", 2))
    'hand 1.actions 3'
    """
    return "".join(f" {key + 1}" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")
