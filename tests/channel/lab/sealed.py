"""A small game of nobody's: Alice seals a number up to 20, Bob waits, and Alice opens it.

The seal is the tree hash of a salt and the number, so the number is an operand of a hash by itself.
Which number Alice seals is her decision, and the memory of her play.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Annotated

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.values import Value, atom_to_int, int_to_atom
from channelsim.games.contract import (
    Bytes32,
    Forced,
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

MOST = 20

HEAD = """(mod (program_hash
      (MOVER WAITER TIMEOUT AMOUNT MOD NONCE MOVE MAX_SIZE INFOHASH_B MOVER_SHARE INFOHASH_A)
      {state})
  (include *standard-cl-23*)
  (include "lib/rules.clinc")
"""
SOURCES = {
    "seal": HEAD.format(state="state")
    + '(include "hashes/wait.clinc")'
    + f"(rules (= (strlen MOVE) 32) (list WAIT_HASH (list MOVE {MOST}) 0)))",
    "wait": HEAD.format(state="sealed")
    + '(include "hashes/show.clinc") (rules (= (strlen MOVE) 0) (list SHOW_HASH sealed 17)))',
    "show": HEAD.format(state="(image most)")
    + """
  (defun-inline is_number (number most)
    (if (= number (+ number 0)) (if (> number -1) (not (> number most)) ()) ())
  )
  (rules
    (> (strlen MOVE) 15)
    (= (sha256 2 (sha256 1 (substr MOVE 0 16)) (sha256 1 (substr MOVE 16))) image)
    (is_number (substr MOVE 16) most)
    (list 0 0 0)
  )
)""",
}

RULES = {
    "SEALED-SEAL": "A seal is 32 bytes.",
    "SEALED-WAIT": "Bob's move is empty.",
    "SEALED-SHOW-1": "Alice shows at least the 16 bytes of the salt.",
    "SEALED-SHOW-2": "Salt and number hash to the seal.",
    "SEALED-SHOW-3": "The number is from 0 to the most, in the fewest bytes.",
    "SEALED-TERMS": "Even stakes.",
}


class Sealing(PlainState, frozen=True):
    """Alice seals a number."""


class Sealed(PlainState, frozen=True):
    """A number is sealed."""

    image: Bytes32
    most: Annotated[int, Integer(1, MOST)]


def seal(
    state: Sealing, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) != 32:
        return Slash("SEALED-SEAL")
    return Valid(Next("wait", Sealed(move, MOST), 0))


def wait(
    state: Sealed, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    return Slash("SEALED-WAIT") if move else Valid(Next("show", state, 17))


def show(
    state: Sealed, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    if len(move) < 16:
        return Slash("SEALED-SHOW-1")
    if image_of(move) != state.image:
        return Slash("SEALED-SHOW-2")
    number = atom_to_int(move[16:])
    if int_to_atom(number) != move[16:] or not 0 <= number <= state.most:
        return Slash("SEALED-SHOW-3")
    return Valid(None)


def image_of(opened: bytes) -> bytes:
    salt, number = (sha256(b"\x01" + part).digest() for part in (opened[:16], opened[16:]))
    return sha256(b"\x02" + salt + number).digest()


def moves(player: PlainPlayer) -> Moves:
    match player.position.validator:
        case "seal":

            def sealed(number: int) -> Play:
                image = image_of(player.secret[:16] + int_to_atom(number))
                return Play(image, 0, memory=bytes([number]))

            return {OneOf("number", tuple(range(MOST + 1)), "a number"): sealed}
        case "wait":
            return {Forced("wait"): Play(b"", 0)}
        case _:
            return {Forced("show"): Play(player.secret[:16] + int_to_atom(player.memory[0]), 0)}


VALIDATORS = by_name(
    Validator("seal", seal, Sealing.form),
    Validator("wait", wait, Sealed.form),
    Validator("show", show, Sealed.form),
)


def initial(terms: Terms) -> Initial:
    return Initial("seal", Sealing(), 32, 0)


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    return PlainPlayer(seat, terms, initial(terms).position, entropy, moves)


def sealed_game(folder: Path, old: str = "", new: str = "", program: str = "show") -> Game:
    """The game, with a mistake in a program: `new` in the place of `old`."""
    assert not old or SOURCES[program].count(old) == 1
    for name, source in SOURCES.items():
        changed = source.replace(old, new) if old and name == program else source
        (folder / f"{name}.clsp").write_text(changed, "utf-8")
    return Game(
        name="sealed",
        validators=VALIDATORS,
        programs=compile_programs(folder, VALIDATORS),
        rules=RULES,
        terms=lambda parameters: even_terms("sealed", parameters, "SEALED-TERMS"),
        initial=initial,
        player=player,
        entropy_size=16,
    )
