"""The referee in Python and the program: the same conditions, or both refuse."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramRaised, ProgramValid, Raised, evaluate, run_serialized
from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    from_list,
    int_to_atom,
    serialize,
    to_list,
    tree_hash,
)
from channelsim.games.referee import (
    AGG_SIG_ME,
    AGG_SIG_UNSAFE,
    ASSERT_BEFORE_HEIGHT_RELATIVE,
    ASSERT_HEIGHT_RELATIVE,
    CREATE_COIN,
    FIRST,
    GameCoin,
    RefereeRefusal,
    infohash,
    move_conditions,
    move_solution,
    payout_message,
    referee,
    slash_conditions,
    slash_solution,
    timeout_conditions,
    timeout_solution,
    validator_arguments,
)
from tests.sampling import examples

ANN, BEN = b"\xaa" * 48, b"\xbb" * 48
HERE, THERE = b"\x11" * 32, b"\x22" * 32
HASH = b"\x33" * 32
MOST = (1 << 63) - 1

amounts = st.one_of(
    st.integers(0, 300),
    st.sampled_from([127, 128, 255, 256, 32767, 32768, MOST]),
    st.integers(0, MOST),
)
hashes = st.sampled_from([b"", HASH, HERE])


@st.composite
def coins(draw: st.DrawFn) -> GameCoin:
    amount = draw(amounts)
    return GameCoin(
        mover_key=ANN,
        waiter_key=BEN,
        timeout=draw(st.integers(1, 1 << 31)),
        amount=amount,
        mod_hash=referee().hash,
        nonce=draw(amounts),
        move=draw(st.binary(max_size=50)),
        max_move_size=draw(st.integers(0, (1 << 15) - 1)),
        infohash_b=draw(hashes),
        mover_share=draw(st.one_of(st.just(0), st.just(amount), st.integers(0, amount))),
        infohash_a=draw(st.sampled_from([FIRST, HASH])),
    )


def program(coin: GameCoin, solution: Value) -> Value | None:
    """The conditions of the program; None when it refuses."""
    try:
        return evaluate(coin.puzzle(), solution)
    except ProgramRaised:
        return None


def model(ask: Callable[[], Value]) -> Value | None:
    try:
        return ask()
    except RefereeRefusal:
        return None


# --- coins ---------------------------------------------------------------------------------------


@given(coins())
@examples(1)
def test_the_puzzle_hash_is_that_of_the_puzzle(coin: GameCoin) -> None:
    assert coin.puzzle_hash() == coin.puzzle().hash
    assert [len(from_list(coin.value())), len(coin.atoms())] == [11, 11]
    assert coin.waiter_share + coin.mover_share == coin.amount


# --- timeout -------------------------------------------------------------------------------------

addresses = st.sampled_from([b"", HERE, THERE, b"\x00"])


@given(coins(), st.lists(addresses, max_size=2))
@examples(1)
def test_timeouts(coin: GameCoin, items: list[bytes]) -> None:
    solution = to_list(items)
    assert program(coin, solution) == model(lambda: timeout_conditions(coin, solution))


@given(coins())
@examples(1)
def test_an_honest_timeout_passes_and_pays_everything(coin: GameCoin) -> None:
    conditions = program(coin, timeout_solution(coin, HERE, THERE))
    assert conditions is not None
    paid = []
    lock, *rest = from_list(conditions)
    assert lock == to_list((int_to_atom(ASSERT_HEIGHT_RELATIVE), int_to_atom(coin.timeout)))
    for condition in rest:
        match from_list(condition):
            case [code, bytes(address), bytes(amount)] if code == int_to_atom(CREATE_COIN):
                paid.append((address, atom_to_int(amount)))
            case [code, key, message]:
                assert code == int_to_atom(AGG_SIG_UNSAFE)
                owner = {payout_message(HERE): ANN, payout_message(THERE): BEN}
                assert isinstance(message, bytes)
                assert owner[message] == key
    shares = ((HERE, coin.mover_share), (THERE, coin.waiter_share))
    assert paid == [(address, share) for address, share in shares if share]


# --- move ----------------------------------------------------------------------------------------

#  Atoms of every kind: in the fewest bytes and in more, negative, too long.
numbers = st.one_of(
    amounts.map(int_to_atom),
    st.integers(-300, 40_000).map(int_to_atom),
    st.sampled_from(
        [b"\x00", b"\x00\x01", b"\xff", b"\xff\xff", b"\x80", b"\x7f\xff", b"\x00" * 9]
    ),
    st.binary(max_size=4),
)
commitments = st.one_of(hashes, st.binary(max_size=33), st.just(bytes(31)), st.just(bytes(33)))


@given(coins(), st.binary(max_size=60), commitments, numbers, numbers, st.data())
@examples(2)
def test_moves(
    coin: GameCoin, move: bytes, commitment: bytes, share: bytes, size: bytes, data: st.DataObject
) -> None:
    if data.draw(st.booleans()):
        # Mostly something that may pass.
        coin = msgspec.structs.replace(coin, infohash_b=HASH, max_move_size=len(move))
        share = int_to_atom(data.draw(st.integers(0, coin.amount)))
    solution = to_list((move, commitment, share, size))

    def ask() -> Value:
        after = coin.after(move, commitment, atom_to_int(share), atom_to_int(size))
        if move_solution(after) != solution:
            raise RefereeRefusal("REF-MOVE-5")  # not in the fewest bytes
        return move_conditions(coin, after)

    assert program(coin, solution) == model(ask)


@given(coins(), st.binary(max_size=40), hashes, st.data())
@examples(1)
def test_an_honest_move_makes_the_next_coin(
    coin: GameCoin, move: bytes, commitment: bytes, data: st.DataObject
) -> None:
    coin = msgspec.structs.replace(coin, infohash_b=HASH, max_move_size=len(move))
    share = data.draw(st.integers(0, coin.amount))
    after = coin.after(move, commitment, share, data.draw(st.integers(0, (1 << 15) - 1)))
    conditions = program(coin, move_solution(after))
    assert conditions == to_list(
        (
            to_list((int_to_atom(ASSERT_BEFORE_HEIGHT_RELATIVE), int_to_atom(coin.timeout))),
            to_list((int_to_atom(CREATE_COIN), after.puzzle_hash(), int_to_atom(coin.amount))),
            to_list((int_to_atom(AGG_SIG_ME), ANN, tree_hash(move_solution(after)))),
        )
    )
    assert (after.mover_key, after.waiter_key) == (BEN, ANN)
    assert after.infohash_a == coin.infohash_b


def test_each_rule_of_a_move_refuses_by_its_id() -> None:
    coin = GameCoin(ANN, BEN, 15, 2000, referee().hash, 0, b"", 32, HASH, 0, FIRST)
    over = msgspec.structs.replace(coin, infohash_b=b"")
    for at, arguments, rule in (
        (over, (b"", HASH, 0, 0), "REF-MOVE-2"),
        (coin, (bytes(33), HASH, 0, 0), "REF-MOVE-3"),
        (coin, (b"", HASH, 2001, 0), "REF-MOVE-4"),
        (coin, (b"", HASH, -1, 0), "REF-MOVE-4"),
        (coin, (b"", HASH[:31], 0, 0), "REF-MOVE-9"),
    ):
        with pytest.raises(RefereeRefusal) as caught:
            at.after(*arguments)
        assert caught.value.rule == rule
    assert coin.after(bytes(32), b"", 2000, 0).infohash_b == b""


# --- slash ---------------------------------------------------------------------------------------


def returning(value: Value) -> Program:
    """A validator that returns this whatever it is asked: `(q . value)`."""
    return Program(b"\xff\x01" + serialize(value))


RAISES = Program(bytes.fromhex("ff0880"))
STATE: Value = (b"s", b"t")
conditions_more = to_list((to_list((int_to_atom(73), b"\x05")),))
atoms = st.sampled_from([b"", b"\x00", b"\x01", HASH, HERE, b"\x20"])
anything = st.recursive(atoms, lambda inner: st.tuples(inner, inner), max_leaves=8)


@st.composite
def slashes(draw: st.DrawFn) -> tuple[GameCoin, Program, Value, Value]:
    """A coin, the validator before it, what that one returns, and the state it is given.

    Often what the coin committed to, with and without something on top.
    """
    coin = draw(coins())
    size = int_to_atom(coin.max_move_size)
    next_state = draw(anything)
    agreed = (HASH, (next_state, (size, NIL)))
    result: Value = (
        draw(
            st.sampled_from(
                [
                    NIL,
                    agreed,
                    (HASH, (next_state, (size, conditions_more))),
                    (HASH, (next_state, (b"\x05", conditions_more))),
                    (HASH, (next_state, NIL)),
                    (NIL, (NIL, (NIL, NIL))),
                    (NIL, NIL),
                    (NIL, (NIL, (NIL, conditions_more))),
                    (HASH, NIL),
                    (HASH, b"\x01"),
                    (HASH, (next_state, (size, b"\x01"))),
                ]
            )
            if draw(st.booleans())
            else anything
        )
        if draw(st.booleans())
        else draw(anything)
    )
    validator = returning(result)
    coin = msgspec.structs.replace(
        coin,
        infohash_b=draw(st.sampled_from([NIL, infohash(HASH, tree_hash(next_state)), HERE])),
        max_move_size=draw(st.sampled_from([0, coin.max_move_size])),
        infohash_a=draw(
            st.sampled_from([infohash(validator.hash, tree_hash(STATE))] * 4 + [HERE, FIRST])
        ),
        amount=max(1, coin.amount),
    )
    return coin, validator, result, draw(st.sampled_from([STATE] * 4 + [NIL]))


@given(slashes(), anything, st.sampled_from([HERE] * 5 + [b""]))
@examples(2)
def test_slashes(
    case: tuple[GameCoin, Program, Value, Value], evidence: Value, address: bytes
) -> None:
    coin, validator, result, state = case
    solution = slash_solution(state, validator, evidence, address)

    def ask() -> Value:
        return slash_conditions(coin, state, validator, result, address)

    assert program(coin, solution) == model(ask)


def test_a_validator_that_raises_fails_the_slash() -> None:
    coin = GameCoin(ANN, BEN, 15, 2000, referee().hash, 0, b"", 32, HASH, 0, FIRST)
    coin = msgspec.structs.replace(coin, infohash_a=infohash(RAISES.hash, tree_hash(STATE)))
    assert program(coin, slash_solution(STATE, RAISES, NIL, HERE)) is None


def test_a_validator_is_called_with_what_the_contract_says() -> None:
    """The environment that the judge prepares is the one that the referee passes on."""
    echo = Program(bytes.fromhex("ff02ffff0101ff0180"))  # (a (q . 1) 1): its environment
    coin = GameCoin(ANN, BEN, 15, 2000, referee().hash, 7, b"move", 32, HASH, 900, FIRST)
    coin = msgspec.structs.replace(coin, infohash_a=infohash(echo.hash, tree_hash(STATE)))
    arguments = validator_arguments(coin, STATE, echo, (b"e", b"v"), HERE)
    outcome = run_serialized(echo.serialized, arguments)
    assert isinstance(outcome, ProgramValid)
    # (program_hash curried_args state program evidence mover_payout_ph)
    environment = to_list((echo.hash, coin.value(), STATE, echo.value, (b"e", b"v"), HERE))
    assert outcome.value == environment
    # As a result, it reads: this program, at the state `curried_args`, and `state` as the size.
    assert program(coin, slash_solution(STATE, echo, (b"e", b"v"), HERE)) == slash_conditions(
        coin, STATE, echo, environment, HERE
    )


def test_any_path_with_more_items_is_refused() -> None:
    coin = GameCoin(ANN, BEN, 15, 2000, referee().hash, 0, b"", 32, HASH, 900, FIRST)
    validator = returning(NIL)
    coin = msgspec.structs.replace(coin, infohash_a=infohash(validator.hash, tree_hash(STATE)))
    for items in (
        [b"", HASH, b"", b""],
        [STATE, validator.value, NIL, HERE],
    ):
        assert program(coin, to_list(items)) is not None
        assert program(coin, to_list([*items, NIL])) is None
        assert program(coin, to_list(items[:3])) is None


@given(anything)
@examples(2)
def test_any_solution_at_all_is_refused_or_pays_the_right_amount(solution: Value) -> None:
    coin = GameCoin(ANN, BEN, 15, 2000, referee().hash, 0, b"", 32, HASH, 900, FIRST)
    outcome = run_serialized(coin.puzzle().serialized, serialize(solution))
    assert isinstance(outcome, Raised | ProgramValid)
