"""Judge a move by the Python rules and by the program, and compare the two.

The program decides, as it will on chain; a disagreement of the rules is reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from channelsim.clsp.analysis.text import atom_text
from channelsim.clsp.programs import Program
from channelsim.clsp.run import (
    Outcome,
    ProgramSlash,
    ProgramValid,
    Raised,
    run_serialized,
)
from channelsim.clsp.values import (
    NIL,
    NotAList,
    Value,
    from_list,
    list_of,
    serialize,
    tree_hash,
)
from channelsim.games.case_text import at
from channelsim.games.contract import (
    Game,
    Hashes,
    Next,
    Play,
    Position,
    Raise,
    Slash,
    Valid,
    Verdict,
)
from channelsim.games.errors import BadState, IllegalAction, IllegalMove
from channelsim.games.evidence import (
    Candidate,
    Evidence,
    as_evidence,
    met,
    unchecked,
)
from channelsim.games.referee import (
    GameCoin,
    RefereeRefusal,
    compare,
    infohash,
    slash_solution,
    validator_arguments,
)

NO_ADDRESS = bytes(32)
"""A payout address for a slash: no validator reads it."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on a received move.

    A legal move leads to `next` (None: the game is over). An illegal move breaks `rule`, which
    is empty when it only declares another next record or share than its validator says.
    `evidence` is what makes the slash pay, with a signature only if it needs one: another would
    spoil the bundle. None if no evidence of the receiver makes it pay. `runs` is
    the number of runs of the program, and `disagreements` says in a line each how rules and
    program differ, or which extra conditions cannot be checked off chain.
    """

    legal: bool
    next: Next | None
    rule: str
    evidence: Evidence | None
    runs: int
    disagreements: tuple[str, ...]


@lru_cache(maxsize=256)
def hashes_of(game: Game) -> Hashes:
    """The tree hash of each of the game's programs, by validator."""
    return MappingProxyType({name: program.hash for name, program in game.programs.items()})


def commitment(step: Next | None, hashes: Hashes) -> bytes:
    """The infohash that a legal move commits to; empty for a move that ends the game."""
    if step is None:
        return b""
    return infohash(hashes[step.validator], tree_hash(step.state.value()))


def result_value(step: Next | None, hashes: Hashes, conditions: tuple[Value, ...] = ()) -> Value:
    """The result of a program for a legal move that leads to `step`, with extra conditions."""
    if step is None:
        return list_of(NIL, NIL, NIL, *conditions)
    return list_of(hashes[step.validator], step.state.value(), step.max_move_size, *conditions)


def position_after(before: Position, step: Next | None, move: bytes, share: int) -> Position:
    """The position after a legal move from `before` to the record `step`."""
    mover = before.mover.other
    if step is None:
        return Position(None, None, mover, share, 0, move)
    return Position(step.validator, step.state, mover, share, step.max_move_size, move)


def own_move(game: Game, hashes: Hashes, before: Position, amount: int, play: Play) -> Next | None:
    """The record after a player's own move; None if it ends the game.

    Raises `IllegalMove` if the rules refuse it, or accept it under extra conditions only: the
    opponent may be able to meet them. Also for a next state that does not fit its form.
    """
    if before.validator is None:
        raise IllegalAction("the game is over")
    judge = game.validators[before.validator].judge
    verdict = judge(before.state, play.move, play.share, amount, play.evidence, hashes)
    if isinstance(verdict, Valid) and not verdict.conditions:
        check_next(game, hashes, before, play.move, play.share, verdict.next)
        return verdict.next
    sentence = game.rules.get(verdict.rule, "extra conditions")
    raise IllegalMove(
        f"the game {game.name}: its player's own move at {before.validator} breaks"
        f" {verdict.rule}: {sentence}"
    )


def program_record(
    game: Game, hashes: Hashes, before: Position, coin: GameCoin, play: Play
) -> Next | None:
    """The record that a move from this coin leads to by the program, whatever the rules say of it.

    None if it ends the game, or if the program refuses it, with the evidence of `play` and with
    `()`. Raises `RefereeRefusal` for a move that the coin cannot make.
    """
    if before.validator is None or before.state is None:
        raise IllegalAction("the game is over")
    program, state = game.programs[before.validator], before.state.value()
    after = coin.after(play.move, b"", play.share, 0)
    for evidence in (play.evidence, NIL):
        arguments = validator_arguments(after, state, program, evidence, NO_ADDRESS)
        outcome = run_serialized(program.serialized, arguments)
        if isinstance(outcome, ProgramValid):
            return _named(game, hashes, outcome.value)
    return None


def check_next(
    game: Game, hashes: Hashes, before: Position, move: bytes, share: int, step: Next | None
) -> None:
    """Check that a validator's reader takes the state that the rules made for it.

    Raises `IllegalMove`, naming the field and the place that made it.
    """
    if step is not None and (why := unread(game, hashes, step)):
        raise IllegalMove(
            f"the game {game.name}: the state of {step.validator} that {before.validator} leads to"
            f" is refused by its own reader: {why} (the move {atom_text(move)}, share {share},"
            f"{at(before)})"
        )


def unread(game: Game, hashes: Hashes, step: Next) -> str:
    """The reason why the reader of a validator refuses the state in its record; "" where it does
    not."""
    try:
        game.validators[step.validator].read_state(step.state.value(), hashes)
    except BadState as error:
        return str(error)
    return ""


def judge_move(
    game: Game, hashes: Hashes, before: Position, coin: GameCoin, candidates: tuple[Candidate, ...]
) -> Ruling:
    """Judge the move that led from `before` to `coin`, with each evidence of `coin`'s mover.

    `candidates` is that evidence besides `()`. The coin has the share, size limit and commitment
    that the move declared: a difference from the validator's result makes the move illegal too,
    and so do extra conditions that the evidence meets. Without a program the rules decide alone.
    """
    if before.validator is None or before.state is None:
        raise IllegalAction("the game is over")
    validator = game.validators[before.validator]
    program = game.programs[before.validator]
    state = before.state.value()
    disagreements: list[str] = []
    step: Next | None = None
    slash: Evidence | None = None
    settled = False
    rule = ""
    runs = 0
    for evidence in map(as_evidence, (NIL, *candidates)):
        verdict = validator.judge(
            before.state, coin.move, coin.mover_share, coin.amount, evidence.value, hashes
        )
        if validator.name in game.missing:
            outcome = _as_ruled(verdict, hashes)
        else:
            arguments = validator_arguments(coin, state, program, evidence.value, NO_ADDRESS)
            outcome = run_serialized(program.serialized, arguments)
            runs += 1
        if (difference := disagreement(verdict, outcome, hashes)) is not None:
            disagreements.append(f"{game.name}/{validator.name}: {difference}")
        rule = verdict.rule or rule
        if isinstance(outcome, ProgramSlash):
            slash = Evidence(evidence.value)
            break
        if not isinstance(outcome, ProgramValid):
            continue
        try:
            matches, extra = compare(coin, outcome.value)
        except RefereeRefusal:
            continue  # the slash fails, and the result is no record
        if not matches:
            rule, slash = "", Evidence(evidence.value)
            break
        if extra != NIL and (conditions := program_conditions(outcome.value)):
            if met(conditions, evidence.signature):
                rule, slash = verdict.rule, evidence
                break
            if doubt := unchecked(conditions):
                disagreements.append(f"{game.name}/{validator.name}: {doubt}")
        if isinstance(verdict, Valid):
            step = verdict.next
            check_next(game, hashes, before, coin.move, coin.mover_share, step)
        else:
            # The rules disagree, which is reported; follow the program, as the chain will.
            step = _named(game, hashes, outcome.value)
        settled = True
    if slash is not None:
        settled, step = False, None
    return Ruling(settled, step, rule, slash, runs, tuple(disagreements))


def slash_pays(
    validator: Program, state: Value, coin: GameCoin, evidence: Value, address: bytes
) -> bool:
    """Run the referee of this coin with a slash, and return whether it pays.

    `validator` and `state` are those of the coin's INFOHASH_A.
    """
    solution = slash_solution(state, validator, evidence, address)
    outcome = run_serialized(coin.puzzle().serialized, serialize(solution))
    return isinstance(outcome, ProgramValid)


def disagreement(verdict: Verdict, outcome: Outcome, hashes: Hashes) -> str | None:
    """The difference between rules and program in one line; None when they agree."""
    match verdict, outcome:
        case (Slash(), ProgramSlash()) | (Raise(), Raised()):
            return None
        case Valid(step, conditions), ProgramValid():
            if outcome.value == result_value(step, hashes, conditions):
                return None
            if outcome.value == result_value(step, hashes, program_conditions(outcome.value)):
                return "rules and program have different extra conditions"
            return "rules and program lead to different next records"
        case _:
            ruled = type(verdict).__name__.lower()
            ran = type(outcome).__name__.removeprefix("Program").lower()
            return f"the rules say {ruled}, the program {ran}"


def _as_ruled(verdict: Verdict, hashes: Hashes) -> Outcome:
    """The outcome of a program that obeys the rules."""
    match verdict:
        case Valid(step, conditions):
            return ProgramValid(result_value(step, hashes, conditions), 0)
        case Slash():
            return ProgramSlash(0)
        case Raise(rule):
            return Raised(rule)


def program_conditions(result: Value) -> tuple[Value, ...]:
    """The extra conditions of a program's result, what follows its three elements.

    Empty for an improper list too: the slash that emits it fails.
    """
    try:
        return tuple(from_list(result)[3:])
    except NotAList:
        return ()


def _named(game: Game, hashes: Hashes, result: Value) -> Next | None:
    """The next record that a program's result names; None where the game is over."""
    match result:
        case (bytes(program_hash), (state, (bytes(size), _))) if program_hash:
            for name, known in hashes.items():
                if known == program_hash:
                    step = game.validators[name].read_state(state, hashes)
                    return Next(name, step, int.from_bytes(size, "big"))
            raise BadState("the program names a validator that is not of this game")
    return None
