"""What the contract asks of the answers of a game's functions.

Each function here says what is wrong with one kind of answer; it returns an empty text for a right
one. Types check our own games; those of plug-ins are checked when they are called
(`channelsim.games.checked`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec

from channelsim.games.choices import Action, Amount, Forced, OneOf, Plain
from channelsim.games.evidence import Evidence
from channelsim.games.players import Initial, Play, Player, Position, Seat, Settle, Terms
from channelsim.games.verdicts import Next, Raise, Slash, Valid


def verdict_problem(
    verdict: object, validators: Mapping[str, object], rules: Mapping[str, str] | None
) -> str:
    """What is wrong with a judge's answer; `rules` are all known rules, None where any is."""
    if isinstance(verdict, Valid):
        return _valid_problem(verdict, validators) or (
            _rule_problem(verdict.rule, rules) if verdict.conditions else ""
        )
    if isinstance(verdict, Slash | Raise):
        return _rule_problem(verdict.rule, rules)
    return "not a Valid, a Slash or a Raise"


def _rule_problem(rule: object, rules: Mapping[str, str] | None) -> str:
    if not isinstance(rule, str):
        return "its rule is not the text of a rule's id"
    if rules is not None and rule not in rules:
        return f"the game's rules have no sentence for {rule!r}"
    return ""


def _valid_problem(verdict: Valid, validators: Mapping[str, object]) -> str:
    step: object = verdict.next
    conditions: object = verdict.conditions
    if not isinstance(conditions, tuple) or not all(map(is_value, conditions)):
        return "its conditions are no tuple of CLVM values"
    if step is None:
        return ""
    return _next_problem(step, validators) if isinstance(step, Next) else "its next is no Next"


def _next_problem(step: Next, validators: Mapping[str, object]) -> str:
    name: object = step.validator
    if not isinstance(name, str) or name not in validators:
        return f"its next validator {name!r:.60} is none of {', '.join(validators)}"
    if not is_number(step.max_move_size):
        return "its max_move_size is not a number of bytes"
    return state_problem(step.state)


def state_problem(state: object) -> str:
    """What is wrong with a state."""
    value = getattr(state, "value", None)
    if not callable(value):
        return "its state has no method `value`"
    if not is_value(value()):
        return "the value of its state is not a CLVM value: bytes, or a tuple of two values"
    return "" if _is_hashable(state) else "its state is not hashable: a frozen dataclass is"


def field_problem(write: Callable[[Any], object]) -> Callable[[object], str]:
    """What is wrong with a field of a state that is written so."""

    def problem(field: object) -> str:
        if not _is_hashable(field):
            return "a field of a state has to be hashable: a tuple is"
        return "" if is_value(write(field)) else "it is not written as a CLVM value"

    return problem


def _is_hashable(data: object) -> bool:
    try:
        hash(data)
    except TypeError:
        return False
    return True


def is_value(data: object) -> bool:
    """True if this is bytes, or a pair of such values."""
    waiting = [data]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple) and len(one) == 2:
            waiting += one
        elif not isinstance(one, bytes):
            return False
    return True


def is_number(data: object) -> bool:
    """True if this is a whole number, not below zero."""
    return isinstance(data, int) and not isinstance(data, bool) and data >= 0


def terms_problem(game: str) -> Callable[[object], str]:
    """What is wrong with agreed terms."""

    def problem(terms: object) -> str:
        if not isinstance(terms, Terms):
            return "not Terms"
        if terms.game != game:
            return f"the terms of another game than {game!r}"
        numbers = (terms.amount, terms.unit, *terms.stakes)
        return "" if all(map(is_number, numbers)) else "its amounts are not whole mojos"

    return problem


def initial_problem(validators: Mapping[str, object]) -> Callable[[object], str]:
    """What is wrong with the record of the first coin."""

    def problem(initial: object) -> str:
        if not isinstance(initial, Initial):
            return "not an Initial"
        if not is_number(initial.mover_share):
            return "its mover_share is not a number of mojos"
        step = Next(initial.validator, initial.state, initial.max_move_size)
        return _next_problem(step, validators)

    return problem


def parameters_problem(made: object) -> str:
    """What is wrong with the parameters of a game."""
    if isinstance(made, Mapping) and all(
        isinstance(name, str) and type(number) is int for name, number in made.items()
    ):
        return ""
    return "not a dictionary of whole numbers by name"


def summary_problem(made: object) -> str:
    """What is wrong with the summary of a hand."""
    if not isinstance(made, Mapping):
        return "not a dictionary"
    try:
        msgspec.json.encode(made)
    except (TypeError, ValueError, RecursionError) as error:
        return f"no JSON data: {error}"
    return "" if all(isinstance(key, str) for key in made) else "its keys are no texts"


def action_problem(made: object) -> str:
    """What is wrong with an action."""
    return "" if isinstance(made, Action) else "not an Action"


def mojos_problem(made: object) -> str:
    """What is wrong with an amount of money."""
    return "" if is_number(made) else "not a number of mojos"


def part_problem(parts: tuple[str, ...]) -> Callable[[object], str]:
    """What is wrong with the part of a hand that a move belongs to."""
    return lambda made: "" if made in parts else f"none of the game's parts {', '.join(parts)}"


def showdown_problem(made: object) -> str:
    """What is wrong with the ranks of two hands."""

    def is_rank(rank: object) -> bool:
        return _is_pair(rank) and all(
            isinstance(part, tuple) and all(isinstance(one, int) for one in part)
            for part in cast(tuple[object, object], rank)
        )

    if made is None or (_is_pair(made) and all(map(is_rank, cast(tuple[object, object], made)))):
        return ""
    return "not None or two ranks, each a pair of tuples of whole numbers"


def _is_pair(made: object) -> bool:
    return isinstance(made, tuple) and len(made) == 2


def work_problem(made: object) -> str:
    """What is wrong with a prepared measurement."""
    return "" if made is None or callable(made) else "not a function, or None"


def count_problem(made: object) -> str:
    """What is wrong with how often a measured function did its work."""
    return "" if is_number(made) and made else "not a number above 0"


def choices_problem(made: object) -> str:
    """What is wrong with a player's choices."""
    kinds = Forced | Plain | Amount | OneOf
    if isinstance(made, tuple) and all(isinstance(one, kinds) for one in made):
        return ""
    return "not a tuple of Forced, Plain, Amount and OneOf"


def taken_problem(made: object) -> str:
    """What is wrong with the play that takes an action."""
    match made:
        case Settle():
            return ""
        case Play(bytes(), share, evidence) if is_number(share) and is_value(evidence):
            return ""
        case Play():
            return "a Play has bytes, a share in mojos, and evidence that is a CLVM value"
        case _:
            return "not a Play or a Settle"


def evidence_problem(made: object) -> str:
    """What is wrong with a player's evidence."""

    def right(one: object) -> bool:
        if isinstance(one, Evidence):
            return is_value(one.value) and isinstance(one.signature, bytes)
        return is_value(one)

    if isinstance(made, tuple) and all(map(right, made)):
        return ""
    return "not a tuple of CLVM values and of Evidence"


def advisory_problem(made: object) -> str:
    """What is wrong with an early reveal."""
    return "" if made is None or isinstance(made, bytes) else "not bytes or None"


_METHODS = ("choices", "act", "moved", "evidence", "advisory", "advised")


def player_problem(made: object) -> str:
    """What is wrong with a player."""
    lacks = [name for name in _METHODS if not callable(getattr(made, name, None))]
    lacks += [name for name in ("seat", "position") if not hasattr(made, name)]
    if lacks:
        return f"not a player: it has no {', '.join(lacks)}"
    if not isinstance(cast(Player, made).seat, Seat):
        return "its seat is no Seat"
    return (
        "" if isinstance(cast(Player, made).position, Position) else "its position is no Position"
    )


def lines_problem(made: object) -> str:
    """What is wrong with lines of a story."""
    if isinstance(made, list | tuple) and all(map(_is_line, made)):
        return ""
    return "not lines: tuples of spans, which are pairs of text and style"


def _is_line(line: object) -> bool:
    return isinstance(line, tuple) and all(
        isinstance(span, tuple) and len(span) == 2 and all(isinstance(one, str) for one in span)
        for span in line
    )
