"""Extra conditions of a verdict, and the signatures that meet them."""

from __future__ import annotations

import dataclasses
from functools import cache

import msgspec
import pytest
from chia_rs import AugSchemeMPL

from channelsim.clsp.values import NIL, Value, int_to_atom, to_list
from channelsim.games import vectors
from channelsim.games.contract import Action, Candidate, Evidence, Game, Play, Seat, Slash, Valid
from channelsim.games.errors import IllegalAction
from channelsim.games.evidence import (
    LONGEST_MESSAGE,
    MOST_CONDITIONS,
    as_evidence,
    for_challenger,
    met,
    unchecked,
)
from channelsim.games.hidden import seated
from channelsim.games.judge import Ruling, hashes_of, judge_move, own_move
from channelsim.games.referee import GameCoin, infohash
from channelsim.games.vectors import BadCase, Case
from tests.games.word_game import (
    AGG_SIG_UNSAFE,
    GAPS,
    KEY,
    SIGNER,
    SOURCE,
    condition,
    evidence_against,
    sign_gap,
    word_game,
)

AMOUNT = 200
AGG_SIG_ME = 50
INFINITE_KEY, INFINITE_SIGNATURE = b"\xc0" + bytes(47), b"\xc0" + bytes(95)


@cache
def words(code: int = AGG_SIG_UNSAFE) -> Game:
    return word_game(code=code)


def signed(message: bytes) -> bytes:
    return bytes(AugSchemeMPL.sign(SIGNER, message))


def asks_for(message: bytes, key: bytes = KEY, code: int = AGG_SIG_UNSAFE) -> Value:
    return to_list((int_to_atom(code), key, message))


def test_a_signature_of_exactly_the_message_meets_a_condition() -> None:
    assert met([asks_for(b"one")], signed(b"one"))
    assert not met([asks_for(b"one")], signed(b"two"))
    assert not met([asks_for(b"one")], b"")
    assert not met([asks_for(b"one")], bytes(96))
    assert not met([], INFINITE_SIGNATURE)
    assert not met([], signed(b"one"))


def test_all_conditions_have_to_be_met() -> None:
    both = bytes(
        AugSchemeMPL.aggregate(
            [AugSchemeMPL.sign(SIGNER, b"one"), AugSchemeMPL.sign(SIGNER, b"two")]
        )
    )
    assert met([asks_for(b"one"), asks_for(b"two")], both)
    assert not met([asks_for(b"one"), asks_for(b"two")], signed(b"one"))
    assert not met([asks_for(b"one")], both)
    assert not met([asks_for(b"one"), asks_for(b"one", code=AGG_SIG_ME)], signed(b"one"))


@pytest.mark.parametrize(
    "bad",
    [
        NIL,
        b"\x31",
        to_list((b"\x31", KEY)),
        to_list((b"\x31", KEY, b"one", b"more")),
        (b"\x31", (KEY, (b"one", b"x"))),
        to_list((b"\x31", KEY[1:], b"one")),
        to_list((b"\x31", (KEY, NIL), b"one")),
        to_list((b"\x00\x31", KEY, b"one")),
    ],
)
def test_what_is_no_condition_of_that_kind_is_not_met(bad: Value) -> None:
    assert not met([bad], signed(b"one"))


def test_nobody_can_sign_for_the_infinite_key() -> None:
    assert not met([asks_for(b"one", INFINITE_KEY)], INFINITE_SIGNATURE)


def test_number_and_size_are_bounded() -> None:
    longest = b"m" * LONGEST_MESSAGE
    assert met([asks_for(longest)], signed(longest))
    assert not met([asks_for(longest + b"m")], signed(longest + b"m"))
    many = [asks_for(b"one")] * (MOST_CONDITIONS + 1)
    one = AugSchemeMPL.sign(SIGNER, b"one")
    assert met(many[1:], bytes(AugSchemeMPL.aggregate([one] * MOST_CONDITIONS)))
    assert not met(many, bytes(AugSchemeMPL.aggregate([one] * len(many))))
    assert unchecked(many) == "17 conditions, more than 16"
    assert unchecked(many[1:]) == ""


def test_what_cannot_be_checked_off_chain_is_named() -> None:
    conditions = [asks_for(b"one"), asks_for(b"one", code=AGG_SIG_ME), asks_for(b"one", code=82)]
    assert unchecked(conditions) == "condition 0x32, 0x52 cannot be checked off chain"


def test_the_verdict_depends_on_the_signature() -> None:
    verdict = Valid(None, (asks_for(b"one"),), "X-1")
    assert for_challenger(verdict, signed(b"one")) == Slash("X-1")
    assert for_challenger(verdict, signed(b"two")) is verdict
    assert for_challenger(Valid(None), INFINITE_SIGNATURE) == Valid(None)


# --- judging ----------------------------------------------------------------------------------


def ruling(
    word: bytes, *candidates: Candidate, game: Game | None = None, commitment: bytes = b""
) -> Ruling:
    """The ruling on a word, by a challenger with this evidence."""
    game = game or words()
    hashes = hashes_of(game)
    terms = game.terms({"amount": AMOUNT})
    before = game.initial(terms).position
    coin = GameCoin(
        mover_key=bytes(48),
        waiter_key=bytes(48),
        timeout=15,
        amount=AMOUNT,
        mod_hash=bytes(32),
        nonce=0,
        move=word,
        max_move_size=0,
        infohash_b=commitment,
        mover_share=0,
        infohash_a=infohash(hashes["say"], bytes(32)),
    )
    return judge_move(game, hashes, before, coin, candidates)


def test_a_move_is_illegal_if_the_evidence_meets_its_conditions() -> None:
    (held,) = evidence_against(b"luck")
    assert ruling(b"luck", held) == Ruling(False, None, "WORD-SAY-2", as_evidence(held), 2, ())
    assert ruling(b"luck", b"", held).evidence == held


@pytest.mark.parametrize("word", [b"coin", b"move", b"play"])
def test_no_evidence_slashes_a_word(word: bytes) -> None:
    candidates = evidence_against(word)
    assert len(candidates) == 2
    found = ruling(word, *candidates)
    assert (found.legal, found.evidence, found.runs, found.disagreements) == (True, None, 3, ())


def test_an_unsigned_gap_slashes_nothing() -> None:
    invented = to_list((b"luca", b"lucz"))
    for held in (invented, Evidence(invented, sign_gap(*GAPS[2])), to_list(GAPS[2])):
        assert ruling(b"luck", held).legal


def test_a_slash_that_needs_no_signature_is_made_without_it() -> None:
    """A signature that nobody asks for makes the signature of the whole bundle wrong."""
    condition = "(list CODE SIGNER (gap (f evidence) (f (r evidence)) MOVE))"
    strict = word_game(SOURCE.replace(f"(list 0 0 0 {condition})", "()"))
    held = Evidence(to_list(GAPS[2]), sign_gap(*GAPS[2]))
    assert ruling(b"luck", held, game=strict).evidence == Evidence(held.value)
    unsaid = word_game(SOURCE.replace("\n      (list 0 0 0))))", "\n      (x))))"))
    found = ruling(b"luck", held, game=unsaid, commitment=bytes(32))
    assert (found.legal, found.evidence) == (False, Evidence(held.value))


def test_a_wrong_commitment_is_slashed_without_a_signature() -> None:
    found = ruling(b"luck", to_list(GAPS[2]), commitment=bytes(32))
    assert (found.legal, found.evidence) == (False, Evidence(NIL))


def test_conditions_that_cannot_be_checked_are_reported_and_slash_nothing() -> None:
    found = ruling(b"luck", *evidence_against(b"luck"), game=words(AGG_SIG_ME))
    assert found.legal
    assert found.disagreements == ("words/say: condition 0x32 cannot be checked off chain",)


def test_a_mover_does_not_make_a_move_that_conditions_might_slash() -> None:
    game, terms = words(), words().terms({"amount": AMOUNT})
    before = game.initial(terms).position
    play = Play(b"luck", 0, to_list(GAPS[2]))
    with pytest.raises(IllegalAction, match=r"WORD-SAY-2: The word is one of the list\."):
        own_move(game, hashes_of(game), before, AMOUNT, play)
    player = seated(game, Seat.ALICE, terms, b"")
    honest = player.act(Action("game"))
    assert isinstance(honest, Play)
    assert own_move(game, hashes_of(game), before, AMOUNT, honest) is None


def test_rules_and_program_are_compared_on_their_conditions() -> None:
    game = words()
    mixed = dataclasses.replace(game, programs=words(AGG_SIG_ME).programs)
    case = vector(b"luck", GAPS[2])
    assert vectors.check(case, game) == []
    assert vectors.check(case, mixed) == ["program: the list of conditions differs"]


# --- conformance cases ------------------------------------------------------------------------


def vector(word: bytes, gap: tuple[bytes, bytes]) -> Case:
    """The conformance case of a word that a gap slashes."""
    low, high = (f"0x{word.hex()}" for word in gap)
    message = f"0x{(gap[0] + b'-' + gap[1]).hex()}"
    return Case(
        id="words-1",
        tag="gap",
        game="words",
        validator="say",
        amount=AMOUNT,
        mover_share=0,
        max_move_size=4,
        move=word.hex(),
        state="0x",
        evidence=[low, high],
        expect="valid",
        conditions=[[AGG_SIG_UNSAFE, f"0x{KEY.hex()}", message]],
        signature=sign_gap(*gap).hex(),
    )


def test_a_case_states_conditions_and_the_signature_that_meets_them() -> None:
    case = vector(b"luck", GAPS[2])
    assert list(vectors.read([msgspec.json.encode(case)])) == [case]
    without = msgspec.structs.replace(case, conditions=[], signature="")
    assert vectors.check(without, words()) == [
        "python: the result has 4 elements",
        "program: the result has 4 elements",
    ]
    asked = [[AGG_SIG_UNSAFE, f"0x{KEY.hex()}", "0x00"]]
    wrong = msgspec.structs.replace(case, conditions=asked, signature="")
    assert vectors.check(wrong, words()) == [
        "python: the list of conditions differs",
        "program: the list of conditions differs",
    ]
    stranger = msgspec.structs.replace(case, signature=sign_gap(*GAPS[0]).hex())
    assert vectors.check(stranger, words()) == ["the signature does not meet the conditions"]


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"conditions": ["no value"]}, "conditions"),
        ({"conditions": [[1]] * (MOST_CONDITIONS + 1)}, "conditions"),
        ({"expect": "slash"}, "conditions"),
        ({"signature": "00"}, "signature"),
        ({"signature": "zz" * 96}, "signature"),
    ],
)
def test_a_bad_case_is_refused(change: dict[str, object], key: str) -> None:
    case = msgspec.structs.replace(vector(b"luck", GAPS[2]), **change)
    with pytest.raises(BadCase, match=f"key `{key}`"):
        list(vectors.read([msgspec.json.encode(case)]))


def test_the_condition_is_the_one_that_the_rules_state() -> None:
    game = words()
    judge = game.validators["say"].judge
    before = game.initial(game.terms({"amount": AMOUNT})).position
    verdict = judge(before.state, b"luck", 0, AMOUNT, to_list(GAPS[2]), hashes_of(game))
    assert verdict == Valid(None, (condition(*GAPS[2]),), "WORD-SAY-2")
