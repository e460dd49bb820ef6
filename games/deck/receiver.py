"""The receiver's side of a preparation: it sends message 1, and answers messages 2 and 4.

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
class Started:
    """Waiting for message 2, with the receiver's nonce and challenge committed."""

    group: Group
    terms: DeckTerms
    secrets: DeckSecrets = field(repr=False)

    def receive(self, message: bytes) -> tuple[Shuffled, bytes]:
        """Take the initiator's shuffle; shuffle once more, and open the challenge."""
        group, terms, secrets = self.group, self.terms, self.secrets
        fields = Fields(group, terms, 2, message)
        nonce, challenge = fields.take(HASH_SIZE), fields.take(HASH_SIZE)
        base, pack, hashes = fields.shuffle()
        deck = deck_id(terms, secrets.nonce, nonce)
        theirs = Shuffle(group, deck, b"A", card_points(group, deck), pack, base)
        ours, sent = shuffle_proof.shuffle(group, deck, b"B", pack, secrets)
        state = Shuffled(group, terms, secrets, challenge, theirs, hashes, ours)
        return state, secrets.bits + secrets.salt + sent


@dataclass(frozen=True, slots=True)
class Shuffled:
    """Waiting for message 4, with both shuffles made."""

    group: Group
    terms: DeckTerms
    secrets: DeckSecrets = field(repr=False)
    challenge: bytes
    theirs: Shuffle
    hashes: tuple[bytes, ...]
    ours: Shuffle

    def receive(self, message: bytes) -> tuple[FinishedDeck, bytes]:
        """Check the initiator's shuffle and locks; answer its challenge, and lock on top."""
        group, terms, secrets = self.group, self.terms, self.secrets
        fields = Fields(group, terms, 4, message, secrets.bits)
        bits, salt = fields.challenge()
        answers = fields.take(shuffle_proof.answers_size(secrets.bits))
        locked, keys, proof = fields.locks()
        if challenge_commitment(terms, b"A", secrets.nonce, bits, salt) != self.challenge:
            raise DeckFault("PD-6", "message 4: the challenge is not the one committed to")
        shuffle_proof.verify(self.theirs, self.hashes, secrets.bits, answers)
        deck, source = self.ours.deck, self.ours.result[: terms.positions]
        base = self.theirs.result_base
        lock_proof.verify(Locks(group, deck, b"A", base, source, locked, keys), proof)

        own_answers = shuffle_proof.answers(
            self.ours, bits, secrets.round_seeds, secrets.mask, secrets.permutation
        )
        ours, own_locks = lock_proof.lock(group, deck, b"B", self.ours.result_base, locked, secrets)
        finished = FinishedDeck(
            *(group, terms, deck, ours.locked, keys, ours.keys, False, secrets.locks)
        )
        return finished, own_answers + own_locks


def start(group: Group, terms: DeckTerms, secrets: DeckSecrets) -> tuple[Started, bytes]:
    """Start a deck: message 1."""
    commitment = challenge_commitment(terms, b"B", secrets.nonce, secrets.bits, secrets.salt)
    return Started(group, terms, secrets), terms.offer + secrets.nonce + commitment
