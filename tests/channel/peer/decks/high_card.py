"""The smallest game with hidden cards: one card each, and the higher one wins the pot.

Position 0 is Alice's card and position 1 Bob's. It is played in the toy group, so that a deck takes
30 ms to prepare; it has no programs, so that its rules decide alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import pytest
from msgspec.structs import replace

from channelsim.clsp.values import Value
from channelsim.games import registry
from channelsim.games.contract import (
    Atom,
    Bytes32,
    Forced,
    Game,
    Hashes,
    Initial,
    Integer,
    Moves,
    Next,
    Parameters,
    Plain,
    PlainPlayer,
    PlainState,
    Play,
    Seat,
    Settle,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
    even_terms,
)
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.finished import check_card, read_opening
from channelsim.games.errors import BadTerms
from tests.games.deck.toy_group import ToyGroup

TOY = ToyGroup()
POSITIONS = 2
RULES = {
    "HIGH-TERMS-1": "A proposal has the parameter `amount`, and names a deck.",
    "HIGH-DEAL-1": "Alice opens her lock of Bob's card.",
    "HIGH-ANSWER-1": "Bob opens his lock of Alice's card.",
    "HIGH-SHOW-1": "Alice opens her own card, and claims it.",
    "HIGH-END-1": "Bob opens his own card and claims it, and declares what is due.",
}


class Hand(PlainState, frozen=True):
    """The deck, and the scalars and the card that are open so far."""

    deck_id: Bytes32
    locks: Annotated[bytes, Atom(3 * POSITIONS * TOY.point_size)]
    initiator: Annotated[int, Integer(0, 1)]
    of_bobs: Bytes32
    of_alices: Bytes32
    alices_card: Annotated[int, Integer(0, 255)]

    def point(self, position: int, which: int) -> bytes:
        """D, K or L of a position."""
        at = (3 * position + which) * TOY.point_size
        return self.locks[at : at + TOY.point_size]

    def opens(self, seat: Seat, position: int, scalar: bytes) -> bool:
        """True if a scalar is this seat's lock of a position."""
        try:
            read_opening(TOY, self.point(position, 1 if seat == self.initiator else 2), scalar)
        except DeckFault:
            return False
        return True

    def shows(self, position: int, scalars: tuple[bytes, bytes], card: int) -> bool:
        """True if a card is the one behind two locks."""
        numbers = [int.from_bytes(scalar, "big") for scalar in scalars]
        try:
            check_card(TOY, self.deck_id, self.point(position, 0), numbers, card)
        except DeckFault:
            return False
        return True


def deal(
    state: Hand, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if not state.opens(Seat.ALICE, 1, move) or share * 2 != amount:
        return Slash("HIGH-DEAL-1")
    return Valid(Next("answer", replace(state, of_bobs=move), 32))


def answer(
    state: Hand, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if not state.opens(Seat.BOB, 0, move) or share * 2 != amount:
        return Slash("HIGH-ANSWER-1")
    return Valid(Next("show", replace(state, of_alices=move), 33))


def show(
    state: Hand, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if (
        len(move) != 33
        or not state.opens(Seat.ALICE, 0, move[:32])
        or not state.shows(0, (move[:32], state.of_alices), move[32])
        or share * 2 != amount
    ):
        return Slash("HIGH-SHOW-1")
    return Valid(Next("end", replace(state, alices_card=move[32]), 33))


def end(
    state: Hand, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if (
        len(move) != 33
        or not state.opens(Seat.BOB, 1, move[:32])
        or not state.shows(1, (move[:32], state.of_bobs), move[32])
        or share != (amount if state.alices_card > move[32] else 0)
    ):
        return Slash("HIGH-END-1")
    return Valid(None)


def terms(parameters: Parameters) -> Terms:
    return even_terms("highcard", parameters, "HIGH-TERMS-1")


def initial(terms: Terms) -> Initial:
    if terms.deck is None:
        raise BadTerms("HIGH-TERMS-1: no deck")
    locks = b"".join(point for triple in terms.deck.locks for point in triple)
    initiator = int(terms.deck.initiator)
    state = Hand(terms.deck.deck_id, locks, initiator, bytes(32), bytes(32), 0)
    return Initial("deal", state, 32, terms.stakes[0])


def card(state: Hand, position: int, ours: bytes, theirs: bytes) -> int:
    return next(card for card in range(52) if state.shows(position, (ours, theirs), card))


def moves(player: PlainPlayer) -> Moves:
    state, stake = player.position.state, player.terms.stakes[0]
    assert isinstance(state, Hand)
    own = [player.secret[:32], player.secret[32:64]]
    match player.position.validator:
        case "deal":
            return {Forced("open"): Play(own[1], stake)}
        case "answer":
            return {Plain("call"): Play(own[0], stake), Plain("fold"): Settle()}
        case "show":
            mine = card(state, 0, own[0], state.of_alices)
            return {Forced("show"): Play(own[0] + bytes((mine,)), stake)}
        case _:
            mine = card(state, 1, own[1], state.of_bobs)
            share = 2 * stake if state.alices_card > mine else 0
            return {Forced("show"): Play(own[1] + bytes((mine,)), share)}


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    return PlainPlayer(seat, terms, initial(terms).position, entropy, moves)


GAME = Game(
    name="highcard",
    validators=by_name(
        Validator("deal", deal, Hand.form),
        Validator("answer", answer, Hand.form),
        Validator("show", show, Hand.form),
        Validator("end", end, Hand.form),
    ),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=32 * POSITIONS + 32,
    deck_positions=POSITIONS,
)


@contextmanager
def registered() -> Iterator[Game]:
    """Have the registry know this game."""
    get, names = registry.get, registry.names
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "get", lambda name: GAME if name == GAME.name else get(name))
        patch.setattr(registry, "names", lambda: (*names(), GAME.name))
        yield GAME
