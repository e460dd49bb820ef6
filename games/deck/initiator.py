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
from channelsim.games.deck.shuffle_proof import Shuffle
from channelsim.games.deck.terms import HASH_SIZE, DeckTerms, card_points, deck_id


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
        fields = Fields(group, terms, 3, message)
        bits, salt = fields.challenge()
        base, pack, hashes = fields.shuffle()
        if challenge_commitment(terms, b"B", self.receiver_nonce, bits, salt) != self.challenge:
            raise DeckFault("PD-6", "message 3: the challenge is not the one committed to")
        answers = shuffle_proof.answers(
            self.shuffle, bits, secrets.round_seeds, secrets.mask, secrets.permutation
        )
        deck, source = self.shuffle.deck, pack[: terms.positions]
        locks, locked = lock_proof.lock(
            group, deck, b"A", self.shuffle.result_base, source, secrets
        )
        theirs = Shuffle(group, deck, b"B", self.shuffle.result, pack, base)
        state = Locked(group, terms, theirs, hashes, secrets.bits, locks, secrets.locks)
        return state, b"".join((secrets.bits, secrets.salt, answers, locked))


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
        group, terms, deck = self.group, self.terms, self.shuffle.deck
        fields = Fields(group, terms, 5, message, self.bits)
        answers = fields.take(shuffle_proof.answers_size(self.bits))
        points, keys, proof = fields.locks()
        shuffle_proof.verify(self.shuffle, self.hashes, self.bits, answers)
        base = self.shuffle.result_base
        lock_proof.verify(Locks(group, deck, b"B", base, self.locks.locked, points, keys), proof)
        ours = self.locks.keys
        return FinishedDeck(group, terms, deck, points, ours, keys, True, self.own_locks)


def answer(
    group: Group, terms: DeckTerms, secrets: DeckSecrets, message: bytes
) -> tuple[Shuffled, bytes]:
    """Answer message 1, which must repeat these terms, with the initiator's shuffle."""
    fields = Fields(group, terms, 1, message)
    if fields.take(len(terms.offer)) != terms.offer:
        raise DeckFault("PD-8", "message 1: these are not the agreed terms")
    nonce, challenge = fields.take(HASH_SIZE), fields.take(HASH_SIZE)
    deck = deck_id(terms, nonce, secrets.nonce)
    shuffle, sent = shuffle_proof.shuffle(group, deck, b"A", card_points(group, deck), secrets)
    ours = challenge_commitment(terms, b"A", nonce, secrets.bits, secrets.salt)
    return Shuffled(group, terms, secrets, nonce, challenge, shuffle), secrets.nonce + ours + sent
