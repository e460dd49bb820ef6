"""Every rule for the yes and the no, in Python and in CLVM, and both on hostile input."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games.calpoker.deal import FOUR_OF_EIGHT, deal, final_hands
from channelsim.games.calpoker.hands import FIVE_OF_EIGHT
from channelsim.games.calpoker.player import best_selections, discard_commit
from channelsim.games.calpoker.states import CalPokerState, StateA, StateB, StateC, StateD, StateE
from channelsim.games.calpoker.validators import bobs_share
from channelsim.games.contract import Position, Raise, Seat, Slash, Valid
from channelsim.games.errors import BadState
from tests.games.calpoker.cal import GAME
from tests.games.table import ask_both
from tests.sampling import examples

AMOUNT = 2000
NAMES: dict[type, str] = {StateA: "a", StateB: "b", StateC: "c", StateD: "d", StateE: "e"}
PREIMAGE, SEED, SALT = b"alice's preimage", b"the seed of bob ", b"a salt of alice "
COMMIT = sha256(PREIMAGE).digest()
ALICE, BOB = deal(PREIMAGE, SEED, AMOUNT)
MINE, YOURS = 0b10010110, 0b01010101
DISCARDS = discard_commit(SALT, MINE)

A, B, C = StateA(), StateB(COMMIT), StateC(COMMIT, SEED)
D = StateD(DISCARDS, ALICE, BOB)
E = StateE(YOURS, ALICE, BOB, DISCARDS)

FINAL = final_hands((ALICE, BOB), MINE, YOURS)
BEST, ANSWER = best_selections(FINAL)
SHARE = bobs_share(AMOUNT, FINAL, BEST, ANSWER)
PROOF = bytes([ANSWER])
OPENING = PREIMAGE + DISCARDS
REVEAL = SALT + bytes([MINE, BEST])
THREE, FOUR, FIVE, SIX = b"\x98", b"\xe8", b"\x9b", b"\xbd"


def at(state: CalPokerState) -> Position:
    """A position in which this state is judged from; the judges read nothing else of it."""
    return Position(NAMES[type(state)], state, Seat.ALICE, 0, 48)


def opened(mask: bytes) -> StateE:
    """The reveal is next, and Alice is committed to this mask, legal or not."""
    return StateE(YOURS, ALICE, BOB, sha256(SALT + mask).digest())


NO = (
    # rule, state, move: a fault whatever the evidence and the share
    *(("CP-A-1", A, bytes(size)) for size in (0, 31, 33)),
    *(("CP-B-1", B, bytes(size)) for size in (0, 15, 17)),
    *(("CP-C-1", C, move) for move in (b"", PREIMAGE, OPENING[:47], OPENING + b"\0")),
    *(("CP-C-2", C, move) for move in (SEED + DISCARDS, bytes(48), DISCARDS + PREIMAGE)),
    *(("CP-D-1", D, move) for move in (b"", FOUR + b"\0", b"\0" + FOUR, FOUR * 300)),
    *(("CP-D-2", D, move) for move in (b"\0", b"\xff", THREE, FIVE, b"\x80", b"\x7f")),
    *(("CP-E-1", E, move) for move in (b"", REVEAL[:17], REVEAL + b"\0", REVEAL[1:])),
    *(("CP-E-2", opened(mask), SALT + mask + bytes([BEST])) for mask in (THREE, FIVE, b"\0")),
    *(("CP-E-2", opened(mask), SALT + mask + bytes([BEST])) for mask in (b"\xff", b"\x80")),
    *(("CP-E-3", E, REVEAL[:17] + mask) for mask in (FOUR, SIX, b"\0", b"\xff", b"\x80")),
    *(("CP-E-4", E, move) for move in (SEED + REVEAL[16:], bytes(16) + REVEAL[16:])),
    ("CP-E-4", E, SALT + bytes([MINE ^ 0xFF, BEST])),
)

YES = (
    # rules whose edge this is, state, move, share, evidence, next validator
    ("CP-A-1", A, COMMIT, 0, NIL, "b"),
    ("CP-A-1", A, bytes(32), AMOUNT, NIL, "b"),
    ("CP-B-1", B, SEED, 0, NIL, "c"),
    ("CP-B-1", B, bytes(16), 1, NIL, "c"),
    ("CP-C-1 CP-C-2", C, OPENING, 0, NIL, "d"),
    ("CP-C-1", C, PREIMAGE + bytes(32), AMOUNT, NIL, "d"),
    *(("CP-D-1 CP-D-2", D, bytes([mask]), 0, NIL, "e") for mask in (0x0F, 0xF0, 0x78, 0x99)),
    ("CP-E-1 CP-E-2 CP-E-3 CP-E-4 CP-E-5 CP-E-6", E, REVEAL, SHARE, PROOF, None),
    ("CP-E-6", E, REVEAL, AMOUNT, PROOF, None),
)

ANY_EVIDENCE: tuple[Value, ...] = (NIL, PROOF, b"\0", b"\xff", b"\0\x1f", (NIL, NIL), (PROOF, NIL))


@pytest.mark.parametrize(("rule", "state", "move"), NO)
def test_no(rule: str, state: CalPokerState, move: bytes) -> None:
    for evidence, share in product(ANY_EVIDENCE, (0, SHARE, AMOUNT)):
        assert ask_both(at(state), move, share, AMOUNT, evidence, GAME) == Slash(rule)


@pytest.mark.parametrize(("rules", "state", "move", "share", "evidence", "following"), YES)
def test_yes(
    rules: str,
    state: CalPokerState,
    move: bytes,
    share: int,
    evidence: Value,
    following: str | None,
) -> None:
    verdict = ask_both(at(state), move, share, AMOUNT, evidence, GAME)
    assert isinstance(verdict, Valid)
    assert following == (verdict.next and verdict.next.validator)


def test_every_rule_is_tested_both_ways() -> None:
    rules = {rule for rule in GAME.rules if not rule.startswith("CP-TERMS")}
    assert {rule for rule, *_ in NO} | {"CP-E-5", "CP-E-6"} == rules
    assert {rule for rules, *_ in YES for rule in rules.split()} == rules


def test_every_mask_is_counted_as_an_unsigned_byte() -> None:
    for mask in range(256):
        byte = bytes([mask])
        legal = mask.bit_count() == 4
        verdict = ask_both(at(D), byte, 0, AMOUNT, NIL, GAME)
        assert isinstance(verdict, Valid) == legal == (mask in FOUR_OF_EIGHT)
        discards = ask_both(at(opened(byte)), SALT + byte + FIVE, AMOUNT, AMOUNT, PROOF, GAME)
        assert isinstance(discards, Valid) == legal
        selection = ask_both(at(E), REVEAL[:17] + byte, AMOUNT, AMOUNT, PROOF, GAME)
        assert isinstance(selection, Valid) == (mask.bit_count() == 5) == (mask in FIVE_OF_EIGHT)


def test_no_evidence_slashes_an_honest_reveal() -> None:
    for mask in range(256):
        verdict = ask_both(at(E), REVEAL, SHARE, AMOUNT, bytes([mask]), GAME)
        assert verdict == (Valid(None) if mask in FIVE_OF_EIGHT else Raise("CP-E-5"))


@pytest.mark.parametrize(
    "evidence",
    [*ANY_EVIDENCE[:1], *ANY_EVIDENCE[2:], SIX, FOUR, b"\0" + PROOF, PROOF + b"\0", bytes(300)],
)
@pytest.mark.parametrize("share", [0, SHARE, AMOUNT])
def test_bad_evidence_raises_even_against_a_greedy_share(share: int, evidence: Value) -> None:
    assert ask_both(at(E), REVEAL, share, AMOUNT, evidence, GAME) == Raise("CP-E-5")


@pytest.mark.parametrize("sign", [1, 0, -1])
def test_the_share_is_everything_half_or_nothing(sign: int) -> None:
    """Bob better: all; a tie: half; Alice better: nothing. One mojo less is slashed."""
    share, reveal, state, proof = next(showdowns(sign))
    assert share == AMOUNT * (1 + sign) // 2
    assert ask_both(at(state), reveal, share, AMOUNT, proof, GAME) == Valid(None)
    assert ask_both(at(state), reveal, AMOUNT, AMOUNT, proof, GAME) == Valid(None)
    if share:
        for less in (share - 1, 0):
            verdict = ask_both(at(state), reveal, less, AMOUNT, proof, GAME)
            assert verdict == Slash("CP-E-6")
    else:
        assert ask_both(at(state), reveal, -1, AMOUNT, proof, GAME) == Slash("CP-E-6")


def showdowns(sign: int) -> Iterator[tuple[int, bytes, StateE, bytes]]:
    for number in range(10_000):
        hands = deal(number.to_bytes(16, "big"), SEED, AMOUNT)
        state = StateE(YOURS, *hands, DISCARDS)
        final = final_hands(hands, MINE, YOURS)
        mine, yours = best_selections(final)
        share = bobs_share(AMOUNT, final, mine, yours)
        if share == AMOUNT * (1 + sign) // 2:
            yield share, SALT + bytes([MINE, mine]), state, bytes([yours])


# --- anything at all -------------------------------------------------------------------------

hashes = st.sampled_from([COMMIT, DISCARDS]) | st.binary(min_size=32, max_size=32)
halves = st.sampled_from([PREIMAGE, SEED, SALT]) | st.binary(min_size=16, max_size=16)
dealt = st.just((ALICE, BOB)) | st.permutations(range(52)).map(
    lambda pack: (tuple(sorted(pack[:8])), tuple(sorted(pack[8:16])))
)
hands = st.sampled_from([ALICE, BOB]) | st.sets(st.integers(0, 51), min_size=8, max_size=8).map(
    lambda cards: tuple(sorted(cards))
)
given_masks = st.sampled_from(sorted(FOUR_OF_EIGHT))
states: st.SearchStrategy[CalPokerState] = st.one_of(
    st.just(A),
    st.builds(StateB, hashes),
    st.builds(StateC, hashes, halves),
    st.builds(lambda commit, both: StateD(commit, *both), hashes, dealt),
    st.builds(
        lambda mask, both, commit: StateE(mask, both[0], both[1], commit),
        given_masks,
        dealt,
        hashes,
    ),
)
moves = st.one_of(
    hashes,
    halves,
    st.binary(max_size=50),
    st.builds(bytes.__add__, halves, hashes),
    st.binary(min_size=1, max_size=1),
    st.just(REVEAL),
    st.binary(max_size=3).map(lambda end: SALT + end),
)
evidences = st.one_of(
    st.sampled_from([bytes([mask]) for mask in sorted(FIVE_OF_EIGHT)]),
    st.recursive(st.binary(max_size=3), lambda inner: st.tuples(inner, inner), max_leaves=4),
)


@examples(1)
@given(states, moves, st.integers(-2, 26), st.integers(0, 24), evidences)
def test_rules_and_programs_agree_on_anything(
    state: CalPokerState, move: bytes, share: int, amount: int, evidence: Value
) -> None:
    ask_both(at(state), move, share, amount, evidence, GAME)


@examples(2)
@given(hands, hands, given_masks, given_masks, st.integers(0, 255), st.integers(0, 11), evidences)
def test_rules_and_programs_agree_on_reveals(
    alice: tuple[int, ...],
    bob: tuple[int, ...],
    mine: int,
    yours: int,
    selection: int,
    share: int,
    evidence: Value,
) -> None:
    state = StateE(yours, alice, bob, discard_commit(SALT, mine))
    ask_both(at(state), SALT + bytes([mine, selection]), share, 11, evidence, GAME)


@examples(1)
@given(halves, halves, st.integers(0, 2**70))
def test_rules_and_programs_deal_alike(preimage: bytes, seed: bytes, amount: int) -> None:
    state = StateC(sha256(preimage).digest(), seed)
    assert isinstance(ask_both(at(state), preimage + bytes(32), 0, amount, NIL, GAME), Valid)


@given(states)
def test_states_are_read_back(state: CalPokerState) -> None:
    assert GAME.validators[NAMES[type(state)]].read_state(state.value(), {}) == state


@pytest.mark.parametrize("name", sorted(GAME.validators))
@given(value=st.recursive(st.binary(max_size=33), lambda v: st.tuples(v, v), max_leaves=9))
def test_a_malformed_state_is_refused(name: str, value: Value) -> None:
    try:
        state = GAME.validators[name].read_state(value, {})
    except BadState:
        return
    assert state.value() == value


def test_cards_out_of_order_or_out_of_the_pack_are_refused() -> None:
    def cards(*numbers: int) -> Value:
        return to_list([bytes([number]) if number else NIL for number in numbers])

    good, read = cards(*range(8)), StateD.read
    theirs = cards(*range(8, 16))
    assert read(to_list((DISCARDS, good, theirs)))
    for bad in (
        cards(*range(7)),
        cards(*range(9)),
        cards(1, 0, *range(2, 8)),
        cards(0, 0, *range(1, 7)),
        cards(*range(7), 52),
        to_list([b"\0", *(bytes([n]) for n in range(1, 8))]),
    ):
        for hands in ((bad, theirs), (theirs, bad)):
            with pytest.raises(BadState, match="_cards: "):
                read(to_list((DISCARDS, *hands)))
    with pytest.raises(BadState, match="bob_cards: one of them is Alice's"):
        read(to_list((DISCARDS, good, cards(7, *range(8, 15)))))
    with pytest.raises(BadState, match="bob_mask"):
        StateE.read(to_list((THREE, good, theirs, DISCARDS)))
