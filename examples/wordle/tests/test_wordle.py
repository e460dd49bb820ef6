"""The rules of Wordle: Python and programs agree, and each rule says yes and no."""

from __future__ import annotations

from hashlib import sha256
from itertools import product
from pathlib import Path

import pytest
from wordle import GAME
from wordle.dictionary import WORDS, gap_message, gaps, gaps_at
from wordle.marks import ALL_PLACED, fits, marks
from wordle.sign_dictionary import TEST_KEY, signed_gaps
from wordle.states import Answering, Committing, Guessing

from channelsim.clsp.run import run_serialized
from channelsim.clsp.values import NIL, Value, to_list
from channelsim.games import vectors
from channelsim.games.contract import Raise, Slash, Valid, Verdict
from channelsim.games.evidence import for_challenger, met
from channelsim.games.judge import NO_ADDRESS, disagreement, hashes_of
from channelsim.games.referee import FIRST, GameCoin, validator_arguments

CORPUS = Path(__file__).parent / "corpus"

AMOUNT = 2000
HASHES = hashes_of(GAME)
SALT = bytes(range(16))
WORD = b"crane"
FOUR_ROUNDS = b"".join(
    guess + marks(guess, WORD) for guess in (b"apple", b"bread", b"cloud", b"money")
)
UNFIT = {"guess": Raise("WORDLE-GUESS-3"), "clue": Raise("WORDLE-CLUE-10")}


def commit(secret: bytes) -> bytes:
    return sha256(secret).digest()


def judged(
    name: str, state: Committing | Guessing | Answering, move: bytes, share: int, evidence: Value
) -> Verdict:
    """The verdict of the rules, with which the program has to agree."""
    verdict = GAME.validators[name].judge(state, move, share, AMOUNT, evidence, HASHES)
    coin = GameCoin(
        mover_key=bytes(48),
        waiter_key=bytes(48),
        timeout=15,
        amount=AMOUNT,
        mod_hash=bytes(32),
        nonce=0,
        move=move,
        max_move_size=0,
        infohash_b=b"",
        mover_share=share,
        infohash_a=FIRST,
    )
    program = GAME.programs[name]
    arguments = validator_arguments(coin, state.value(), program, evidence, NO_ADDRESS)
    outcome = run_serialized(program.serialized, arguments)
    assert disagreement(verdict, outcome, HASHES) is None
    return verdict


def ruling(name: str, state: Committing | Guessing | Answering, move: bytes, share: int = 0) -> str:
    """The rule that a move breaks by any evidence that a player has; empty for a legal move."""
    for evidence, signature in [
        (NIL, b""),
        *((to_list((gap.low, gap.high)), gap.signature) for gap in gaps_at(move[:5])),
    ]:
        said = for_challenger(judged(name, state, move, share, evidence), signature)
        if isinstance(said, Slash):
            return said.rule
    return ""


def answering(guess: bytes = WORD, history: bytes = b"", secret: bytes = WORD + SALT) -> Answering:
    return Answering(commit(secret), history, guess, HASHES["guess"])


@pytest.mark.parametrize(
    ("move", "rule"),
    [
        (b"house", ""),
        (b"apple", ""),
        (b"zebra", ""),
        (b"hous", "WORDLE-GUESS-1"),
        (b"houses", "WORDLE-GUESS-1"),
        (b"", "WORDLE-GUESS-1"),
        (b"House", "WORDLE-GUESS-2"),
        (b"hous{", "WORDLE-GUESS-2"),
        (b"hou\xffe", "WORDLE-GUESS-2"),
        (b"hous`", "WORDLE-GUESS-2"),
        (b"housa", "WORDLE-GUESS-4"),
        (b"aaaaa", "WORDLE-GUESS-4"),
        (b"zzzzz", "WORDLE-GUESS-4"),
    ],
)
def test_a_guess_is_a_word(move: bytes, rule: str) -> None:
    assert ruling("guess", Guessing(bytes(32), b""), move) == rule


def test_a_commitment_has_32_bytes() -> None:
    assert ruling("commit", Committing(), bytes(32)) == ""
    assert ruling("commit", Committing(), bytes(31)) == "WORDLE-COMMIT-1"


@pytest.mark.parametrize(
    ("state", "move", "share", "rule"),
    [
        (answering(b"house"), b"....~", 0, ""),
        (answering(b"house"), b"....", 0, "WORDLE-CLUE-1"),
        (answering(b"house"), b"....*", 0, "WORDLE-CLUE-2"),
        (answering(b"house"), ALL_PLACED, 0, "WORDLE-CLUE-3"),
        (answering(b"house", FOUR_ROUNDS), b"....~", 0, "WORDLE-CLUE-4"),
        (answering(), WORD + SALT, 1800, ""),
        (answering(), WORD + SALT, 1799, "WORDLE-CLUE-9"),
        (answering(), WORD + SALT[1:], 1800, "WORDLE-CLUE-1"),
        (answering(), WORD + SALT[1:] + b"x", 1800, "WORDLE-CLUE-5"),
        (answering(secret=b"Crane" + SALT), b"Crane" + SALT, 2000, "WORDLE-CLUE-6"),
        (answering(WORD, FOUR_ROUNDS), WORD + SALT, 200, ""),
        (answering(WORD, FOUR_ROUNDS), WORD + SALT, 199, "WORDLE-CLUE-9"),
        (answering(WORD, FOUR_ROUNDS[:20]), WORD + SALT, 1000, ""),
        (answering(WORD, b"house.....house....~"), WORD + SALT, 2000, "WORDLE-CLUE-7"),
        (answering(b"house"), WORD + SALT, 2000, "WORDLE-CLUE-8"),
        (answering(b"house", FOUR_ROUNDS), WORD + SALT, 0, ""),
        (answering(b"crani", secret=b"crani" + SALT), b"crani" + SALT, 1800, "WORDLE-CLUE-11"),
    ],
)
def test_an_answer(state: Answering, move: bytes, share: int, rule: str) -> None:
    assert ruling("clue", state, move, share) == rule


@pytest.mark.parametrize(
    "evidence",
    [
        b"house",
        (b"horse", b"juice"),
        to_list((b"horse",)),
        to_list((b"horse", b"juice", NIL)),
        to_list((b"hors", b"juice")),
        to_list((b"horse", b"juicer")),
        to_list(((b"horse", NIL), b"juice")),
        to_list((b"horse", b"house")),
        to_list((b"house", b"juice")),
        to_list((b"juice", b"knife")),
    ],
)
def test_evidence_that_is_no_gap_around_the_word_fails(evidence: Value) -> None:
    said = judged("guess", Guessing(bytes(32), b""), b"house", 0, evidence)
    assert said == UNFIT["guess"]
    secret = b"house" + SALT
    said = judged("clue", answering(b"house", secret=secret), secret, AMOUNT, evidence)
    assert said == UNFIT["clue"]


def test_a_gap_that_nobody_signed_proves_nothing() -> None:
    said = judged("guess", Guessing(bytes(32), b""), b"house", 0, to_list((b"hours", b"housz")))
    assert isinstance(said, Valid)
    assert said.rule == "WORDLE-GUESS-4"
    assert not any(met(said.conditions, gap.signature) for gap in gaps())


def test_marks_are_those_of_a_plain_count() -> None:
    """Another way to count: of each letter, as many marks as both words have of it."""
    for guess, word in product(WORDS, repeat=2):
        clue = marks(guess, word)
        for letter in set(guess):
            places = [at for at in range(5) if guess[at] == letter]
            marked = [at for at in places if clue[at] != ord(".")]
            assert len(marked) == min(len(places), word.count(letter))
        assert [mark == ord("=") for mark in clue] == [
            a == b for a, b in zip(guess, word, strict=True)
        ]


def test_a_history_fits_the_word_that_it_was_made_for() -> None:
    assert fits(WORD, FOUR_ROUNDS)
    assert [word for word in WORDS if fits(word, FOUR_ROUNDS)] == [WORD]


@pytest.mark.parametrize("file", sorted(CORPUS.glob("*.jsonl")), ids=lambda file: file.stem)
def test_the_corpus_is_decided_as_it_says(file: Path) -> None:
    """Its cases reach all code of the programs, also where generated hands rarely come."""
    with file.open("rb") as lines:
        cases = list(vectors.read(lines))
    assert cases
    assert [vectors.check(case, GAME) for case in cases] == [[]] * len(cases)


def test_the_dictionary_is_sorted_and_signed() -> None:
    assert list(WORDS) == sorted(set(WORDS))
    assert {len(word) for word in WORDS} == {5}
    assert [
        f"{gap.low.decode()} {gap.high.decode()} {gap.signature.hex()}" for gap in gaps()
    ] == list(signed_gaps())
    assert [gap.high for gap in gaps()[:-1]] == list(WORDS) == [gap.low for gap in gaps()[1:]]
    assert bytes(TEST_KEY.get_g1()) in GAME.programs["guess"].serialized
    assert gap_message(b"apple", b"beach") == b"wordle-test-1applebeach"
