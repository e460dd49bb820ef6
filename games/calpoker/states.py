"""The states of California Poker's five validators.

`commit` and `discard_commit` are Alice's, `seed` and `bob_mask` are Bob's. `read` takes the CLVM
form and raises `BadState` for any other shape.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, HAND, PACK, Cards, Hands
from channelsim.games.errors import BadState
from channelsim.games.forms import ByteIn, Integer, ListOf
from channelsim.games.states import Bytes16, Bytes32, PlainState

HandCards: TypeAlias = Annotated[Cards, ListOf(Integer(0, PACK - 1), HAND, HAND, ascending=True)]
"""The eight cards of a player, a list in CLVM."""

Discards: TypeAlias = Annotated[int, ByteIn(FOUR_OF_EIGHT, "four of eight bits")]
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

    def check_fields(self) -> None:
        """Raise `BadState` if a card comes twice."""
        _check_different(self.hands)


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

    def check_fields(self) -> None:
        """Raise `BadState` if a card comes twice."""
        _check_different(self.hands)


CalPokerState: TypeAlias = StateA | StateB | StateC | StateD | StateE
"""Any state of a game that is not over."""


def _check_different(hands: Hands) -> None:
    if not set(hands[0]).isdisjoint(hands[1]):
        raise BadState("bob_cards: one of them is Alice's")
