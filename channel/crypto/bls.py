"""BLS operations of the protocol (augmented scheme, BLS12-381).

A *half-signature* is one of two signers' share of a signature under the sum of their keys. The
sum is prepended to the message, so that adding two halves gives an ordinary signature of the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from chia_rs import AugSchemeMPL, G1Element, G2Element, PrivateKey

INFINITY = bytes(G1Element())
_GENERATOR = G1Element.generator()

Observer = Callable[[str, bytes, bytes], None]
"""Called with every operation: `sign` or `verify`, the public key's bytes, the message."""

VERIFY_HALF = "verify half"

_observers: list[Observer] = []
_memory: ContextVar[dict[tuple[object, ...], Any] | None] = ContextVar("memory", default=None)


class StandIn(Protocol):
    """Operations like those of this module, in the place of BLS; public keys are their 48 bytes."""

    def sign(self, key: PrivateKey, message: bytes) -> bytes:
        """Sign."""

    def verify_all(self, keys: Iterable[bytes], messages: Iterable[bytes], blob: bytes) -> bool:
        """Verify the sum of one signature per key and message."""

    def sign_half(self, key: PrivateKey, message: bytes, sum_key: bytes) -> bytes:
        """Make a half of a signature."""

    def verify_half(self, key: bytes, message: bytes, sum_key: bytes, blob: bytes) -> bool:
        """Verify a half of a signature."""

    def is_signature(self, blob: bytes) -> bool:
        """Decide if bytes are a signature, right or wrong."""

    def add(self, *blobs: bytes) -> bytes:
        """Add signatures. Raises `ValueError` for bytes that are none."""

    def without(self, total: bytes, part: bytes) -> bytes:
        """Subtract a signature. Raises `ValueError` for bytes that are none."""


_stand_in: ContextVar[StandIn | None] = ContextVar("stand_in", default=None)


@contextmanager
def replaced_by(scheme: StandIn) -> Iterator[None]:
    """Use another scheme for every operation of this block, and of the tasks that it begins.

    `keyed_hash` alone calls this, and only the packages that search for faults import that; a test
    proves both.
    """
    token = _stand_in.set(scheme)
    try:
        yield
    finally:
        _stand_in.reset(token)


def stand_in() -> StandIn | None:
    """The scheme in the place of BLS; None outside of blocks that replace it."""
    return _stand_in.get()


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call `observer` for each signature made or verified in this block (for measurements)."""
    _observers.append(observer)
    try:
        yield
    finally:
        _observers.remove(observer)


@contextmanager
def remembered() -> Iterator[None]:
    """Compute each operation on the same bytes once in this block, for many runs that begin alike.

    Every operation, signing too, is a function of its arguments, so a remembered result is the
    result that computing it again would give. A signature that was made here holds, for the key,
    the message and the bytes of it. A block inside another one shares its results.
    """
    if _memory.get() is not None:
        yield
        return
    token = _memory.set({})
    try:
        yield
    finally:
        _memory.reset(token)


@lru_cache(maxsize=1 << 10)
def _public(key: bytes) -> G1Element:
    """The public half of a key: a session signs with few of them, and this takes 0.1 ms."""
    return PrivateKey.from_bytes(key).get_g1()


def public_of(key: PrivateKey) -> G1Element:
    """The public half of a secret key."""
    return _public(bytes(key))


@lru_cache(maxsize=1 << 10)
def public_key(blob: bytes) -> G1Element | None:
    """Decode a key of 48 bytes; None for infinity or bytes outside the group."""
    try:
        key = G1Element.from_bytes(blob)
    except ValueError:
        return None
    return None if blob == INFINITY else key


def signature(blob: bytes) -> G2Element | None:
    """Decode a signature of 96 bytes; None for bytes outside the group.

    A stand-in's signatures are no points: infinity stands for each.
    """
    if (scheme := _stand_in.get()) is not None:
        return G2Element() if scheme.is_signature(blob) else None
    try:
        return G2Element.from_bytes(blob)
    except ValueError:
        return None


def sign(key: PrivateKey, message: bytes) -> bytes:
    """An ordinary signature, 96 bytes."""
    if _observers:
        _notify("sign", public_of(key), message)
    if (scheme := _stand_in.get()) is not None:
        return scheme.sign(key, message)
    blob = _once(lambda: bytes(AugSchemeMPL.sign(key, message)), "sign", key, message)
    if _memory.get() is not None:
        _note_made(blob, "verify", key, message)
    return blob


def verify(key: G1Element, message: bytes, blob: bytes) -> bool:
    """Verify an ordinary signature; False too for bytes that are no signature."""
    if _observers:
        _notify("verify", key, message)
    if (scheme := _stand_in.get()) is not None:
        return scheme.verify_all((bytes(key),), (message,), blob)

    def holds() -> bool:
        point = signature(blob)
        return point is not None and AugSchemeMPL.verify(key, message, point)

    return _once(holds, "verify", key, message, blob)


def verify_all(keys: list[G1Element], messages: list[bytes], blob: bytes) -> bool:
    """Verify the sum of one signature per key and message."""
    for key, message in zip(keys, messages, strict=True):
        if _observers:
            _notify("verify", key, message)
    if (scheme := _stand_in.get()) is not None:
        return scheme.verify_all(map(bytes, keys), messages, blob)

    def holds() -> bool:
        point = signature(blob)
        return point is not None and AugSchemeMPL.aggregate_verify(keys, messages, point)

    return _once(holds, "verify all", *keys, *messages, blob)


def sign_half(key: PrivateKey, message: bytes, sum_key: G1Element) -> bytes:
    """Make this key's half of a signature under `sum_key`, 96 bytes."""
    if _observers:
        _notify("sign", public_of(key), message)
    if (scheme := _stand_in.get()) is not None:
        return scheme.sign_half(key, message, bytes(sum_key))
    half = _once(
        lambda: bytes(AugSchemeMPL.sign(key, message, sum_key)), "half", key, message, sum_key
    )
    if _memory.get() is not None:
        _note_made(half, VERIFY_HALF, key, message, sum_key)
    return half


def was_made(key: bytes, message: bytes, sum_key: bytes, half: bytes) -> bool:
    """True if this half was made or verified in the block of `remembered` that this is in."""
    memory = _memory.get()
    return memory is not None and memory.get((VERIFY_HALF, key, message, sum_key, half)) is True


def verify_half(key: G1Element, message: bytes, sum_key: G1Element, blob: bytes) -> bool:
    """Verify `key`'s half of a signature of `message` under `sum_key`."""
    if _observers:
        _notify("verify", key, message)
    if (scheme := _stand_in.get()) is not None:
        return scheme.verify_half(bytes(key), message, bytes(sum_key), blob)

    def holds() -> bool:
        half = signature(blob)
        if half is None:
            return False
        # The pairing equation by hand: the library's verify would prepend `key` itself.
        hashed = AugSchemeMPL.g2_from_message(bytes(sum_key) + message)
        return bool(key.pair(hashed) == _GENERATOR.pair(half))

    return _once(holds, VERIFY_HALF, key, message, sum_key, blob)


def without(total: bytes, part: bytes) -> bytes:
    """The sum of the signatures in `total` but for `part`, which is one of them.

    The third bit of a signature's first byte is the sign of the point.

    >>> one, other = (sign(PrivateKey.from_bytes(bytes([*31 * [0], n])), b"") for n in (1, 2))
    >>> without(add(one, other), other) == one
    True
    """
    if (scheme := _stand_in.get()) is not None:
        return scheme.without(total, part)
    return add(total, bytes([part[0] ^ 0x20]) + part[1:])


def add(*blobs: bytes) -> bytes:
    """Add signatures that were verified before, 96 bytes."""
    if (scheme := _stand_in.get()) is not None:
        return scheme.add(*blobs)
    return bytes(AugSchemeMPL.aggregate([G2Element.from_bytes(blob) for blob in blobs]))


T = TypeVar("T")


def _once(work: Callable[[], T], operation: str, *arguments: Any) -> T:
    memory = _memory.get()
    if memory is None:
        return work()
    what = (operation, *map(bytes, arguments))
    if what not in memory:
        memory[what] = work()
    found: T = memory[what]
    return found


def _note_made(blob: bytes, operation: str, key: PrivateKey, *arguments: Any) -> None:
    """Remember that a signature which was just made holds: verifying it takes two pairings."""
    memory = _memory.get()
    if memory is not None:
        public = bytes(public_of(key))
        memory[(operation, public, *map(bytes, arguments), blob)] = True


# Callers test for observers first, because deriving a public key takes 0.1 ms.
def _notify(operation: str, key: G1Element, message: bytes) -> None:
    for observer in _observers:
        observer(operation, bytes(key), message)
