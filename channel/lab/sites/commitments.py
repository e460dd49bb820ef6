"""Commitments: the parts of moves whose hash is in a state, and what another secret replaces.

A state may commit to a secret by a chain of hashes: its hash, the hash of that, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import TypeAlias

from channelsim.clsp.values import Value, tree_hash_atom
from channelsim.games.deck.group import SCALAR_SIZE, real_group

LONGEST = 64
"""Only this many leading bytes of a move are searched."""

SHORTEST = 8
"""Fewer bytes commit to nothing."""

CHAIN = 8
"""The most hashes of hashes that follow a new secret."""

LENGTHS = (16, 20, 32, 48)
"""The lengths in bytes of usual secrets, hashes and keys."""

Words: TypeAlias = Mapping[bytes, bytes]
"""Replacements in a replay, by the atom or part of a move that they replace."""

Hash: TypeAlias = Callable[[bytes], bytes]
"""A hash by which a state commits to a secret."""


@lru_cache(maxsize=1024)
def opening(move: bytes, atoms: frozenset[bytes]) -> tuple[int, int] | None:
    """Find the longest part of the move whose hash, or tree hash, is one of these atoms.

    None where no part commits to anything.

    >>> image = sha256(b"0123456789").digest()
    >>> opening(b"xx0123456789yy", frozenset({image}))
    (2, 12)
    >>> opening(b"xx0123456789yy", frozenset({bytes(32)})) is None
    True
    """
    images = {atom for atom in atoms if len(atom) == 32}
    size = min(len(move), LONGEST)
    if not images:
        return None
    for length in range(size, SHORTEST - 1, -1):
        for start in range(size - length + 1):
            shown = move[start : start + length]
            if sha256(shown).digest() in images or tree_hash_atom(shown) in images:
                return start, start + length
    return None


def opened_locks(move: bytes, atoms: frozenset[bytes]) -> list[int]:
    """Where a move has the scalars of locks of a prepared deck whose keys are among these atoms.

    >>> key = real_group().multiply([(5, real_group().base)])[0]
    >>> opened_locks(b"xx" + (5).to_bytes(32, "big"), frozenset({key}))
    [2]
    """
    group = real_group()
    keys = {atom for atom in atoms if len(atom) == group.point_size}
    if not keys:
        return []
    places = range(len(move) - SCALAR_SIZE + 1)
    scalars = {at: int.from_bytes(move[at : at + SCALAR_SIZE], "big") for at in places}
    tried = [(at, scalar) for at, scalar in scalars.items() if 0 < scalar < group.order]
    points = group.multiply([(scalar, group.base) for _, scalar in tried])
    return [at for (at, _), point in zip(tried, points, strict=True) if point in keys]


def hash_of(secret: bytes, atoms: Collection[bytes]) -> Hash:
    """The function by which one of these atoms commits to the secret."""
    if sha256(secret).digest() in atoms:
        return lambda data: sha256(data).digest()
    return tree_hash_atom


def hashes(secret: bytes, hashed: Hash) -> Iterator[bytes]:
    """A secret, its hash, the hash of that, and so on."""
    yield secret
    for _ in range(CHAIN):
        secret = hashed(secret)
        yield secret


def special_secrets(secret: bytes, atoms: Collection[bytes]) -> tuple[bytes, ...]:
    """Secrets of the same length that nobody draws, but a player may choose.

    Numbers at the ends of what so many bytes hold; secrets that begin or end with zero bytes; and
    those that are equal or opposite to another of the atoms, so that a sum or a difference is rare.
    """
    size = len(secret)
    most = 1 << 8 * size
    numbers = [0, 1, 0x7F, 0x80, 0xFF, 1 << 15, 1 << 31, most // 2 - 1, most // 2]
    for atom in atoms:
        if len(atom) == size:
            numbers += (int.from_bytes(atom, "big"), most - 1 - int.from_bytes(atom, "big"))
    secrets = [(n * sign % most).to_bytes(size, "big") for n in numbers for sign in (1, -1)]
    for few in (1, 2, 4):
        secrets += (bytes(few) + secret[few:], secret[:-few] + bytes(few))
    return tuple(dict.fromkeys(secrets))


def secrets_of_other_lengths(secret: bytes, most: int) -> tuple[bytes, ...]:
    """Secrets of at most so many bytes that begin as this one does: empty ones, those with one byte
    more or less, and those as long as other secrets often are.

    Only a rule about lengths refuses them.

    >>> [len(secret) for secret in secrets_of_other_lengths(bytes(16), 32)]
    [0, 1, 15, 17, 20, 32]
    """
    size = len(secret)
    lengths = sorted({0, 1, size - 1, size + 1, 2 * size, most, *LENGTHS} - {size})
    return tuple(
        secret[:length] + bytes(range(1, length - size + 1))
        for length in lengths
        if 0 <= length <= most
    )


def in_bytes(data: bytes, words: Words) -> bytes:
    """The data with the first of these words in it replaced, longest first."""
    for old, new in sorted(words.items(), key=lambda item: -len(item[0])):
        at = data.find(old)
        if at >= 0:
            return data[:at] + new + data[at + len(old) :]
    return data


def in_value(value: Value, words: Words) -> Value:
    """The value with each atom that is one of these words replaced."""
    if isinstance(value, tuple):
        return in_value(value[0], words), in_value(value[1], words)
    return words.get(value, value)
