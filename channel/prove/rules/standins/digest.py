"""A hash that is being computed."""

from __future__ import annotations

import hashlib
from typing import Any

from channelsim.channel.prove.models import byte_models
from channelsim.channel.prove.rules.running import before_a_change, current, is_running
from channelsim.channel.prove.rules.standins.base import StandIn
from channelsim.channel.prove.rules.standins.data import Data, data_of, plain_bytes, symbol_of_bytes
from channelsim.channel.prove.symbols import Undecided

HASH = type(hashlib.sha256())


def _hashed(data: Any) -> Any:
    """The bytes that are hashed, as they are now. Raises TypeError for what is none."""
    given = plain_bytes(data)
    if symbol_of_bytes(given) is None:
        raise TypeError("object supporting the buffer API required")
    return given


class Digest(StandIn):
    """A hash that is being computed: SHA-256 of bytes, and of stand-ins for them."""

    __slots__ = ("data",)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return HASH

    def __init__(self, data: Any = b"", *, usedforsecurity: bool = True) -> None:
        self.data = _hashed(data)

    def update(self, data: Any) -> None:
        """As of `hashlib`."""
        before_a_change()
        self.data = self.data + _hashed(data)

    def digest(self) -> Any:
        """As of `hashlib`: an unknown function of what is not known."""
        symbol = symbol_of_bytes(self.data)
        if symbol is None:
            raise TypeError("sha256 of what is not bytes")
        return data_of(byte_models.hash_of(current(), symbol)) if is_running() else _plain(symbol)

    def hexdigest(self) -> Any:
        """As of `hashlib`."""
        digest = self.digest()
        if type(digest) is Data:
            raise Undecided("the hex digits of a hash that is not known")
        return digest.hex()


def _plain(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
