"""The states of California Poker's five validators.

`commit` and `discard_commit` are Alice's, `seed` and `bob_mask` are Bob's. `read` takes the CLVM
form and raises `BadState` for any other shape.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Self, TypeAlias

from channelsim.clsp.integers import int_to_atom
from channelsim.clsp.values import Value, to_list
from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, HAND, PACK, Cards, Hands
from channelsim.games.errors import BadState
from channelsim.games.reading import read_bytes, read_int, read_list
from channelsim.games.states import Bytes16, Bytes32, Form, PlainState


def _write_cards(cards: Cards) -> Value:
    return to_list([int_to_atom(card) for card in cards])


def _read_cards(value: Value, name: str) -> Cards:
    cards = tuple(read_int(card, name, 0, PACK - 1) for card in read_list(value, HAND, name))
    if any(low >= high for low, high in pairwise(cards)):
        raise BadState(f"{name}: not ascending")
    return cards


def _read_mask(value: Value, name: str) -> int:
    (mask,) = read_bytes(value, name, 1)
    if mask not in FOUR_OF_EIGHT:
        raise BadState(f"{name}: not four of eight bits")
    return mask


HandCards: TypeAlias = Annotated[Cards, Form(_write_cards, _read_cards)]
"""The eight cards of a player, a list in CLVM."""

Discards: TypeAlias = Annotated[int, Form(lambda mask: bytes([mask]), _read_mask)]
"""The mask of four of eight cards, a byte in CLVM."""


class StateA(PlainState, frozen=True):
    """Alice's commitment is next. CLVM: `()`."""


class StateB(PlainState, frozen=True):
    """Bob's seed is next. CLVM: the atom `commit`, the hash of Alice's preimage."""

    commit: Bytes32


class StateC(PlainState, frozen=True):
    """Alice's preimage and committed discards are next. CLVM: `(commit seed)`."""

    commit: Bytes32
    seed: Bytes16


class StateD(PlainState, frozen=True):
    """Bob's discards are next. CLVM: `(discard_commit alice_cards bob_cards)`."""

    discard_commit: Bytes32
    alice_cards: HandCards
    bob_cards: HandCards

    @property
    def hands(self) -> Hands:
        """Both hands as they were dealt."""
        return self.alice_cards, self.bob_cards

    @classmethod
    def read(cls, value: Value) -> Self:
        """The state of this CLVM form, in which no card comes twice."""
        state = super().read(value)
        _check_different(state.hands)
        return state


class StateE(PlainState, frozen=True):
    """Alice's reveal is next. CLVM: `(bob_mask alice_cards bob_cards discard_commit)`."""

    bob_mask: Discards
    alice_cards: HandCards
    bob_cards: HandCards
    discard_commit: Bytes32

    @property
    def hands(self) -> Hands:
        """Both hands as they were dealt."""
        return self.alice_cards, self.bob_cards

    @classmethod
    def read(cls, value: Value) -> Self:
        """The state of this CLVM form, in which no card comes twice."""
        state = super().read(value)
        _check_different(state.hands)
        return state


CalPokerState: TypeAlias = StateA | StateB | StateC | StateD | StateE
"""Any state of a game that is not over."""


def _check_different(hands: Hands) -> None:
    if not set(hands[0]).isdisjoint(hands[1]):
        raise BadState("bob_cards: one of them is Alice's")
