"""A plug-in's game whose answers are checked, at the one place where its functions are called.

An answer of the wrong kind ends the command with one line that names the package, the function,
what it returned and what the contract asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from channelsim.clsp.values import Value
from channelsim.games.answers import (
    action_problem,
    advisory_problem,
    choices_problem,
    count_problem,
    evidence_problem,
    field_problem,
    initial_problem,
    lines_problem,
    mojos_problem,
    parameters_problem,
    part_problem,
    player_problem,
    showdown_problem,
    state_problem,
    summary_problem,
    taken_problem,
    terms_problem,
    verdict_problem,
    work_problem,
)
from channelsim.games.chance import Chance
from channelsim.games.choices import Action, Choice, choose, forced_action
from channelsim.games.contract import Benchmark, Carry, Game
from channelsim.games.errors import IllegalAction
from channelsim.games.evidence import Candidate
from channelsim.games.forms import Form, Hashes, ListOf, Opaque, Pair, Record
from channelsim.games.players import Play, Player, Policy, Position, Seat, Settle, Terms
from channelsim.games.story import Hand, Line, Story
from channelsim.games.verdicts import Judge, Verdict
from channelsim.plugins import answered, called, wrong_answer


def checked(game: Game) -> Game:
    """The game, each of its functions with a check of what it returns."""
    return replace(
        game,
        validators={
            name: replace(
                one,
                judge=_judge(game, name, one.judge),
                form=_form(one.form, state_problem),
            )
            for name, one in game.validators.items()
        },
        terms=answered(game.terms, terms_problem(game.name)),
        initial=answered(game.initial, initial_problem(game.validators)),
        player=_player(game),
        policies={
            name: checked_policy(f"{game.name}:{name}", one) for name, one in game.policies.items()
        },
        default_parameters=answered(game.default_parameters, parameters_problem),
        carry=_carry(game.carry),
        read_action=answered(_of_bare(game.read_action), action_problem),
        story=_Story(game.story),
        summary=_summary(game),
        part=answered(game.part, part_problem(game.parts)),
        benchmarks={name: _benchmark(one) for name, one in game.benchmarks.items()},
        showdown=answered(game.showdown, showdown_problem) if game.showdown else None,
    )


def checked_policy(name: str, policy: Policy) -> Policy:
    """The policy with a check that it returns a legal action; not asked where nothing is chosen."""

    def chosen(player: Player, chance: Chance, /) -> Action:
        choices = player.choices()
        if (only := forced_action(choices)) is not None:
            return only
        action: object = called(policy, bare(player), chance)
        if isinstance(action, Action):
            try:
                choose(choices, action)
            except (IllegalAction, TypeError) as error:
                raise wrong_answer(policy, action, f"{error} (policy {name})") from None
            return action
        raise wrong_answer(policy, action, f"not an Action (policy {name})")

    return chosen


# --- the parts of a game ------------------------------------------------------------------------


def _judge(game: Game, name: str, judge: Judge) -> Judge:
    def judged(
        state: Any, move: bytes, share: int, amount: int, evidence: Value, hashes: Hashes, /
    ) -> Verdict:
        verdict = called(judge, state, move, share, amount, evidence, hashes)
        if problem := verdict_problem(verdict, game.validators, game.rules):
            raise wrong_answer(judge, verdict, f"{problem} (the judge of {name})")
        return verdict

    return judged


def _form(form: Form, problem: Callable[[object], str] | None = None) -> Form:
    """The form with a check of what its readers written by hand return."""
    match form:
        case Opaque(write, read):
            return replace(form, read=answered(read, problem or field_problem(write)))
        case Pair(first, second):
            return Pair(_form(first), _form(second))
        case ListOf(inner):
            return replace(form, form=_form(inner))
        case Record(_, fields):
            return replace(form, fields=tuple((name, _form(inner)) for name, inner in fields))
    return form


@dataclass(frozen=True)
class CheckedPlayer:
    """A player of a plug-in, which answers as the contract says or ends the command."""

    inner: Player

    @property
    def seat(self) -> Seat:
        """The role of this player."""
        return self.inner.seat

    @property
    def position(self) -> Position:
        """The position after the last move."""
        return self.inner.position

    def choices(self) -> tuple[Choice, ...]:
        """The legal choices."""
        return answered(self.inner.choices, choices_problem)()

    def act(self, action: Action) -> Play | Settle:
        """The play that takes an action. Raises `IllegalAction` with the reason."""
        return answered(self.inner.act, taken_problem)(action)

    def moved(self, position: Position) -> CheckedPlayer:
        """The player after a legal move of either seat."""
        after = answered(self.inner.moved, player_problem)(position)
        return CheckedPlayer(after)

    def evidence(self, before: Position, move: bytes) -> tuple[Candidate, ...]:
        """Evidence to try against the opponent's move."""
        return answered(self.inner.evidence, evidence_problem)(before, move)

    def advisory(self) -> bytes | None:
        """An early reveal of the next move."""
        return answered(self.inner.advisory, advisory_problem)()

    def advised(self, data: bytes) -> CheckedPlayer:
        """The player after the opponent's early reveal."""
        after = answered(self.inner.advised, player_problem)(data)
        return CheckedPlayer(after)


def bare(player: Player) -> Player:
    """The player as its author made it."""
    return player.inner if isinstance(player, CheckedPlayer) else player


def _player(game: Game) -> Callable[[Seat, Terms, bytes], Player]:
    make = answered(game.player, player_problem)

    def made(seat: Seat, terms: Terms, entropy: bytes) -> Player:
        return CheckedPlayer(make(seat, terms, entropy))

    return made


def _bare_hand(hand: Hand) -> Hand:
    """The hand with players as their author made them."""
    steps = tuple(
        replace(
            step,
            players_before=(bare(step.players_before[0]), bare(step.players_before[1])),
            players=(bare(step.players[0]), bare(step.players[1])),
        )
        for step in hand.steps
    )
    return replace(hand, steps=steps)


def _of_bare(read: Callable[[Player, str], Action]) -> Callable[[Player, str], Action]:
    return lambda player, text: read(bare(player), text)


def _summary(game: Game) -> Callable[[Hand, Seat | None], dict[str, Any]]:
    shown = answered(game.summary, summary_problem)
    return lambda hand, viewer: shown(_bare_hand(hand), viewer)


def _carry(carry: Carry | None) -> Carry | None:
    if carry is None:
        return None
    return Carry(answered(carry.left, mojos_problem), answered(carry.add, parameters_problem))


def _benchmark(prepare: Benchmark) -> Benchmark:
    prepared = answered(prepare, work_problem)

    def made() -> Callable[[], int] | None:
        work = prepared()
        return work and answered(work, count_problem)

    return made


@dataclass(frozen=True)
class _Story:
    inner: Story

    def step(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        return answered(self.inner.step, lines_problem)(_bare_hand(hand), viewer)

    def result(self, hand: Hand, viewer: Seat | None) -> list[Line]:
        return answered(self.inner.result, lines_problem)(_bare_hand(hand), viewer)

    def view(self, player: Player) -> list[Line]:
        return answered(self.inner.view, lines_problem)(bare(player))
