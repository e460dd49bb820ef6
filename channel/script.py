"""Scripts: a small TOML file that fixes entropy and actions, to say exactly what is played.

    unit  = 100                # mojos (optional, as are stack, balance and seed)
    stack = 10                 # units

    [[hand]]
    first   = "alice"          # who is Alice in the hand, that is, moves first (optional)
    alice   = "000102030405060708090a0b0c0d0e0f"    # secret bytes, hex (optional)
    bob     = "101112131415161718191a1b1c1d1e1f"    # (how many a game needs is its own affair)
    actions = ["alice fold"]   # decisions, in order, as the game reads them (optional)
    decline = "bob"            # refuses the hand (optional): the session closes

Only decisions are listed: commitments and reveals go by themselves. Where the list
ends before the hand does, the policies play on.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from channel.errors import UsageError

Entropy = Annotated[str, Meta(pattern="^([0-9a-fA-F]{2}){16,64}$")]
PlayerName = Annotated[str, Meta(pattern="^(alice|bob)$")]
Line = Annotated[str, Meta(pattern="^(alice|bob) .+$", max_length=200)]


class ScriptedHand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One hand: entropy by player (hex, at least 16 bytes), decisions, who moves first."""

    alice: Entropy | None = None
    bob: Entropy | None = None
    actions: tuple[Line, ...] = ()
    first: PlayerName | None = None
    decline: PlayerName | None = None

    def entropy(self, player: str) -> bytes | None:
        """The secret bytes of a player, if the script fixes them."""
        text = self.alice if player == "alice" else self.bob
        return bytes.fromhex(text) if text is not None else None


class Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A script; what it leaves out is as on the command line."""

    hand: tuple[ScriptedHand, ...] = ()
    seed: str | None = None
    unit: int | None = None
    stack: int | None = None
    balance: int | None = None


def read(path: Path) -> Script:
    """The script in a file. Raises `UsageError`, naming the file and the place."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not a text file") from None
    try:
        return msgspec.convert(tomllib.loads(text), Script, strict=True)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise UsageError(f"{path}: {error}") from None
