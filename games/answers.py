"""What the contract asks of the answers of a game's functions.

A `Problem` says what is wrong with an answer; it says nothing (an empty text) of a right one. Types
check our own games; the answers of plug-ins are checked where they are called, by
`channelsim.plugins.called`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import msgspec

from channelsim.clsp.values import is_value
from channelsim.games.choices import Action, Amount, Forced, OneOf, Plain
from channelsim.games.errors import BadState
from channelsim.games.evidence import Evidence
from channelsim.games.forms import Hashes, is_hashable
from channelsim.games.players import Initial, Play, Player, Position, Seat, Settle, Terms
from channelsim.games.verdicts import Next, Raise, Slash, Valid, Validator

MOST_MEMORY = 1 << 12
"""The most bytes of `Play.memory`: a peer keeps it for as long as the channel lives."""

Problem: TypeAlias = Callable[[object], str]
Check: TypeAlias = Callable[[Any], bool]


def unless(right: Check, text: str) -> Problem:
    """The problem `text` of every answer that is not right."""
    return lambda answer: "" if right(answer) else text


# --- kinds of values -------------------------------------------------------------------------


def is_number(data: object) -> bool:
    """True if this is a whole number, not below zero."""
    return isinstance(data, int) and not isinstance(data, bool) and data >= 0


def is_a(*kinds: type) -> Check:
    """A check for any of these types."""
    return lambda data: isinstance(data, kinds)


def or_none(right: Check) -> Check:
    """A check that also takes None."""
    return lambda data: data is None or right(data)


def tuple_of(right: Check, count: int | None = None) -> Check:
    """A check for a tuple of such items, `count` of them or any number."""
    return lambda data: (
        isinstance(data, tuple) and (count in (None, len(data))) and all(map(right, data))
    )


def dictionary_of(key: Check, value: Check) -> Check:
    """A check for a dictionary of such keys and values."""
    return lambda data: (
        isinstance(data, Mapping) and all(map(key, data)) and all(map(value, data.values()))
    )


is_parameters = dictionary_of(is_a(str), lambda number: type(number) is int)
_are_values = tuple_of(is_value)
_is_line = tuple_of(tuple_of(is_a(str), 2))
_is_rank = tuple_of(tuple_of(is_a(int)), 2)


# --- verdicts --------------------------------------------------------------------------------


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
    if verdict.conditions != () and not _are_values(verdict.conditions):
        return "its conditions are no tuple of CLVM values"
    step: object = verdict.next
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
    return "" if is_hashable(state) else "its state is not hashable: a frozen dataclass is"


# --- a game's other functions ----------------------------------------------------------------


def terms_problem(game: str) -> Problem:
    """What is wrong with agreed terms of a game."""

    def problem(terms: object) -> str:
        if not isinstance(terms, Terms):
            return "not Terms"
        if terms.game != game:
            return f"the terms of another game than {game!r}"
        numbers = (terms.amount, terms.unit, *terms.stakes)
        return "" if all(map(is_number, numbers)) else "its amounts are not whole mojos"

    return problem


def initial_problem(
    validators: Mapping[str, Validator], hashes: Callable[[], Hashes] = dict
) -> Problem:
    """What is wrong with the record of the first coin; `hashes` are those of the programs."""

    def problem(initial: object) -> str:
        if not isinstance(initial, Initial):
            return "not an Initial"
        if not is_number(initial.mover_share):
            return "its mover_share is not a number of mojos"
        step = Next(initial.validator, initial.state, initial.max_move_size)
        if wrong := _next_problem(step, validators):
            return wrong
        try:
            validators[step.validator].read_state(step.state.value(), hashes())
        except BadState as error:
            return f"its state is refused by the reader of {step.validator}: {error}"
        return ""

    return problem


def part_problem(parts: tuple[str, ...]) -> Problem:
    """What is wrong with the part of a hand that a move belongs to."""
    return unless(lambda part: part in parts, f"none of the game's parts {', '.join(parts)}")


def _summary_problem(summary: object) -> str:
    if not isinstance(summary, Mapping):
        return "not a dictionary"
    try:
        msgspec.json.encode(summary)
    except (TypeError, ValueError, RecursionError) as error:
        return f"no JSON data: {error}"
    return "" if all(isinstance(key, str) for key in summary) else "its keys are no texts"


def taken_problem(play: object) -> str:
    """What is wrong with the play that takes an action."""
    match play:
        case Settle():
            return ""
        case Play(memory=memory) if not is_memory(memory):
            return f"the memory of a Play is at most {MOST_MEMORY:,} bytes"
        case Play(bytes(), share, evidence) if is_number(share) and is_value(evidence):
            return ""
        case Play():
            return "a Play has bytes, a share in mojos, and evidence that is a CLVM value"
        case _:
            return "not a Play or a Settle"


def is_memory(data: object) -> bool:
    """True if these are bytes that a player may remember of a move."""
    return isinstance(data, bytes) and len(data) <= MOST_MEMORY


def _is_evidence(candidate: object) -> bool:
    if isinstance(candidate, Evidence):
        return is_value(candidate.value) and isinstance(candidate.signature, bytes)
    return is_value(candidate)


def _player_problem(player: object) -> str:
    lacks = [name for name in PLAYER if not callable(getattr(player, name, None))]
    lacks += [name for name in ("seat", "position") if not hasattr(player, name)]
    if lacks:
        return f"not a player: it has no {', '.join(lacks)}"
    if not isinstance(cast(Player, player).seat, Seat):
        return "its seat is no Seat"
    is_position = isinstance(cast(Player, player).position, Position)
    return "" if is_position else "its position is no Position"


_LINES = unless(
    lambda lines: isinstance(lines, list | tuple) and all(map(_is_line, lines)),
    "not lines: tuples of spans, which are pairs of text and style",
)

CHOICES = unless(
    tuple_of(is_a(Forced, Plain, Amount, OneOf)), "not a tuple of Forced, Plain, Amount and OneOf"
)
EVIDENCE = unless(tuple_of(_is_evidence), "not a tuple of CLVM values and of Evidence")

PLAYER: Mapping[str, Problem] = {
    "choices": CHOICES,
    "act": taken_problem,
    "moved": _player_problem,
    "evidence": EVIDENCE,
    "advisory": unless(or_none(is_a(bytes)), "not bytes or None"),
    "advised": _player_problem,
}
"""The answers of a player's methods."""

REMEMBERED: Problem = _player_problem
"""The answer of a player's method `remembered`, which only some have."""

STORY: Mapping[str, Problem] = {"step": _LINES, "result": _LINES, "view": _LINES}
"""The answers of a story's methods."""

LEFT = unless(is_number, "not a number of mojos")
"""The answer of `Carry.left`."""

PARAMETERS = unless(is_parameters, "not a dictionary of whole numbers by name")
"""The answer of `Carry.add`, and of `Game.default_parameters`."""

GAME: Mapping[str, Problem] = {
    "player": _player_problem,
    "default_parameters": PARAMETERS,
    "read_action": unless(is_a(Action), "not an Action"),
    "summary": _summary_problem,
    "showdown": unless(
        or_none(tuple_of(_is_rank, 2)),
        "not None or two ranks, each a pair of tuples of whole numbers",
    ),
    "hands_shown": unless(or_none(tuple_of(is_a(str), 2)), "not None or two texts"),
}
"""The answers of those functions of a `Game` that are asked the same in every game."""

COMPARED = unless(
    dictionary_of(is_a(str), tuple_of(_is_rank, 2)),
    "not two ranks by name, each a pair of tuples of whole numbers",
)
"""The answer of `Pack.compared`."""

STACKED = unless(
    or_none(lambda pair: isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[1], bytes)),
    "not None, or a state and a move",
)
"""The answer of `Pack.stacked`."""

CARDS_READ = unless(or_none(tuple_of(is_number)), "not None or a tuple of cards")
"""The answer of `Pack.read`."""

WORK = unless(or_none(callable), "not a function, or None")
"""The answer of a `Benchmark`."""

COUNT = unless(lambda count: is_number(count) and count > 0, "not a number above 0")
"""The answer of a prepared measurement."""
