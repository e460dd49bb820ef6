"""Derived bytes are those of HKDF by another implementation."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from channelsim.channel.crypto.hkdf import derive


@pytest.mark.parametrize("length", [1, 32, 33, 64, 8160])
@pytest.mark.parametrize("secret", [b"", b"secret", bytes(100)])
def test_bytes_are_derived_as_the_standard_says(secret: bytes, length: int) -> None:
    info = b"\0\x04deck\0\x0213"
    other = HKDF(algorithm=SHA256(), length=length, salt=b"channelsim/1", info=info)
    assert derive(secret, "deck", 13, length=length) == other.derive(secret)
