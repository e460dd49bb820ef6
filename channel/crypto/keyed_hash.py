"""A keyed hash in the place of BLS, for searching only: whoever knows a public key can sign.

A signature is a sum of hashes modulo 2**256, one for each key and message, so it is deterministic,
bound to its key and message, and signatures add up in any order. The two halves under a sum of keys
add up to the ordinary signature of the sum. No signature of this kind is one of BLS: none of them
but the empty sum is a point.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256

from chia_rs import G1Element, G2Element, PrivateKey

from channelsim.channel.crypto import bls

MODE = "fast"
"""The name of this mode in outputs."""

WARNING = "fast mode: a keyed hash replaces BLS signatures"
"""A line about the mode, for people."""

_EMPTY = bytes([0xC0]) + bytes(95)
_TAG = b"\xc0keyed hash, no signature".ljust(64, b"\0")
_MODULUS = 1 << 256


@contextmanager
def fast_signatures() -> Iterator[None]:
    """Replace BLS in this block, and in the tasks that it begins, by the keyed hash.

    Signatures of one mode are wrong in the other one.
    """
    with bls.replaced_by(_KeyedHash()):
        yield


class _KeyedHash:
    """The scheme."""

    def sign(self, key: PrivateKey, message: bytes) -> bytes:
        """The signature of a message by a key."""
        return _encode(_whole(_public(bytes(key)), message))

    def verify_all(self, keys: Iterable[bytes], messages: Iterable[bytes], blob: bytes) -> bool:
        """True if this is the sum of a signature for each key and message."""
        signed = zip(keys, messages, strict=True)
        total = sum(_whole(key, message) for key, message in signed)
        return _decode(blob) == total % _MODULUS

    def sign_half(self, key: PrivateKey, message: bytes, sum_key: bytes) -> bytes:
        """The half of a signature under the sum of this key and another one."""
        return _encode(_half(_public(bytes(key)), message, sum_key))

    def verify_half(self, key: bytes, message: bytes, sum_key: bytes, blob: bytes) -> bool:
        """True if this is the key's half of a signature under the sum."""
        return _decode(blob) == _half(key, message, sum_key) % _MODULUS

    def is_signature(self, blob: bytes) -> bool:
        """True if signatures can be added to these bytes."""
        return _decode(blob) is not None

    def add(self, *blobs: bytes) -> bytes:
        """The sum of signatures."""
        return _encode(sum(map(_read, blobs)))

    def without(self, total: bytes, part: bytes) -> bytes:
        """The sum of the signatures in `total` but for `part`."""
        return _encode(_read(total) - _read(part))


def _whole(key: bytes, message: bytes) -> int:
    return _number(b"whole", key, message)


def _half(key: bytes, message: bytes, sum_key: bytes) -> int:
    first = min(key, _other(key, sum_key))
    half = _number(b"half", sum_key + first, message)
    return half if key == first else _whole(sum_key, message) - half


def _number(name: bytes, key: bytes, message: bytes) -> int:
    return int.from_bytes(sha256(name + key + message).digest(), "big")


def _encode(number: int) -> bytes:
    number %= _MODULUS
    return _TAG + number.to_bytes(32, "big") if number else _EMPTY


def _read(blob: bytes) -> int:
    number = _decode(blob)
    if number is None:
        raise ValueError("no signature of the keyed hash")
    return number


def _decode(blob: bytes) -> int | None:
    """The number in a signature; a point stands for its hash, so that it is wrong in all places."""
    if blob == _EMPTY:
        return 0
    if len(blob) == 96 and blob.startswith(_TAG):
        return int.from_bytes(blob[64:], "big")
    try:
        G2Element.from_bytes(blob)
    except ValueError:
        return None
    return _number(b"point", b"", blob)


# Sessions use few keys, and each of these takes 0.1 ms.


@lru_cache(maxsize=1 << 10)
def _public(key: bytes) -> bytes:
    return bytes(PrivateKey.from_bytes(key).get_g1())


@lru_cache(maxsize=1 << 10)
def _other(key: bytes, sum_key: bytes) -> bytes:
    """The other key of a sum. The third bit of a point's first byte is its sign."""
    negative = bytes([key[0] ^ 0x20]) + key[1:]
    return bytes(G1Element.from_bytes(sum_key) + G1Element.from_bytes(negative))
