"""A player that any game can use whose players need to know no more than a secret and the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from channelsim.clsp.analysis.text import atom_text
from channelsim.games.answers import CHOICES, EVIDENCE, taken_problem
from channelsim.games.case_text import at
from channelsim.games.choices import Action, Choice, accept, choose
from channelsim.games.errors import BadAdvisory
from channelsim.games.evidence import Candidate
from channelsim.games.players import Play, Position, Seat, Settle, Terms
from channelsim.plugins import called, wrong_answer

Taken: TypeAlias = Play | Settle | Callable[[int], Play | Settle]
"""The play that takes a choice; where the choice takes a number, a function of the number."""

Moves: TypeAlias = Mapping[Choice, Taken]
"""Every choice of a player in its turn, with the play that takes it."""


def no_proofs(player: PlainPlayer, before: Position, move: bytes) -> tuple[Candidate, ...]:
    """No evidence besides `()`, in a game whose validators read none."""
    return ()


@dataclass(frozen=True)
class PlainPlayer:
    """One seat of a game: its secret bytes, and the game's functions of what it knows.

    `moves` returns the choices of a player whose turn it is, in `position.state`. Accepting the
    result of a game that is over is not among them; a fold, where the game has one, is
    (`Plain("fold"): Settle()`). `proofs` returns the evidence to try against the opponent's move.
    `hidden` is what the seat hides, bytes by name, in a game that declares it (`Game.hidden`), and
    `memory` that of its latest play that had one (`Play.memory`).
    """

    seat: Seat
    terms: Terms
    position: Position
    secret: bytes = field(repr=False)
    moves: Callable[[PlainPlayer], Moves]
    proofs: Callable[[PlainPlayer, Position, bytes], tuple[Candidate, ...]] = no_proofs
    hidden: Mapping[str, bytes] = field(default_factory=dict, repr=False, hash=False)
    memory: bytes = field(default=b"", repr=False)

    def choices(self) -> tuple[Choice, ...]:
        """The legal choices: none when it is the opponent's turn."""
        return tuple(self._moves())

    def act(self, action: Action) -> Play | Settle:
        """The move or settlement that takes an action. Raises `IllegalAction`, with the choices."""
        moves = self._moves()
        taken = moves[choose(tuple(moves), action)]
        play = called(taken, self._case)(action.amount) if callable(taken) else taken
        if problem := taken_problem(play):
            raise wrong_answer(self.moves, play, f"{problem}, for {action.verb!r}", self._case())
        return play

    def _case(self, *given: object) -> str:
        """The turn in words; of evidence, the position and the move that it is asked about."""
        before = given[1] if len(given) > 1 and isinstance(given[1], Position) else self.position
        move = given[2] if len(given) > 2 else None
        about = f"; given {atom_text(move)}" if isinstance(move, bytes) else ""
        return f"{self.seat.name.capitalize()}'s turn{at(before)}{about}"

    def _moves(self) -> Moves:
        if self.position.mover is not self.seat:
            return {}
        if self.position.over:
            return dict.fromkeys(accept(self.position.mover_share, self.terms.unit), Settle())
        return called(self.moves, self._case, self._moves_problem)(self)

    def _moves_problem(self, moves: object) -> str:
        if not isinstance(moves, Mapping) or CHOICES(tuple(moves)):
            return "not a dictionary of plays by choice"
        return "" if moves else f"no choice of a player in its turn, {self.position.validator}"

    def moved(self, position: Position) -> PlainPlayer:
        """The player after a legal move of either seat."""
        return replace(self, position=position)

    def remembered(self, memory: bytes) -> PlainPlayer:
        """The player after its own play with this memory."""
        return replace(self, memory=memory)

    def evidence(self, before: Position, move: bytes) -> tuple[Candidate, ...]:
        """Evidence to try against the opponent's move, besides `()`."""
        return called(self.proofs, self._case, EVIDENCE)(self, before, move)

    def advisory(self) -> bytes | None:
        """None: no early reveal."""
        return None

    def advised(self, data: bytes) -> PlainPlayer:
        """Refuse an early reveal."""
        raise BadAdvisory("this game has no early reveals")
