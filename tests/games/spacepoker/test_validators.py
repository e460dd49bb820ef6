"""Every rule for the yes and the no, in Python and in CLVM, and both on hostile input."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.values import NIL, Value, int_to_atom
from channelsim.games.contract import Position, Raise, Seat, Slash, Valid
from channelsim.games.errors import BadState
from channelsim.games.spacepoker.cards import chain, wins_toss
from channelsim.games.spacepoker.hands import FIVE_OF_SEVEN, best_selection
from channelsim.games.spacepoker.player import ChainValue, known_cards
from channelsim.games.spacepoker.states import (
    BeginRound,
    CommitA,
    CommitB,
    End,
    MidRound,
    SpacePokerState,
)
from tests.games.table import GAME, HASHES, ask_both
from tests.sampling import examples

AMOUNT, STAKE, UNIT = 2000, 1000, 100
MID_HASH = HASHES["mid_round"]
MINE, YOURS = chain(b"m" * 16), chain(b"y" * 16)
if not wins_toss(MINE[4], YOURS[4]):
    MINE, YOURS = YOURS, MINE  # the mover of these positions opens

NAMES: dict[type, str] = {
    CommitA: "commitA",
    CommitB: "commitB",
    BeginRound: "begin_round",
    MidRound: "mid_round",
    End: "end",
}


def at(state: SpacePokerState) -> Position:
    """A position in which this state is judged from; the judges read nothing else of it."""
    return Position(NAMES[type(state)], state, Seat.ALICE, 0, 42)


COMMIT_A = CommitA(UNIT)
COMMIT_B = CommitB(UNIT, MINE[5])
TOSS_WON = BeginRound(UNIT, 300, MINE[5], YOURS[4], 4, MID_HASH)
TOSS_LOST = BeginRound(UNIT, 300, YOURS[5], MINE[4], 4, MID_HASH)
FLOP = BeginRound(UNIT, 300, YOURS[4], MINE[3], 3, MID_HASH)
FLOP_BET = MidRound(UNIT, 300, 50, MINE[3], YOURS[3], 3)
RIVER_BET = MidRound(UNIT, 300, 50, MINE[1], YOURS[1], 1)
SHOW = End(300, MINE[1], YOURS[0])

OPEN, PONG, CALL, LAST = MINE[4], YOURS[4], MINE[2], MINE[0]
OPENED, MATCHED = STAKE - 300, STAKE - 350


@cache
def showdown() -> tuple[int, int, int]:
    """At SHOW: the best selections of the mover and the challenger, the challenger's share."""
    cards = known_cards(MINE, ChainValue(0, YOURS[0]))
    assert cards.own is not None
    assert cards.other is not None
    mine, yours = (h.hole + cards.board for h in (cards.own, cards.other))
    mask, ours = best_selection(mine, cards.own.boost)
    others_mask, theirs = best_selection(yours, cards.other.boost)
    return (
        mask,
        others_mask,
        STAKE + 300 * ((theirs > ours) - (theirs < ours)),
    )


BEST, ANSWER, SHARE = showdown()
PROOF = bytes([ANSWER])
REVEAL = LAST + bytes([BEST])
SIX_BITS, FOUR_BITS, TOP_BIT = b"\x7e", b"\x0f", b"\x9e"

NO = (
    # rule, state, move, share: a fault whatever the evidence
    ("SP-COMMITA-1", COMMIT_A, MINE[5][:31], STAKE),
    ("SP-COMMITA-1", COMMIT_A, MINE[5] + b"\0", STAKE),
    ("SP-COMMITA-1", COMMIT_A, b"", STAKE),
    ("SP-COMMITA-2", COMMIT_A, MINE[5], STAKE - 1),
    ("SP-COMMITA-2", COMMIT_A, MINE[5], STAKE + 1),
    ("SP-COMMITA-2", COMMIT_A, MINE[5], STAKE - UNIT),
    ("SP-COMMITB-1", COMMIT_B, YOURS[4][:31], STAKE - UNIT),
    ("SP-COMMITB-1", COMMIT_B, YOURS[4] + b"\0", STAKE - UNIT),
    ("SP-COMMITB-2", COMMIT_B, YOURS[4], STAKE),
    ("SP-COMMITB-2", COMMIT_B, YOURS[4], 0),
    ("SP-BEGIN-1", FLOP, YOURS[3][:31], OPENED),
    ("SP-BEGIN-1", FLOP, b"", OPENED),
    ("SP-BEGIN-2", FLOP, YOURS[3], OPENED - 1),
    ("SP-BEGIN-2", FLOP, YOURS[3] + b"\x32", OPENED - 50),
    ("SP-BEGIN-2", TOSS_LOST, PONG, OPENED + 1),
    ("SP-BEGIN-3", FLOP, YOURS[4], OPENED),
    ("SP-BEGIN-3", FLOP, MINE[3], OPENED),
    ("SP-BEGIN-3", TOSS_LOST, OPEN, OPENED),
    ("SP-BEGIN-4", TOSS_LOST, PONG + b"\x01", OPENED),
    ("SP-BEGIN-4", TOSS_LOST, PONG + b"\x00", OPENED),
    ("SP-BEGIN-5", FLOP, YOURS[3] + b"\x00", OPENED),
    ("SP-BEGIN-5", FLOP, YOURS[3] + b"\x00\x05", OPENED),
    ("SP-BEGIN-5", FLOP, YOURS[3] + b"\xff\xff", OPENED),
    ("SP-BEGIN-5", TOSS_WON, OPEN + b"\x00", OPENED),
    ("SP-BEGIN-6", FLOP, YOURS[3] + b"\xff", OPENED),
    ("SP-BEGIN-6", FLOP, YOURS[3] + int_to_atom(-300), OPENED),
    ("SP-BEGIN-7", FLOP, YOURS[3] + int_to_atom(701), OPENED),
    ("SP-BEGIN-7", FLOP, YOURS[3] + int_to_atom(2**400), OPENED),
    ("SP-MID-1", FLOP_BET, CALL, MATCHED - 1),
    ("SP-MID-1", FLOP_BET, CALL, OPENED),
    ("SP-MID-1", FLOP_BET, bytes(32) + b"\x32", MATCHED - 50),
    ("SP-MID-2", FLOP_BET, bytes(32) + b"\x00\x05", MATCHED),
    ("SP-MID-2", FLOP_BET, bytes(32) + b"\x00", MATCHED),
    ("SP-MID-3", FLOP_BET, bytes(32) + b"\xff", MATCHED),
    ("SP-MID-4", FLOP_BET, bytes(32) + int_to_atom(651), MATCHED),
    ("SP-MID-4", RIVER_BET, bytes(32) + int_to_atom(2**400), MATCHED),
    ("SP-MID-5", FLOP_BET, CALL[:31], MATCHED),
    ("SP-MID-5", FLOP_BET, MINE[0], MATCHED),
    ("SP-MID-5", FLOP_BET, b"", MATCHED),
    ("SP-MID-5", RIVER_BET, MINE[1], MATCHED),
    ("SP-MID-5", RIVER_BET, LAST + b"\0", MATCHED),
    ("SP-MID-6", FLOP_BET, YOURS[2], MATCHED),
    ("SP-MID-6", FLOP_BET, MINE[3], MATCHED),
    ("SP-MID-6", RIVER_BET, YOURS[0], MATCHED),
    ("SP-END-1", SHOW, LAST, SHARE),
    ("SP-END-1", SHOW, REVEAL + b"\0", SHARE),
    ("SP-END-1", SHOW, b"", SHARE),
    ("SP-END-2", SHOW, YOURS[0] + bytes([BEST]), SHARE),
    ("SP-END-2", SHOW, bytes(16) + bytes([BEST]), AMOUNT),
    ("SP-END-3", SHOW, LAST + SIX_BITS, AMOUNT),
    ("SP-END-3", SHOW, LAST + FOUR_BITS, AMOUNT),
    ("SP-END-3", SHOW, LAST + TOP_BIT, AMOUNT),
    ("SP-END-3", SHOW, LAST + b"\0", AMOUNT),
    ("SP-END-3", SHOW, LAST + b"\xff", AMOUNT),
)

YES = (
    # rules whose edge this is, state, move, share, evidence, next validator
    ("SP-COMMITA-1 SP-COMMITA-2", COMMIT_A, MINE[5], STAKE, NIL, "commitB"),
    ("SP-COMMITA-1", COMMIT_A, bytes(32), STAKE, NIL, "commitB"),
    ("SP-COMMITB-1 SP-COMMITB-2", COMMIT_B, YOURS[4], STAKE - UNIT, NIL, "begin_round"),
    ("SP-BEGIN-1 SP-BEGIN-2 SP-BEGIN-3", FLOP, YOURS[3], OPENED, NIL, "mid_round"),
    ("SP-BEGIN-4", TOSS_LOST, PONG, OPENED, NIL, "begin_round"),
    ("SP-BEGIN-4", TOSS_WON, OPEN + b"\x01", OPENED, NIL, "mid_round"),
    ("SP-BEGIN-5", FLOP, YOURS[3] + b"\x00\x80", OPENED, NIL, "mid_round"),
    ("SP-BEGIN-6", TOSS_WON, OPEN, OPENED, NIL, "mid_round"),
    ("SP-BEGIN-7", FLOP, YOURS[3] + int_to_atom(700), OPENED, NIL, "mid_round"),
    ("SP-MID-1 SP-MID-5 SP-MID-6", FLOP_BET, CALL, MATCHED, NIL, "begin_round"),
    ("SP-MID-5", RIVER_BET, LAST, MATCHED, NIL, "end"),
    ("SP-MID-2", FLOP_BET, b"x" * 32 + b"\x00\x80", MATCHED, NIL, "mid_round"),
    ("SP-MID-3", RIVER_BET, bytes(32) + b"\x01", MATCHED, NIL, "mid_round"),
    ("SP-MID-4", FLOP_BET, bytes(32) + int_to_atom(650), MATCHED, NIL, "mid_round"),
    ("SP-END-1 SP-END-2 SP-END-3 SP-END-4 SP-END-5", SHOW, REVEAL, SHARE, PROOF, None),
    ("SP-END-5", SHOW, REVEAL, AMOUNT, PROOF, None),
)

ANY_EVIDENCE: tuple[Value, ...] = (NIL, PROOF, b"\0", b"\xff", b"\0\x1f", (NIL, NIL), (PROOF, NIL))


@pytest.mark.parametrize(("rule", "state", "move", "share"), NO)
def test_no(rule: str, state: SpacePokerState, move: bytes, share: int) -> None:
    for evidence in ANY_EVIDENCE:
        assert ask_both(at(state), move, share, AMOUNT, evidence) == Slash(rule)


@pytest.mark.parametrize(("rules", "state", "move", "share", "evidence", "following"), YES)
def test_yes(
    rules: str,
    state: SpacePokerState,
    move: bytes,
    share: int,
    evidence: Value,
    following: str | None,
) -> None:
    verdict = ask_both(at(state), move, share, AMOUNT, evidence)
    assert isinstance(verdict, Valid)
    assert following == (verdict.next and verdict.next.validator)


def test_every_rule_is_tested_both_ways() -> None:
    rules = {rule for rule in GAME.rules if not rule.startswith("SP-TERMS")}
    assert {rule for rule, *_ in NO} | {"SP-END-4", "SP-END-5"} == rules
    assert {rule for rules, *_ in YES for rule in rules.split()} == rules


@pytest.mark.parametrize(
    "evidence", [*ANY_EVIDENCE[:1], *ANY_EVIDENCE[2:], SIX_BITS, FOUR_BITS, TOP_BIT, bytes(300)]
)
@pytest.mark.parametrize("share", [0, SHARE, AMOUNT])
def test_bad_evidence_raises_even_against_a_greedy_share(share: int, evidence: Value) -> None:
    assert ask_both(at(SHOW), REVEAL, share, AMOUNT, evidence) == Raise("SP-END-4")


def test_a_greedy_share_is_slashed_with_the_best_evidence() -> None:
    for share in (SHARE - 1, 0):
        assert ask_both(at(SHOW), REVEAL, share, AMOUNT, PROOF) == Slash("SP-END-5")


def test_no_evidence_slashes_an_honest_reveal() -> None:
    for mask in range(256):
        verdict = ask_both(at(SHOW), REVEAL, SHARE, AMOUNT, bytes([mask]))
        assert verdict == (Valid(None) if mask in FIVE_OF_SEVEN else Raise("SP-END-4"))


def test_a_pong_passes_the_opening_on() -> None:
    verdict = ask_both(at(TOSS_LOST), PONG, OPENED, AMOUNT)
    assert isinstance(verdict, Valid)
    assert verdict.next is not None
    # The state that Bob's commitment would have led to, had the seats been the other way round.
    assert verdict.next.state == TOSS_WON


# --- anything at all -------------------------------------------------------------------------

images = st.sampled_from([*MINE[1:], *YOURS[1:]]) | st.binary(min_size=32, max_size=32)
preimages = st.sampled_from([MINE[0], YOURS[0]]) | st.binary(min_size=16, max_size=16)
small = st.integers(1, 12)
states: st.SearchStrategy[SpacePokerState] = st.one_of(
    st.builds(CommitA, small),
    st.builds(CommitB, small, images),
    st.builds(BeginRound, small, small, images, images, st.integers(1, 4), st.just(MID_HASH)),
    st.builds(MidRound, small, small, small | st.just(0), images, images, st.integers(1, 4)),
    st.builds(End, small, images, preimages),
)
tails = st.integers(-20, 20).map(int_to_atom) | st.binary(max_size=12)
moves = st.builds(bytes.__add__, images | preimages | st.binary(max_size=48), tails)
evidences = st.one_of(
    st.sampled_from([bytes([mask]) for mask in sorted(FIVE_OF_SEVEN)]),
    st.recursive(st.binary(max_size=3), lambda inner: st.tuples(inner, inner), max_leaves=4),
)


@examples(2)
@given(states, moves, st.integers(-2, 26), st.integers(0, 24), evidences)
def test_rules_and_programs_agree_on_anything(
    state: SpacePokerState, move: bytes, share: int, amount: int, evidence: Value
) -> None:
    ask_both(at(state), move, share, amount, evidence)


@examples(2)
@given(st.data(), st.sampled_from([TOSS_WON, TOSS_LOST, FLOP, FLOP_BET, RIVER_BET, SHOW]))
def test_rules_and_programs_agree_near_legal_moves(
    data: st.DataObject, state: SpacePokerState
) -> None:
    heads = st.sampled_from([*MINE, *YOURS])
    move = data.draw(heads) + data.draw(
        st.integers(-5, 1100).map(int_to_atom) | st.integers(0, 255).map(lambda byte: bytes([byte]))
    )
    share = data.draw(st.sampled_from([OPENED, MATCHED, SHARE]) | st.integers(0, AMOUNT))
    ask_both(at(state), move, share, AMOUNT, data.draw(evidences))


@given(states)
def test_states_are_read_back(state: SpacePokerState) -> None:
    assert GAME.validators[NAMES[type(state)]].read_state(state.value(), HASHES) == state


READERS = sorted(GAME.validators)


@pytest.mark.parametrize("name", READERS)
@given(value=st.recursive(st.binary(max_size=33), lambda v: st.tuples(v, v), max_leaves=9))
def test_a_malformed_state_is_refused(name: str, value: Value) -> None:
    try:
        state = GAME.validators[name].read_state(value, HASHES)
    except BadState:
        return
    assert state.value() == value
