"""Hidden values: drawn from a player's secret bytes, or from the seed of a lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256

import pytest

from channelsim.games import registry
from channelsim.games.chance import Chance
from channelsim.games.contract import Game, Hidden, Player, Seat, Terms
from channelsim.games.errors import BadLie
from channelsim.games.hidden import LARGEST, Lies, hidden_values, seated
from channelsim.plugins import WrongAnswer

ENTROPY = bytes(range(32))
BOARD = Hidden(
    "board", lambda chance: chance.bytes(8), lambda chance, legal: legal[:-1] + chance.bytes(1)
)
KEY = Hidden("key", lambda chance: b"key", lambda chance, legal: b"no " + legal, (Seat.BOB,))
PLAIN = registry.get("calpoker")
GAME = replace(PLAIN, hidden=(BOARD, KEY))
TERMS = PLAIN.terms(PLAIN.default_parameters(1, 10))


def test_a_truthful_value_is_drawn_from_the_secret_bytes() -> None:
    drawn = Chance(sha256(b"hidden/board" + ENTROPY).digest()).bytes(8)
    assert hidden_values(GAME, Seat.BOB, ENTROPY) == {"board": drawn, "key": b"key"}
    assert hidden_values(GAME, Seat.BOB, ENTROPY[1:])["board"] != drawn


def test_a_lie_is_drawn_from_its_seed_and_the_truthful_value() -> None:
    truth = hidden_values(GAME, Seat.BOB, ENTROPY)
    lie = hidden_values(GAME, Seat.BOB, ENTROPY, (("board", b"seed"),))
    assert lie == {"board": truth["board"][:-1] + Chance(b"seed").bytes(1), "key": b"key"}
    assert lie["board"] != truth["board"]
    assert hidden_values(GAME, Seat.BOB, ENTROPY, (("key", b""),))["key"] == b"no key"


def test_a_seat_hides_its_own_values_only() -> None:
    assert set(hidden_values(GAME, Seat.ALICE, ENTROPY)) == {"board"}
    assert hidden_values(PLAIN, Seat.ALICE, ENTROPY) == {}


@pytest.mark.parametrize(
    ("game", "lies", "reason"),
    [
        (GAME, (("bord", b""),), "Alice of the game calpoker hides board, not 'bord'"),
        (GAME, (("key", b""),), "Alice of the game calpoker hides board, not 'key'"),
        (PLAIN, (("board", b""),), "Alice of the game calpoker hides nothing, not 'board'"),
        (GAME, (("board", b"a"), ("board", b"b")), "two lies are about one hidden value"),
    ],
)
def test_a_lie_about_nothing_hidden_is_refused(game: Game, lies: Lies, reason: str) -> None:
    with pytest.raises(BadLie) as refusal:
        seated(game, Seat.ALICE, TERMS, ENTROPY, lies)
    assert str(refusal.value) == reason


def test_a_player_gets_what_it_hides_only_in_a_game_that_hides() -> None:
    def player(seat: Seat, terms: Terms, entropy: bytes, *values: Mapping[str, bytes]) -> Player:
        calls.append((seat, entropy, *values))
        return PLAIN.player(seat, terms, entropy)

    calls: list[tuple[object, ...]] = []
    seated(replace(PLAIN, player=player), Seat.BOB, TERMS, ENTROPY)
    seated(replace(GAME, player=player), Seat.BOB, TERMS, ENTROPY, (("key", b""),))
    board = hidden_values(GAME, Seat.BOB, ENTROPY)["board"]
    assert calls == [(Seat.BOB, ENTROPY), (Seat.BOB, ENTROPY, {"board": board, "key": b"no key"})]


def raises(chance: Chance) -> bytes:
    raise KeyError("ship")


@pytest.mark.parametrize(
    ("legal", "reason"),
    [
        (lambda chance: "ships", "not bytes (the hidden value board of the game calpoker)"),
        (lambda chance: bytes(LARGEST + 1), "more than 65,536 bytes (the hidden value board of"),
        (lambda: b"", "cannot be called"),
        (raises, "raised KeyError: 'ship'"),
    ],
)
def test_a_wrong_draw_is_one_line(legal: Callable[..., bytes], reason: str) -> None:
    game = replace(PLAIN, hidden=(replace(BOARD, legal=legal),))
    with pytest.raises(WrongAnswer) as failure:
        hidden_values(game, Seat.ALICE, ENTROPY)
    assert reason in str(failure.value)
    assert len(str(failure.value).splitlines()) == 1
    lying = replace(BOARD, possible=lambda chance, value: legal(chance))
    with pytest.raises(WrongAnswer):
        hidden_values(replace(PLAIN, hidden=(lying,)), Seat.ALICE, ENTROPY, (("board", b""),))


def test_a_value_of_the_largest_size_is_drawn() -> None:
    game = replace(PLAIN, hidden=(replace(BOARD, legal=lambda chance: bytes(LARGEST)),))
    assert hidden_values(game, Seat.ALICE, ENTROPY) == {"board": bytes(LARGEST)}
