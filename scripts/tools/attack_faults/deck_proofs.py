"""Faults in the checks of a deck's proofs, which only a deck that is prepared falsely shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from channelsim.games.deck import initiator, lock_proof, receiver, shuffle_proof
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.fields import Fields
from channelsim.games.deck.secrets import bit, challenge_commitment
from scripts.tools.attack_faults.planting import Fault, Planting, function, where_it_fails

# --- shuffles ------------------------------------------------------------------------------------


def _believed(right: Any, *given: Any) -> None:
    return None


def _first_round(right: Any, shuffle: Any, hashes: Any, bits: bytes, given: bytes) -> None:
    right(shuffle, hashes[:1], bits, given)


def _seeded_rounds(right: Any, shuffle: Any, hashes: Any, bits: bytes, given: bytes) -> None:
    """Check up to the first round that the challenge asks to be joined."""
    joined = [number for number in range(len(hashes)) if bit(bits, number)]
    right(shuffle, hashes[: min(joined, default=len(hashes))], bits, given)


# --- challenges ----------------------------------------------------------------------------------


def _any_challenge_of_receiver(right: Any, stage: initiator.Shuffled, message: bytes) -> Any:
    bits, salt = Fields(stage.group, stage.terms, 3, message).challenge()
    committed = challenge_commitment(stage.terms, b"B", stage.receiver_nonce, bits, salt)
    return right(replace(stage, challenge=committed), message)


def _any_challenge_of_initiator(right: Any, stage: receiver.Shuffled, message: bytes) -> Any:
    own = stage.secrets
    bits, salt = Fields(stage.group, stage.terms, 4, message, own.bits).challenge()
    committed = challenge_commitment(stage.terms, b"A", own.nonce, bits, salt)
    return right(replace(stage, challenge=committed), message)


# --- the table -----------------------------------------------------------------------------------


def _checked(module: Any, wrong: Any) -> Planting:
    return where_it_fails(module, "verify", function(module, "verify", wrong), DeckFault)


def _unlike_commitment(stage: Any, wrong: Any) -> Planting:
    return where_it_fails(stage, "receive", function(stage, "receive", wrong), DeckFault)


DECK_PROOFS = (
    Fault(
        "believes-shuffles",
        "decks",
        "the proof of a shuffle is believed",
        _checked(shuffle_proof, _believed),
    ),
    Fault(
        "checks-one-round",
        "decks",
        "only the first round of a shuffle's proof is checked",
        _checked(shuffle_proof, _first_round),
    ),
    Fault(
        "checks-seeded-rounds",
        "decks",
        "a shuffle's proof is checked up to the first round that joins both steps",
        _checked(shuffle_proof, _seeded_rounds),
    ),
    Fault(
        "believes-locks",
        "decks",
        "the proof of locks is believed",
        _checked(lock_proof, _believed),
    ),
    Fault(
        "takes-any-challenge-as-initiator",
        "decks",
        "the initiator takes another challenge than the receiver committed to",
        _unlike_commitment(initiator.Shuffled, _any_challenge_of_receiver),
    ),
    Fault(
        "takes-any-challenge-as-receiver",
        "decks",
        "the receiver takes another challenge than the initiator committed to",
        _unlike_commitment(receiver.Shuffled, _any_challenge_of_initiator),
    ),
)
"""Faults of this kind."""
