"""The referee's timeout and move rules, each met and each broken, by running the puzzle."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from channelsim.clsp.run import ProgramRaised
from channelsim.clsp.values import NIL, Value, to_list, tree_hash
from tests.clsp.coins import (
    AGG_SIG_ME,
    ASSERT_BEFORE_HEIGHT_RELATIVE,
    ASSERT_HEIGHT_RELATIVE,
    CREATE_COIN,
    Game,
    payment,
)

GAME = Game()
OVER = replace(GAME, infohash_b=NIL, max_move_size=NIL)
MOVERS_ADDRESS, WAITERS_ADDRESS = b"\x01" * 32, b"\x02" * 32
INFOHASH_C = b"\xc0" * 32


def refused(spend: Callable[..., object], *solution: Value) -> None:
    with pytest.raises(ProgramRaised):
        spend(*solution)


# --- timeout ---------------------------------------------------------------------------------


def test_timeout_pays_both_after_the_timeout() -> None:
    assert GAME.spend(MOVERS_ADDRESS, WAITERS_ADDRESS) == [
        [ASSERT_HEIGHT_RELATIVE, b"\x0f"],
        *payment(GAME.mover, MOVERS_ADDRESS, 60),
        *payment(GAME.waiter, WAITERS_ADDRESS, 140),
    ]


@pytest.mark.parametrize("game", [GAME, OVER], ids=["playing", "over"])
def test_a_timeout_makes_no_coin_for_a_share_of_zero(game: Game) -> None:
    lock = [ASSERT_HEIGHT_RELATIVE, b"\x0f"]
    nothing, everything = replace(game, share=0), replace(game, share=200)
    assert nothing.spend(NIL, WAITERS_ADDRESS) == [
        lock,
        *payment(game.waiter, WAITERS_ADDRESS, 200),
    ]
    assert everything.spend(MOVERS_ADDRESS, NIL) == [
        lock,
        *payment(game.mover, MOVERS_ADDRESS, 200),
    ]


@pytest.mark.parametrize("share", [0, 60, 200])
@pytest.mark.parametrize("movers", [MOVERS_ADDRESS, NIL])
@pytest.mark.parametrize("waiters", [WAITERS_ADDRESS, NIL])
def test_exactly_a_share_of_zero_has_no_address(share: int, movers: bytes, waiters: bytes) -> None:
    """REF-TIMEOUT-2."""
    game = replace(GAME, share=share)
    if (share == 0) == (movers == NIL) and (share == 200) == (waiters == NIL):
        assert game.spend(movers, waiters)
    else:
        refused(game.spend, movers, waiters)


@pytest.mark.parametrize(
    "solution",
    [
        NIL,
        to_list([MOVERS_ADDRESS]),
        (MOVERS_ADDRESS, WAITERS_ADDRESS),
        (MOVERS_ADDRESS, (WAITERS_ADDRESS, b"\x01")),
        to_list([MOVERS_ADDRESS, WAITERS_ADDRESS, NIL]),
        to_list([(MOVERS_ADDRESS, NIL), WAITERS_ADDRESS]),
        to_list([MOVERS_ADDRESS, (WAITERS_ADDRESS, NIL)]),
    ],
)
def test_timeout_takes_two_addresses_and_nothing_else(solution: Value) -> None:
    """REF-TIMEOUT-1."""
    refused(GAME.spend_raw, solution)


# --- move ------------------------------------------------------------------------------------

MOVE: tuple[bytes, bytes, bytes, bytes] = (b"new move", INFOHASH_C, b"\x32", b"\x11")


def test_a_move_makes_the_next_coin() -> None:
    """REF-MOVE-10; no part of the next coin is the spender's to choose but the move's four."""
    assert GAME.spend(*MOVE) == [
        [ASSERT_BEFORE_HEIGHT_RELATIVE, b"\x0f"],
        [CREATE_COIN, GAME.after(b"new move", INFOHASH_C, 50, b"\x11").puzzle().hash, b"\x00\xc8"],
        [AGG_SIG_ME, GAME.mover, tree_hash(to_list(MOVE))],
    ]


def test_a_last_move_commits_to_nothing() -> None:
    (_, coin, _) = GAME.spend(b"new move", NIL, b"\x32", NIL)
    assert coin[1] == GAME.after(b"new move", NIL, 50, NIL).puzzle().hash


def with_item(place: int, item: Value) -> list[Value]:
    items: list[Value] = [*MOVE]
    items[place] = item
    return items


@pytest.mark.parametrize(
    ("rule", "place", "good", "bad"),
    [
        ("REF-MOVE-3", 0, [NIL, b"m" * 32], [b"m" * 33, b"m" * 300, (b"m", NIL)]),
        ("REF-MOVE-9", 1, [NIL, b"\x00" * 32], [b"\x00", b"h" * 31, b"h" * 33, (NIL, NIL)]),
        (
            "REF-MOVE-4",
            2,
            [NIL, b"\x00\xc8", b"\x7f"],
            [b"\x00\xc9", b"\xff", b"\x80", b"\x7f\xff"],
        ),
        ("REF-MOVE-5", 2, [b"\x00\x80"], [b"\x00", b"\x00\x32", b"\x00\x00\xc8", (NIL, NIL)]),
        ("REF-MOVE-6", 3, [b"\x7f\xff"], [b"\x00\x80\x00", b"\x01\x00\x00"]),
        ("REF-MOVE-7", 3, [NIL], [b"\xff", b"\x80", b"\x80\x00"]),
        ("REF-MOVE-8", 3, [b"\x00\x80", b"\x01\x00"], [b"\x00", b"\x00\x11", (NIL, NIL)]),
    ],
)
def test_each_item_of_a_move_has_its_form(
    rule: str, place: int, good: list[Value], bad: list[Value]
) -> None:
    for item in good:
        assert GAME.spend(*with_item(place, item)), rule
    for item in bad:
        refused(GAME.spend, *with_item(place, item))


def test_a_move_is_measured_against_the_limit_it_was_given() -> None:
    """REF-MOVE-3: the coin's own limit, not the one that the move sets."""
    assert replace(GAME, max_move_size=b"\x08").spend(*MOVE)
    refused(replace(GAME, max_move_size=b"\x07").spend, *MOVE)
    assert replace(GAME, max_move_size=NIL).spend(*with_item(0, NIL))


def test_a_game_that_is_over_takes_no_move() -> None:
    """REF-MOVE-2."""
    refused(OVER.spend, *with_item(0, NIL))


@pytest.mark.parametrize(
    "solution",
    [
        to_list(MOVE[:3]),
        to_list([*MOVE, NIL]),
        to_list([*MOVE, b"more"]),
        (MOVE[0], (MOVE[1], (MOVE[2], (MOVE[3], b"\x01")))),
        (MOVE[0], (MOVE[1], (MOVE[2], MOVE[3]))),
    ],
)
def test_a_move_has_exactly_four_items(solution: Value) -> None:
    """REF-MOVE-1."""
    refused(GAME.spend_raw, solution)
