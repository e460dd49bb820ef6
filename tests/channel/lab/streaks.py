"""A small game of nobody's: nine times a number from 1 to 9, and a count of equal ones in a row.

Whoever says the last number takes the pot, of which the other gets an eighth for each time that a
number was said again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.values import Value, int_to_atom
from channelsim.games.contract import (
    Game,
    Hashes,
    Initial,
    Integer,
    Moves,
    Next,
    OneOf,
    PlainPlayer,
    PlainState,
    Play,
    Seat,
    Slash,
    Terms,
    Valid,
    Validator,
    Verdict,
    by_name,
    even_terms,
)

LAST = 8

SOURCE = """(mod (program_hash
      (MOVER WAITER TIMEOUT AMOUNT MOD NONCE MOVE MAX_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      (last streak turn))
  (include *standard-cl-23*)
  (include "lib/rules.clinc")
  (defun-inline counted (streak) (+ streak 1))
  (defun following (me MOVE turn streak AMOUNT MOVER_SHARE)
    (if (= turn 8)
      (if (> (/ (* AMOUNT streak) 8) MOVER_SHARE) () (list 0 0 0))
      (list me (list (+ 0 MOVE) streak (+ turn 1)) 1)
    )
  )
  (rules
    (= (strlen MOVE) 1)
    (> MOVE 0)
    (> 10 MOVE)
    (following program_hash MOVE turn
      (if (= MOVE last) (counted streak) 0) AMOUNT MOVER_SHARE)
  )
)
"""

RULES = {
    "STREAKS-SAY-1": "A number from 1 to 9, in one byte.",
    "STREAKS-SAY-2": "The other gets an eighth of the pot for each number in the row.",
    "STREAKS-TERMS": "Even stakes.",
}


class Saying(PlainState, frozen=True):
    """A number is next."""

    last: Annotated[int, Integer(0, 9)]
    streak: Annotated[int, Integer(0, LAST)]
    turn: Annotated[int, Integer(0, LAST)]


def say(
    state: Saying, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != 1 or not 1 <= move[0] <= 9:
        return Slash("STREAKS-SAY-1")
    streak = counted(state, move[0])
    if state.turn == LAST:
        return Slash("STREAKS-SAY-2") if share < amount * streak // LAST else Valid(None)
    return Valid(Next("say", Saying(move[0], streak, state.turn + 1), 1))


def counted(state: Saying, number: int) -> int:
    return state.streak + 1 if number == state.last else 0


def moves(player: PlainPlayer) -> Moves:
    state = player.position.state
    assert isinstance(state, Saying)

    def said(number: int) -> Play:
        due = player.terms.amount * counted(state, number) // LAST
        return Play(int_to_atom(number), due if state.turn == LAST else 0)

    return {OneOf("say", tuple(range(1, 10)), "a number"): said}


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    return PlainPlayer(seat, terms, initial(terms).position, b"", moves)


def initial(terms: Terms) -> Initial:
    return Initial("say", Saying(0, 0, 0), 1, 0)


def streaks(folder: Path, old: str = "", new: str = "") -> Game:
    """The game with its program, in which one text is another one."""
    assert old in SOURCE
    (folder / "say.clsp").write_text(SOURCE.replace(old, new) if old else SOURCE)
    validators = by_name(Validator("say", say, Saying.form))
    return Game(
        name="streaks",
        title="Streaks",
        validators=validators,
        programs=compile_programs(folder, validators),
        rules=RULES,
        terms=lambda parameters: even_terms("streaks", parameters, "STREAKS-TERMS"),
        initial=initial,
        player=player,
        entropy_size=0,
        reveals=False,
    )
