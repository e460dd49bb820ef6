"""The proof that every lock is the one that its key names.

The prover knows scalars s such that `locked[j] = s_j·source[j]` and `keys[j] = s_j·mask_base`: one
proof of equal logarithms for all positions at once, with the challenge from a hash of everything.

Source: spec/deck.md, "The proof of locks".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import SCALAR_SIZE, Group
from channelsim.games.deck.secrets import DeckSecrets, encode_scalars
from channelsim.games.deck.terms import HASH_SIZE, tagged_hash


@dataclass(frozen=True, slots=True)
class Locks:
    """The statement of a proof: `prover` (the byte `A` or `B`) locked each point of `source`.

    `mask_base` is the group's base under the prover's mask.
    """

    group: Group
    deck: bytes
    prover: bytes
    mask_base: bytes
    source: Sequence[bytes]
    locked: tuple[bytes, ...]
    keys: tuple[bytes, ...]

    def challenge(self, commitments: Sequence[bytes]) -> bytes:
        """The hash of the statement and of the prover's commitments."""
        points = (self.mask_base, *self.source, *self.locked, *self.keys, *commitments)
        return tagged_hash("lock", self.deck, self.prover, *points)


def proof_size(positions: int) -> int:
    """The bytes of a proof."""
    return HASH_SIZE + SCALAR_SIZE * positions


def lock(
    group: Group,
    deck: bytes,
    prover: bytes,
    mask_base: bytes,
    source: tuple[bytes, ...],
    secrets: DeckSecrets,
) -> tuple[Locks, bytes]:
    """Lock points with the prover's locks, in place of its mask; return the fields of a message."""
    inverse = pow(secrets.mask, -1, group.order)
    scalars = [lock * inverse % group.order for lock in secrets.locks]
    locked = tuple(group.multiply(list(zip(scalars, source, strict=True))))
    keys = tuple(group.multiply([(lock, group.base) for lock in secrets.locks]))
    locks = Locks(group, deck, prover, mask_base, source, locked, keys)
    return locks, b"".join((*locked, *keys, prove(locks, scalars, secrets.lock_nonces)))


def prove(locks: Locks, scalars: Sequence[int], nonces: Sequence[int]) -> bytes:
    """Prove the locks made by these scalars; the nonces are fresh."""
    products = list(zip(nonces, locks.source, strict=True))
    products += [(nonce, locks.mask_base) for nonce in nonces]
    challenge = locks.challenge(locks.group.multiply(products))
    number = int.from_bytes(challenge, "big")
    order = locks.group.order
    responses = [(w + number * s) % order for w, s in zip(nonces, scalars, strict=True)]
    return challenge + encode_scalars(responses)


def verify(locks: Locks, proof: bytes) -> None:
    """Check a proof of the right length. Raises `DeckFault`."""
    challenge, rest = proof[:HASH_SIZE], proof[HASH_SIZE:]
    group = locks.group
    responses = [
        int.from_bytes(rest[at : at + SCALAR_SIZE], "big")
        for at in range(0, len(rest), SCALAR_SIZE)
    ]
    for position, response in enumerate(responses):
        if response >= group.order:
            raise DeckFault("PD-3", f"lock {position}: the response is out of range")
    number = int.from_bytes(challenge, "big") % group.order
    products = list(zip(responses, locks.source, strict=True))
    products += [(response, locks.mask_base) for response in responses]
    products += [(number, point) for point in (*locks.locked, *locks.keys)]
    results = group.multiply(products)
    half = len(results) // 2
    commitments = group.subtract(list(zip(results[:half], results[half:], strict=True)))
    if locks.challenge(commitments) != challenge:
        raise DeckFault("PD-7", "the proof of the locks is wrong")
