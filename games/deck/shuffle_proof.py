"""The proof of a shuffle by cut and choose.

The prover knows a mask m and a permutation p such that `result[i] = m·source[p[i]]` and
`result_base = m·base`. In each round it masks and permutes the result once more and sends only a
hash. A bit of the challenge then asks for the second step alone or for both steps joined: a prover
without m and p can answer one of the two at most.

Source: spec/deck.md, "The proof of a shuffle".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import SCALAR_SIZE, Group, multiplied_to_hash
from channelsim.games.deck.secrets import DeckSecrets, bit, encode_scalars, permutation, seed_mask
from channelsim.games.deck.terms import CARDS, tagged_hash

SEED_SIZE = 32


@dataclass(frozen=True, slots=True)
class Shuffle:
    """The statement of a proof: `result` is `source`, masked and permuted by one `prover`.

    `prover` is the byte `A` or `B`; `result_base` is the group's base under the same mask.
    """

    group: Group
    deck: bytes
    prover: bytes
    source: Sequence[bytes]
    result: Sequence[bytes]
    result_base: bytes

    def digest(self) -> bytes:
        """The hash of the statement, which enters every round."""
        points = (*self.source, *self.result, self.result_base)
        return tagged_hash("shuffle", self.deck, self.prover, *points)


def shuffled(
    group: Group, source: Sequence[bytes], mask: int, order: Sequence[int]
) -> tuple[tuple[bytes, ...], bytes]:
    """Mask and permute a pack; also return the base under this mask."""
    *result, base = group.multiply([*((mask, source[at]) for at in order), (mask, group.base)])
    return tuple(result), base


def shuffle(
    group: Group, deck: bytes, prover: bytes, source: Sequence[bytes], secrets: DeckSecrets
) -> tuple[Shuffle, bytes]:
    """Shuffle a pack with the prover's secrets; return the fields of a message."""
    result, base = shuffled(group, source, secrets.mask, secrets.permutation)
    statement = Shuffle(group, deck, prover, source, result, base)
    return statement, b"".join((base, *result, *round_hashes(statement, secrets.round_seeds)))


def round_hashes(shuffle: Shuffle, seeds: Sequence[bytes]) -> list[bytes]:
    """The hash of each round, from its seed: the prover's first message."""
    digest = shuffle.digest()
    steps = [_seeded(shuffle, number, seed) for number, seed in enumerate(seeds)]
    return _round_hashes(shuffle, digest, steps)


def answers(
    shuffle: Shuffle, bits: bytes, seeds: Sequence[bytes], mask: int, order: Sequence[int]
) -> bytes:
    """The prover's answers to a challenge, one round after the other."""
    answered = []
    for number, seed in enumerate(seeds):
        if not bit(bits, number):
            answered.append(seed)
            continue
        joined = mask * seed_mask(shuffle.group, seed) % shuffle.group.order
        answered.append(encode_scalars([joined]) + bytes(order[at] for at in permutation(seed)))
    return b"".join(answered)


def answers_size(bits: bytes) -> int:
    """The bytes of all answers to a challenge."""
    joined = sum(byte.bit_count() for byte in bits)
    return len(bits) * 8 * SEED_SIZE + joined * (SCALAR_SIZE + CARDS - SEED_SIZE)


def verify(shuffle: Shuffle, hashes: Sequence[bytes], bits: bytes, given: bytes) -> None:
    """Check the answers, of the right length in all, to a challenge. Raises `DeckFault`."""
    digest = shuffle.digest()
    steps, fault, at = list[_Step](), None, 0
    for number in range(len(hashes)):
        if bit(bits, number):
            end = at + SCALAR_SIZE + CARDS
            try:
                steps.append(_joined(shuffle, number, given[at:end]))
            except DeckFault as wrong:
                fault = wrong
                break
        else:
            end = at + SEED_SIZE
            steps.append(_seeded(shuffle, number, given[at:end]))
        at = end
    for number, recomputed in enumerate(_round_hashes(shuffle, digest, steps)):
        if recomputed != hashes[number]:
            raise DeckFault("PD-5", f"round {number} of the shuffle's proof does not fit its hash")
    if fault is not None:
        raise fault


_Step = tuple[int, int, list[bytes]]
"""The step of a round: its number, its mask, and the points that it masks, in its order."""


def _seeded(shuffle: Shuffle, number: int, seed: bytes) -> _Step:
    """The step from the result, by the round's seed."""
    mask = seed_mask(shuffle.group, seed)
    return number, mask, [*(shuffle.result[at] for at in permutation(seed)), shuffle.result_base]


def _joined(shuffle: Shuffle, number: int, answer: bytes) -> _Step:
    """The step from the source, both steps joined. Raises `DeckFault`."""
    mask = int.from_bytes(answer[:SCALAR_SIZE], "big")
    if not 0 < mask < shuffle.group.order:
        raise DeckFault("PD-3", f"round {number}: the scalar is out of range")
    order = answer[SCALAR_SIZE:]
    if sorted(order) != list(range(CARDS)):
        raise DeckFault("PD-4", f"round {number}: the positions are no permutation")
    return number, mask, [*(shuffle.source[at] for at in order), shuffle.group.base]


def _round_hashes(shuffle: Shuffle, digest: bytes, steps: Sequence[_Step]) -> list[bytes]:
    """The hash of each round. All are multiplied at once, as they are multiples of few points."""
    products = [(mask, point) for _, mask, points in steps for point in points]
    masked = iter(multiplied_to_hash(shuffle.group, products))
    return [
        tagged_hash("round", digest, bytes((number,)), *islice(masked, len(points)))
        for number, _, points in steps
    ]
