"""What a hand starts from: secret bytes, and a deck for a game that is played with one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Seat
from channelsim.games.dealing import FRESH_SIZE, deal, secret_size
from channelsim.games.deck.finished import read_opening
from channelsim.games.deck.group import SCALAR_SIZE, real_group

GAME = registry.get("spacepoker")
TERMS = GAME.terms(GAME.default_parameters(100, 10))
POSITIONS = 3


def test_a_game_without_a_deck_draws_secret_bytes_only() -> None:
    drawn = Chance(b"seed")
    expected = drawn.bytes(64), drawn.bytes(64)
    assert deal(GAME, TERMS, Chance(b"seed")) == (TERMS, expected)


@pytest.mark.parametrize("seed", [b"first", b"second", b"third"])
def test_a_player_holds_the_scalars_of_its_own_locks(seed: bytes) -> None:
    game = replace(GAME, deck_positions=POSITIONS)
    terms, entropies = deal(game, TERMS, Chance(seed))
    deck = terms.deck
    assert deck is not None
    assert replace(terms, deck=None) == TERMS
    assert len(deck.locks) == POSITIONS
    for seat in Seat:
        secret = entropies[seat]
        assert len(secret) == POSITIONS * SCALAR_SIZE + FRESH_SIZE == secret_size(game)
        for number, (_, initiators_key, receivers_key) in enumerate(deck.locks):
            key = initiators_key if seat is deck.initiator else receivers_key
            read_opening(real_group(), key, secret[number * SCALAR_SIZE :][:SCALAR_SIZE])
    assert deal(game, TERMS, Chance(seed)) == (terms, entropies)


def test_either_seat_may_be_the_channels_initiator() -> None:
    game = replace(GAME, deck_positions=1)
    dealt = (deal(game, TERMS, Chance(bytes((number,))))[0].deck for number in range(8))
    assert {deck.initiator for deck in dealt if deck is not None} == set(Seat)
