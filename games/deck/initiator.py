"""The initiator's side of a preparation: it answers messages 1 and 3, and checks message 5.

Each state takes the one message that may come next and returns what follows. A fault raises
`DeckFault`; the deck is then burnt, and the state with its secrets dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from channelsim.games.deck import lock_proof, shuffle_proof
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.fields import Fields
from channelsim.games.deck.finished import FinishedDeck
from channelsim.games.deck.group import Group
from channelsim.games.deck.lock_proof import Locks
from channelsim.games.deck.secrets import DeckSecrets, challenge_commitment
from channelsim.games.deck.shuffle_proof import Shuffle, shuffled
from channelsim.games.deck.terms import CARDS, HASH_SIZE, DeckTerms, card_points, deck_id


@dataclass(frozen=True, slots=True)
class Shuffled:
    """Waiting for message 3, with the initiator's shuffle sent."""

    group: Group
    terms: DeckTerms
    secrets: DeckSecrets = field(repr=False)
    receiver_nonce: bytes
    challenge: bytes
    shuffle: Shuffle

    def receive(self, message: bytes) -> tuple[Locked, bytes]:
        """Take the receiver's shuffle and its challenge; answer that, and lock the positions."""
        group, terms, secrets = self.group, self.terms, self.secrets
        half = terms.rounds // 8
        size = half + HASH_SIZE + group.point_size * (1 + CARDS) + HASH_SIZE * terms.rounds
        fields = Fields(3, message, size)
        bits, salt = fields.take(half), fields.take(HASH_SIZE)
        (base,) = fields.points(group, 1, "mask key")
        pack = fields.points(group, CARDS, "card")
        hashes = fields.each(terms.rounds, HASH_SIZE)
        if challenge_commitment(terms, b"B", self.receiver_nonce, bits, salt) != self.challenge:
            raise DeckFault("PD-6", "message 3: the challenge is not the one committed to")
        answers = shuffle_proof.answers(
            self.shuffle, bits, secrets.round_seeds, secrets.mask, secrets.permutation
        )
        inverse = pow(secrets.mask, -1, group.order)
        scalars = [lock * inverse % group.order for lock in secrets.locks]
        source = pack[: terms.positions]
        locked = group.multiply(list(zip(scalars, source, strict=True)))
        keys = group.multiply([(lock, group.base) for lock in secrets.locks])
        deck = self.shuffle.deck
        locks = Locks(group, deck, b"A", self.shuffle.result_base, source, locked, keys)
        proof = lock_proof.prove(locks, scalars, secrets.lock_nonces)
        theirs = Shuffle(group, deck, b"B", self.shuffle.result, pack, base)
        state = Locked(group, terms, theirs, tuple(hashes), secrets.bits, locks, secrets.locks)
        return state, b"".join((secrets.bits, secrets.salt, answers, *locked, *keys, proof))


@dataclass(frozen=True, slots=True)
class Locked:
    """Waiting for message 5, with the initiator's locks sent."""

    group: Group
    terms: DeckTerms
    shuffle: Shuffle
    hashes: tuple[bytes, ...]
    bits: bytes
    locks: Locks
    own_locks: tuple[int, ...] = field(repr=False)

    def receive(self, message: bytes) -> FinishedDeck:
        """Check the receiver's shuffle and its locks; the deck is finished."""
        group, positions = self.group, self.terms.positions
        answered = shuffle_proof.answers_size(self.bits)
        proof_size = lock_proof.proof_size(positions)
        size = answered + 2 * positions * group.point_size + proof_size
        fields = Fields(5, message, size)
        answers = fields.take(answered)
        points = fields.points(group, positions, "locked card")
        keys = fields.points(group, positions, "key")
        shuffle_proof.verify(self.shuffle, self.hashes, self.bits, answers)
        mask_base = self.shuffle.result_base
        deck = self.shuffle.deck
        locks = Locks(group, deck, b"B", mask_base, self.locks.locked, points, keys)
        lock_proof.verify(locks, fields.take(proof_size))
        ours = tuple(self.locks.keys)
        return FinishedDeck(group, self.terms, deck, points, ours, keys, True, self.own_locks)


def answer(
    group: Group, terms: DeckTerms, secrets: DeckSecrets, message: bytes
) -> tuple[Shuffled, bytes]:
    """Answer message 1, which must repeat these terms, with the initiator's shuffle."""
    size = len(terms.offer) + 2 * HASH_SIZE
    fields = Fields(1, message, size)
    if fields.take(len(terms.offer)) != terms.offer:
        raise DeckFault("PD-8", "message 1: these are not the agreed terms")
    nonce, challenge = fields.take(HASH_SIZE), fields.take(HASH_SIZE)
    deck = deck_id(terms, nonce, secrets.nonce)
    source = card_points(group, deck)
    pack, base = shuffled(group, source, secrets.mask, secrets.permutation)
    shuffle = Shuffle(group, deck, b"A", source, pack, base)
    hashes = shuffle_proof.round_hashes(shuffle, secrets.round_seeds)
    ours = challenge_commitment(terms, b"A", nonce, secrets.bits, secrets.salt)
    state = Shuffled(group, terms, secrets, nonce, challenge, shuffle)
    return state, b"".join((secrets.nonce, ours, base, *pack, *hashes))
