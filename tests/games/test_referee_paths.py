"""The path that a solution picks, and its result: the model against the program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.programs import Program
from channelsim.clsp.run import ProgramValid, Raised, run_serialized
from channelsim.clsp.values import NIL, Value, deserialize, serialize, to_list, tree_hash
from channelsim.games.referee import GameCoin, RefereeRefusal, infohash, referee
from channelsim.games.referee_paths import (
    MOVE,
    SLASH,
    TIMEOUT,
    ValidatorRaised,
    conditions_of,
    path_of,
)
from tests.sampling import examples

HASH, HERE = b"\xaa" * 32, b"\x0a" * 32
STATE: Value = (b"s", b"t")
RAISES = Program(bytes.fromhex("ff0880"))
ALLOWS = Program(b"\xff\x01" + serialize(to_list((NIL, NIL, NIL))))
FORBIDS = Program(bytes.fromhex("ff0180"))
VALIDATORS = {one.hash: one for one in (RAISES, ALLOWS, FORBIDS)}
KEYS = (b"\xb1" * 48, b"\xb2" * 48)

ATOMS: st.SearchStrategy[Value] = st.sampled_from(
    [
        *(NIL, b"\x00", b"\x05", b"\x00\x05", b"\x00\x80", b"\x80", b"\xff", b"\x01\x00\x00"),
        *(HASH, HERE, HASH[:31], HASH + b"\x00", bytes(40), b"\x07\xd0", b"\x07\xd1"),
    ]
)
ANYTHING = st.recursive(ATOMS, lambda inner: st.tuples(inner, inner), max_leaves=4)
PROGRAMS: st.SearchStrategy[Value] = st.sampled_from([one.value for one in VALIDATORS.values()])
ITEMS = st.one_of(ATOMS, ATOMS, ANYTHING, PROGRAMS, st.just(STATE))


@st.composite
def solutions(draw: st.DrawFn) -> Value:
    """Lists of a few items, mostly of the right number, some of them ending in an atom."""
    items = draw(
        st.one_of(
            st.lists(ITEMS, max_size=5),
            st.tuples(ATOMS, ATOMS).map(list),
            st.tuples(ATOMS, ATOMS, ATOMS, ATOMS).map(list),
            st.tuples(st.just(STATE), PROGRAMS, ANYTHING, ATOMS).map(list),
        )
    )
    solution: Value = draw(st.sampled_from([NIL] * 9 + [b"\x01"]))
    for item in reversed(items):
        solution = (item, solution)
    return solution


@st.composite
def coins(draw: st.DrawFn) -> GameCoin:
    behind = draw(st.sampled_from([*VALIDATORS]))
    return GameCoin(
        *KEYS,
        timeout=15,
        amount=2000,
        mod_hash=referee().hash,
        nonce=0,
        move=b"",
        max_move_size=draw(st.sampled_from([0, 32])),
        infohash_b=draw(st.sampled_from([NIL, HASH])),
        mover_share=draw(st.sampled_from([0, 900, 2000])),
        infohash_a=infohash(behind, tree_hash(STATE)),
    )


def returned(program: Value, _state: Value, _evidence: Value) -> Value:
    outcome = run_serialized(serialize(program), b"\x80")
    if isinstance(outcome, Raised):
        raise ValidatorRaised
    return outcome.value if isinstance(outcome, ProgramValid) else NIL


@given(coins(), solutions())
@examples(2)
def test_the_model_and_the_program_agree_on_any_solution(coin: GameCoin, solution: Value) -> None:
    outcome = run_serialized(coin.puzzle().serialized, serialize(solution))
    said = outcome.value if isinstance(outcome, ProgramValid) else None
    try:
        assert conditions_of(coin, solution, returned) == said
    except (RefereeRefusal, ValidatorRaised):
        assert said is None


def test_each_path_is_taken_by_some_solution() -> None:
    coin = GameCoin(
        *KEYS,
        15,
        2000,
        referee().hash,
        0,
        b"",
        32,
        HASH,
        900,
        infohash(FORBIDS.hash, tree_hash(STATE)),
    )
    for path, items in (
        (TIMEOUT, (HERE, HASH)),
        (MOVE, (b"move", HASH, b"\x05", b"\x20")),
        (SLASH, (STATE, FORBIDS.value, NIL, HERE)),
    ):
        assert path_of(to_list(items)) == path
        assert conditions_of(coin, to_list(items), returned)
    assert path_of(NIL) == path_of(deserialize(b"\xff\x01\x01")) == TIMEOUT


@pytest.mark.parametrize(
    ("rule", "items"),
    [
        ("REF-MOVE-1", (NIL, NIL, NIL, NIL, NIL)),
        ("REF-MOVE-3", ((NIL, NIL), NIL, NIL, NIL)),
        ("REF-MOVE-4", (NIL, NIL, (NIL, NIL), NIL)),
        ("REF-MOVE-5", (NIL, NIL, b"\x00\x05", NIL)),
        ("REF-MOVE-6", (NIL, NIL, NIL, b"\x00\x00\x00")),
        ("REF-MOVE-8", (NIL, NIL, NIL, b"\x00\x05")),
        ("REF-SLASH-1", (STATE, FORBIDS.value, NIL)),
        ("REF-SLASH-2", (NIL, FORBIDS.value, NIL, HERE)),
        ("REF-SLASH-8", (STATE, FORBIDS.value, NIL, NIL)),
        ("REF-SLASH-8", (STATE, FORBIDS.value, NIL, (HERE, NIL))),
        ("REF-TIMEOUT-1", ((HERE, NIL), HERE)),
    ],
)
def test_a_refusal_names_its_rule(rule: str, items: tuple[Value, ...]) -> None:
    coin = GameCoin(
        *KEYS,
        15,
        2000,
        referee().hash,
        0,
        b"",
        32,
        HASH,
        900,
        infohash(FORBIDS.hash, tree_hash(STATE)),
    )
    with pytest.raises(RefereeRefusal) as refused:
        conditions_of(coin, to_list(items), returned)
    assert refused.value.rule == rule
