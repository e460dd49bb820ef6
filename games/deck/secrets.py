"""The secrets of one side, and how they are drawn: fresh for each deck, and erased with it.

They are never derived from a wallet's or a channel's keys, and never sign anything (PD-16): one
signature by a lock would show the card behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha512

from channelsim.games.deck.group import SCALAR_SIZE, Group
from channelsim.games.deck.terms import CARDS, DeckTerms, tag, tagged_hash

Random = Callable[[int], bytes]
"""Secret random bytes, this many: the system's generator."""


@dataclass(frozen=True, slots=True)
class DeckSecrets:
    """All that one side draws for a deck.

    `bits` and `salt` are its challenge to the other side's shuffle and what hides it; `mask` and
    `permutation` are its shuffle, `round_seeds` (32 bytes for each round) the blinding of its
    proof; `locks` and `lock_nonces` have a scalar for each position.
    """

    nonce: bytes
    bits: bytes
    salt: bytes
    mask: int = field(repr=False)
    permutation: tuple[int, ...] = field(repr=False)
    locks: tuple[int, ...] = field(repr=False)
    round_seeds: tuple[bytes, ...] = field(repr=False)
    lock_nonces: tuple[int, ...] = field(repr=False)


def draw_secrets(group: Group, terms: DeckTerms, random: Random) -> DeckSecrets:
    """Draw the secrets of one side."""

    def scalar() -> int:
        return _scalar(group, random(64))

    return DeckSecrets(
        nonce=random(32),
        bits=random(terms.rounds // 8),
        salt=random(32),
        mask=scalar(),
        permutation=permutation(random(32)),
        locks=tuple(scalar() for _ in range(terms.positions)),
        round_seeds=tuple(random(32) for _ in range(terms.rounds)),
        lock_nonces=tuple(scalar() for _ in range(terms.positions)),
    )


def seed_mask(group: Group, seed: bytes) -> int:
    """The mask of a proof round, from its seed."""
    return _scalar(group, sha512(tag("mask") + seed).digest())


def _scalar(group: Group, data: bytes) -> int:
    return int.from_bytes(data, "big") % (group.order - 1) + 1


def permutation(seed: bytes) -> tuple[int, ...]:
    """The permutation of 52 positions that a seed of 32 bytes stands for, without bias.

    >>> permutation(bytes(32))[:8]
    (13, 5, 35, 31, 21, 28, 44, 18)
    """
    order = list(range(CARDS))
    stream = b""
    blocks = used = 0
    for last in range(CARDS - 1, 0, -1):
        size = last + 1
        while True:
            if used == len(stream):
                stream += tagged_hash("perm", seed, blocks.to_bytes(2, "big"))
                blocks += 1
            byte = stream[used]
            used += 1
            if byte < 256 // size * size:
                break
        other = byte % size
        order[last], order[other] = order[other], order[last]
    return tuple(order)


def bit(bits: bytes, number: int) -> int:
    """One bit of a challenge, counted from the low end of the first byte."""
    return bits[number // 8] >> number % 8 & 1


def challenge_commitment(
    terms: DeckTerms, verifier: bytes, receiver_nonce: bytes, bits: bytes, salt: bytes
) -> bytes:
    """The verifier's commitment to its challenge (PD-6); `verifier` is the byte `A` or `B`."""
    return tagged_hash("challenge", verifier, terms.encode(), receiver_nonce, bits, salt)


def encode_scalars(scalars: Sequence[int]) -> bytes:
    """Scalars of 32 bytes each."""
    return b"".join(scalar.to_bytes(SCALAR_SIZE, "big") for scalar in scalars)
