"""Ticks: two players take one or two of ten ticks in turn; who takes the last one takes the pot.

One validator judges every move, and leads to itself; nothing is hidden.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from channelsim.clsp.compiler import compile_programs
from channelsim.clsp.values import Value, int_to_atom
from channelsim.games.contract import (
    Forced,
    Game,
    Hashes,
    Initial,
    Integer,
    Moves,
    Next,
    Parameters,
    Plain,
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

TICKS = 10

RULES = {
    "TICKS-TERMS-1": "A proposal has exactly the parameter `amount`: positive, even, below 2^63.",
    "TICKS-TICK-1": "A move takes one tick, or two if more than one is left.",
}


class Ticking(PlainState, frozen=True):
    """A tick is next. CLVM: the atom `left`, how many ticks are left."""

    left: Annotated[int, Integer(1, TICKS)]


def tick(
    state: Ticking, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes
) -> Verdict:
    """Take ticks. MOVE is their number; the last one ends the game."""
    if move != b"\x01" and (move != b"\x02" or state.left == 1):
        return Slash("TICKS-TICK-1")
    left = state.left - move[0]
    return Valid(Next("tick", Ticking(left), 1) if left else None)


def terms(parameters: Parameters) -> Terms:
    """Check the parameters of a proposal. Raises `BadTerms`."""
    return even_terms("ticks", parameters, "TICKS-TERMS-1")


def initial(terms: Terms) -> Initial:
    """The record of the first coin."""
    return Initial("tick", Ticking(TICKS), 1, 0)


def moves(player: PlainPlayer) -> Moves:
    """The choices. A move leaves the opponent nothing, whether it times out or has lost."""
    one, two = Play(int_to_atom(1), 0), Play(int_to_atom(2), 0)
    if player.position.state == Ticking(1):
        return {Forced("one"): one}
    return {Plain("one"): one, Plain("two"): two}


def player(seat: Seat, terms: Terms, entropy: bytes) -> PlainPlayer:
    """A player at the start of a game, which has no secrets."""
    return PlainPlayer(seat, terms, initial(terms).position, b"", moves)


VALIDATORS = by_name(Validator("tick", tick, Ticking.form))

GAME = Game(
    name="ticks",
    title="Ticks: who takes the last of ten takes the pot",
    validators=VALIDATORS,
    programs=compile_programs(Path(__file__).parent, VALIDATORS),
    rules=RULES,
    terms=terms,
    initial=initial,
    player=player,
    entropy_size=0,
    reveals=False,
)
