"""A game of one move under extra conditions: Alice says a word of four letters.

It has to be one of `WORDS`. A signer has signed each gap between two neighbours of the sorted
list, and evidence `(low high)` slashes a word inside a gap, under the gap's signature.
"""

from __future__ import annotations

import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path

from chia_rs import AugSchemeMPL

from channelsim.clsp.compiler import compile_source
from channelsim.clsp.values import Value, int_to_atom, to_list
from channelsim.games.contract import (
    Candidate,
    Evidence,
    Game,
    Hashes,
    Initial,
    Moves,
    Plain,
    PlainPlayer,
    PlainState,
    Play,
    Position,
    Raise,
    Seat,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
    even_terms,
)

AGG_SIG_UNSAFE = 49
WORDS = ("coin", "game", "move", "play")
GAPS = tuple(
    (low.encode(), high.encode()) for low, high in pairwise(("", *WORDS, "\x7f\x7f\x7f\x7f"))
)
SIGNER = AugSchemeMPL.key_gen(bytes(32))
KEY = bytes(SIGNER.get_g1())

SOURCE = """
(mod (PROGRAM_HASH
      (MOVER_PUBKEY WAITER_PUBKEY TIMEOUT AMOUNT MOD_HASH NONCE
       MOVE MAX_MOVE_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      state program evidence . rest)
  (include *standard-cl-23*)
  (defun-inline gap (low high word)
    (if (all (>s word low) (>s high word)) (concat low "-" high) (x)))
  (if (not (= (strlen MOVE) 4))
    ()
    (if evidence
      (list 0 0 0 (list CODE SIGNER (gap (f evidence) (f (r evidence)) MOVE)))
      (list 0 0 0))))
"""


class Saying(PlainState, frozen=True):
    """A word is next. CLVM: `()`."""


def condition(low: bytes, high: bytes, code: int = AGG_SIG_UNSAFE) -> Value:
    """The condition that asks for the signature of a gap."""
    return to_list((int_to_atom(code), KEY, low + b"-" + high))


@cache
def sign_gap(low: bytes, high: bytes) -> bytes:
    """The signer's signature of a gap."""
    return bytes(AugSchemeMPL.sign(SIGNER, low + b"-" + high))


def evidence_against(word: bytes) -> tuple[Candidate, ...]:
    """The gaps that touch a word, with their signatures."""
    return tuple(
        Evidence(to_list((low, high)), sign_gap(low, high))
        for low, high in GAPS
        if low <= word <= high
    )


def say_under(code: int) -> Validator:
    """The validator, which asks for a condition of this code."""

    def say(
        state: Saying, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
    ) -> Verdict:
        if len(move) != 4:
            return Slash("WORD-SAY-1")
        match evidence:
            case b"":
                return Valid(None)
            case (bytes(low), (bytes(high), _)) if low < move < high:
                return Valid(None, (condition(low, high, code),), "WORD-SAY-2")
            case _:
                return Raise("WORD-SAY-3")

    return Validator("say", say, Saying.form)


def moves(player: PlainPlayer) -> Moves:
    """A word of the list; the opponent gets nothing for a word that is none."""
    return {Plain(word): Play(word.encode(), 0) for word in WORDS}


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    """A player, who knows all words."""
    position = initial(terms).position

    def proofs(player: PlainPlayer, before: Position, move: bytes) -> tuple[Candidate, ...]:
        return evidence_against(move)

    return PlainPlayer(seat, terms, position, entropy, moves, proofs)


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("say", Saying(), 4, 0)


def word_game(source: str = SOURCE, code: int = AGG_SIG_UNSAFE) -> Game:
    """The game, with the program of this source and conditions of this code."""
    constants = {"CODE": str(code), "SIGNER": f"0x{KEY.hex()}"}
    for name, value in constants.items():
        source = source.replace(name, value)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "say.clsp"
        path.write_text(source)
        program = compile_source(path)
    return Game(
        name="words",
        validators=by_name(say_under(code)),
        programs={"say": program},
        rules={
            "WORD-TERMS-1": "A proposal has exactly the parameter `amount`.",
            "WORD-SAY-1": "A word has four letters.",
            "WORD-SAY-2": "The word is one of the list.",
            "WORD-SAY-3": "Evidence is a gap around the word.",
        },
        terms=lambda parameters: even_terms("words", parameters, "WORD-TERMS-1"),
        initial=initial,
        player=player,
        entropy_size=0,
    )
