"""The questions to a player: each waits for its turn, and none is about what is no longer open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from channelsim.channel.peer.interface import (
    AcceptGames,
    Act,
    CancelGames,
    Cancelled,
    Command,
    Effect,
    Event,
    Proposed,
    Tell,
    YourTurn,
)
from channelsim.channel.session.questions import PlayerOfPeer

Question: TypeAlias = Proposed | YourTurn

Subject: TypeAlias = tuple[type, int]
"""A kind of question, and the id of the proposal or the game that it is about."""

SOON = 1.0
"""Seconds in which a player hears of a question at most, once it is the next one."""


@dataclass(slots=True)
class QuestionsDue:
    """Follows the questions to the player of a process.

    They `wait` since a time, in seconds, the oldest first; `withdrawn` are proposals that ended
    before the player was asked. The `last` question is what the player was asked at a time, and
    perhaps has `answered`.
    """

    waiting: dict[Subject, float] = field(default_factory=dict)
    withdrawn: dict[Subject, float] = field(default_factory=dict)
    last: Subject | None = None
    answered: bool = True
    asked_at: float = 0.0

    def follow(self, event: Event | None, effects: Sequence[Effect], now: float) -> None:
        """Take the questions of an event; None for the start, or a restart."""
        if event is None:
            self.waiting.clear()
            self.withdrawn.clear()
            self.last, self.answered = None, True
        if self.last is not None and _answers(event) == self.last:
            self.answered = True
        begun = set[Subject]()
        for effect in effects:
            match effect:
                case Tell(Cancelled(group)) if (Proposed, group.id) in self.waiting:
                    over = Proposed, group.id
                    del self.waiting[over]
                    # One that begins and ends with an event is never to be asked about.
                    self.withdrawn[over] = now - 2 * SOON if over in begun else now
                case Tell(Proposed() | YourTurn() as question):
                    about = _about(question)
                    # The peer asks again with each potato, also while the player thinks.
                    if self.answered or about != self.last:
                        self.waiting.setdefault(about, now)
                        begun.add(about)
                case _:
                    pass

    def asked(self, question: Question, now: float) -> Iterator[str]:
        """Find what is wrong with a question that the player is asked now."""
        about = _about(question)
        kind, number = about
        since = self.withdrawn.get(about, now)
        if now - since > SOON:
            yield f"is asked about proposal {number}, which is no longer open"
        if about in self.waiting:
            first = next(other for other in self.waiting if other[0] is kind)
            if first != about:
                yield f"is asked about {_text(about)}, and {_text(first)} waits for longer"
            # A turn that came before the last question was there when this one was chosen.
            turns = [
                other
                for other, since in self.waiting.items()
                if other[0] is YourTurn and since < self.asked_at
            ]
            in_a_row = kind is Proposed and self.last is not None and self.last[0] is Proposed
            if in_a_row and turns:
                yield f"is asked about two proposals in a row, and {_text(turns[0])} waits"
        self.waiting.pop(about, None)
        self.last, self.answered, self.asked_at = about, False, now


@dataclass(slots=True)
class AskedPlayer:
    """A player, of whose questions another hears first."""

    player: PlayerOfPeer
    hear: Callable[[Question], None]

    def answer(self, question: Question) -> Command | None:
        """Answer a question."""
        self.hear(question)
        return self.player.answer(question)

    def next_command(self) -> Command | None:
        """The next command of the player's own accord."""
        return self.player.next_command()


def _about(question: Question) -> Subject:
    match question:
        case Proposed(group):
            return Proposed, group.id
        case YourTurn(game_id):
            return YourTurn, game_id


def _answers(event: Event | None) -> Subject | None:
    match event:
        case Act(game_id):
            return YourTurn, game_id
        case AcceptGames(group_id) | CancelGames(group_id):
            return Proposed, group_id
        case _:
            return None


def _text(about: Subject) -> str:
    kind, number = about
    return f"proposal {number}" if kind is Proposed else f"game {number}"
