"""The states of California Poker's five validators.

`commit` and `discard_commit` are Alice's, `seed` and `bob_mask` are Bob's. `read` takes the CLVM
form and raises `BadState` for any other shape.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import msgspec

from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, HAND, PACK, Cards, Hands
from channelsim.games.errors import BadState
from channelsim.games.reading import read_bytes, read_int, read_list


class StateA(msgspec.Struct, frozen=True, gc=False):
    """Alice's commitment is next. CLVM: `()`."""

    def value(self) -> Value:
        """The CLVM form."""
        return NIL

    @staticmethod
    def read(value: Value) -> StateA:
        """The state of this CLVM form."""
        read_list(value, 0, "state of a")
        return StateA()


class StateB(msgspec.Struct, frozen=True, gc=False):
    """Bob's seed is next. CLVM: the atom `commit`, the hash of Alice's preimage."""

    commit: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return self.commit

    @staticmethod
    def read(value: Value) -> StateB:
        """The state of this CLVM form."""
        return StateB(read_bytes(value, "commit", 32))


class StateC(msgspec.Struct, frozen=True, gc=False):
    """Alice's preimage and committed discards are next. CLVM: `(commit seed)`."""

    commit: bytes
    seed: bytes

    def value(self) -> Value:
        """The CLVM form."""
        return to_list((self.commit, self.seed))

    @staticmethod
    def read(value: Value) -> StateC:
        """The state of this CLVM form."""
        commit, seed = read_list(value, 2, "state of c")
        return StateC(read_bytes(commit, "commit", 32), read_bytes(seed, "seed", 16))


class StateD(msgspec.Struct, frozen=True, gc=False):
    """Bob's discards are next. CLVM: `(discard_commit alice_cards bob_cards)`."""

    discard_commit: bytes
    alice_cards: Cards
    bob_cards: Cards

    @property
    def hands(self) -> Hands:
        """Both hands as they were dealt."""
        return self.alice_cards, self.bob_cards

    def value(self) -> Value:
        """The CLVM form."""
        cards = _cards_value(self.alice_cards), _cards_value(self.bob_cards)
        return to_list((self.discard_commit, *cards))

    @staticmethod
    def read(value: Value) -> StateD:
        """The state of this CLVM form."""
        commit, alice, bob = read_list(value, 3, "state of d")
        return StateD(read_bytes(commit, "discard_commit", 32), *_read_hands(alice, bob))


class StateE(msgspec.Struct, frozen=True, gc=False):
    """Alice's reveal is next. CLVM: `(bob_mask alice_cards bob_cards discard_commit)`.

    In CLVM `bob_mask` is a byte, here the number in it.
    """

    bob_mask: int
    alice_cards: Cards
    bob_cards: Cards
    discard_commit: bytes

    @property
    def hands(self) -> Hands:
        """Both hands as they were dealt."""
        return self.alice_cards, self.bob_cards

    def value(self) -> Value:
        """The CLVM form."""
        cards = _cards_value(self.alice_cards), _cards_value(self.bob_cards)
        return to_list((bytes([self.bob_mask]), *cards, self.discard_commit))

    @staticmethod
    def read(value: Value) -> StateE:
        """The state of this CLVM form."""
        mask, alice, bob, commit = read_list(value, 4, "state of e")
        (bob_mask,) = read_bytes(mask, "bob_mask", 1)
        if bob_mask not in FOUR_OF_EIGHT:
            raise BadState("bob_mask: not four of eight bits")
        hands = _read_hands(alice, bob)
        return StateE(bob_mask, *hands, read_bytes(commit, "discard_commit", 32))


CalPokerState: TypeAlias = StateA | StateB | StateC | StateD | StateE
"""Any state of a game that is not over."""


def _cards_value(cards: Cards) -> Value:
    return to_list([int_to_atom(card) for card in cards])


def _read_hands(alice: Value, bob: Value) -> Hands:
    """Both hands, which have no card in common."""
    hands = _read_cards(alice, "alice_cards"), _read_cards(bob, "bob_cards")
    if not set(hands[0]).isdisjoint(hands[1]):
        raise BadState("bob_cards: one of them is Alice's")
    return hands


def _read_cards(value: Value, what: str) -> Cards:
    cards = tuple(read_int(card, what, 0, PACK - 1) for card in read_list(value, HAND, what))
    if any(low >= high for low, high in pairwise(cards)):
        raise BadState(f"{what}: not ascending")
    return cards
