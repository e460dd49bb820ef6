"""A plug-in's game, checked at three seams: when it is registered, when a judge answers, and when a
player or another of its functions does.

`field_problem` says what each field of a `Game` has to hold, `checked` calls its functions by
`channelsim.plugins.called`. A wrong field, and a wrong answer, is one line that names the package
and what the contract asks for. Types check our own games.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from channelsim.clsp.programs import Program
from channelsim.games import answers
from channelsim.games.amounts import counted
from channelsim.games.answers import Check, Problem, dictionary_of, is_a, is_number, or_none
from channelsim.games.case_text import asked, at, judged
from channelsim.games.chance import Chance
from channelsim.games.choices import Action, choose, forced_action
from channelsim.games.contract import Benchmark, Carry, Game, Validator
from channelsim.games.errors import IllegalAction
from channelsim.games.forms import Atom, ByteIn, Integer, ListOf, Opaque, Pair
from channelsim.games.hidden import Hidden
from channelsim.games.judge import hashes_of
from channelsim.games.lemma import Check as RealRuns
from channelsim.games.lemma import Lemma
from channelsim.games.names import LONGEST
from channelsim.games.pack import Pack
from channelsim.games.players import Player, Policy, Seat
from channelsim.games.story import Hand
from channelsim.plugins import called, cut

MOST_ENTROPY = 1 << 16
"""The most secret bytes that a player of a plug-in may ask for."""

CARDS = 52
"""The positions of a prepared deck."""

_LONGEST_LINE = 400


# --- registered: the fields ------------------------------------------------------------------


def field_problem(game: Game) -> str:
    """What is wrong with the first wrong field of a game; an empty text for a right one."""
    for name, (kind, right) in FIELDS.items():
        value = getattr(game, name)
        if not right(value):
            return f"its {name} is {cut(value)}, not {kind}"
    for key, validator in game.validators.items():
        if validator.name != key:
            return f"its validator {key} is called {cut(validator.name)} in itself"
    return _pack_problem(game)


def _pack_problem(game: Game) -> str:
    """What is wrong with a right `Pack` in this game; an empty text for nothing."""
    pack, positions = game.pack, game.deck_positions
    if pack is None:
        return ""
    if positions and (pack.dealt, pack.cards) != (positions, CARDS):
        return (
            f"its pack deals {pack.dealt} of {counted(pack.cards, 'card')}, but its deck has"
            f" {counted(positions, 'position')} and {CARDS} cards"
        )
    if unknown := set(pack.judged.values()) - set(game.validators):
        return f"its pack names the validator {cut(min(unknown))}, which it has not"
    return ""


def _filled(right: Check) -> Check:
    return lambda value: right(value) and len(value) > 0


def _up_to(most: int) -> Check:
    return lambda value: is_number(value) and value <= most


def _is_name(value: object) -> bool:
    """True if this can be shown in a table, and be part of a file's name."""
    return isinstance(value, str) and _is_line(value) and len(value) <= LONGEST and "/" not in value


def _is_line(value: object) -> bool:
    return (
        isinstance(value, str)
        and value.isprintable()
        and bool(value.strip())
        and len(value) <= _LONGEST_LINE
    )


def _is_validator(value: object) -> bool:
    return isinstance(value, Validator) and callable(value.judge) and callable(value.read_state)


def _is_carry(value: object) -> bool:
    return isinstance(value, Carry) and callable(value.left) and callable(value.add)


def _is_pack(value: object) -> bool:
    return (
        isinstance(value, Pack)
        and is_number(value.dealt)
        and is_number(value.cards)
        and 0 < value.dealt <= value.cards
        and callable(value.compared)
        and all(or_none(callable)(function) for function in (value.stacked, value.read))
        and dictionary_of(is_a(str), is_a(str))(value.judged)
        and answers.tuple_of(is_a(bytes))(tuple(value.selections))
    )


def _is_story(value: object) -> bool:
    return all(callable(getattr(value, name, None)) for name in answers.STORY)


def _are_hidden(value: Any) -> bool:
    """True if these are hidden values, each of another name and of one or two seats."""
    if not answers.tuple_of(_is_hidden)(value):
        return False
    return len({hidden.name for hidden in value}) == len(value)


def _is_hidden(value: object) -> bool:
    return (
        isinstance(value, Hidden)
        and _is_name(value.name)
        and callable(value.legal)
        and callable(value.possible)
        and _filled(answers.tuple_of(is_a(Seat)))(value.seats)
    )


def _is_lemma(value: object) -> bool:
    return (
        isinstance(value, Lemma)
        and _is_line(value.name)
        and _is_name(value.function)
        and callable(value.python)
        and _filled(answers.tuple_of(_is_fixed))(value.arguments)
        and _is_fixed(value.result)
        and is_number(value.cost)
        and all(part is None or callable(part) for part in (value.draw, value.near))
    )


def _is_check(value: object) -> bool:
    return (
        isinstance(value, RealRuns)
        and _is_line(value.name)
        and _is_name(value.validator)
        and _is_name(value.function)
        and callable(value.cases)
        and _is_line(value.inputs)
        and (value.total is None or (is_number(value.total) and value.total > 0))
    )


def _is_fixed(form: object) -> bool:
    """True if all values of a form have one shape, and their atoms a bound."""
    match form:
        case Integer() | ByteIn():
            return True
        case Atom(size):
            return bool(size)
        case Pair(first, second):
            return _is_fixed(first) and _is_fixed(second)
        case ListOf(inner, most, least):
            return least == most and _is_fixed(inner)
        case _:
            return False


_FUNCTION = "a function", callable
_BOOL = "a bool", is_a(bool)

FIELDS: Mapping[str, tuple[str, Check]] = {
    "validators": (
        "a dictionary of at least one Validator by its name (see `by_name`)",
        _filled(dictionary_of(_is_name, _is_validator)),
    ),
    "rules": ("a dictionary of sentences by rule id", dictionary_of(_is_name, _is_line)),
    "terms": _FUNCTION,
    "initial": _FUNCTION,
    "player": _FUNCTION,
    "programs": (
        "a dictionary of Program by validator",
        dictionary_of(_is_name, is_a(Program)),
    ),
    "family": ("a name", _is_name),
    "title": (f"one line of text, of at most {_LONGEST_LINE} characters", _is_line),
    "total": _BOOL,
    "entropy_size": (f"a number of bytes up to {MOST_ENTROPY:,}", _up_to(MOST_ENTROPY)),
    "deck_positions": (f"a number of positions up to {CARDS}", _up_to(CARDS)),
    "reveals": _BOOL,
    "default_parameters": _FUNCTION,
    "limits": (
        "a dictionary of parameters (whole numbers by name) by limit",
        dictionary_of(_is_name, answers.is_parameters),
    ),
    "button": ("a Seat", is_a(Seat)),
    "carry": ("a Carry of two functions, or None", or_none(_is_carry)),
    "variations": (
        "a tuple of parameters (whole numbers by name)",
        answers.tuple_of(answers.is_parameters),
    ),
    "read_action": _FUNCTION,
    "policies": (
        "a dictionary of at least one function by name",
        _filled(dictionary_of(_is_name, callable)),
    ),
    "story": ("a story with the methods step, result and view", _is_story),
    "summary": _FUNCTION,
    "parts": ("a tuple of names", answers.tuple_of(_is_line)),
    "part": _FUNCTION,
    "benchmarks": ("a dictionary of functions by name", dictionary_of(_is_name, callable)),
    "slash_costs": (
        "a dictionary of costs by validator",
        dictionary_of(_is_name, lambda cost: is_number(cost) and cost > 0),
    ),
    "showdown": ("a function, or None", or_none(callable)),
    "hands_shown": ("a function, or None", or_none(callable)),
    "pack": (
        "a Pack with no more cards dealt than there are, functions, and names, or None",
        or_none(_is_pack),
    ),
    "hidden": (
        "a tuple of Hidden, each with another name, two functions and the seats that hide it",
        _are_hidden,
    ),
    "lemmas": (
        "a tuple of `Lemma`, each with names, forms that a lemma takes, and a cost",
        answers.tuple_of(_is_lemma),
    ),
    "checks": (
        "a tuple of `Check`, each with names, a function that makes cases, and a total or None",
        answers.tuple_of(_is_check),
    ),
}
"""By field, in the order of the contract: what it is, in words and as a check."""


# --- called: judges, players, and all other functions ----------------------------------------


def checked(game: Game) -> Game:
    """The game, each of its functions with a check of what it returns."""
    case = f"the game {game.name}"
    problems = {
        **answers.GAME,
        "terms": answers.terms_problem(game.name),
        "initial": answers.initial_problem(game.validators, partial(hashes_of, game)),
        "part": answers.part_problem(game.parts),
    }
    functions: dict[str, Any] = {
        name: _seam(function, case, problem)
        for name, problem in problems.items()
        if (function := getattr(game, name)) is not None
    }
    make_player = functions["player"]
    functions["player"] = lambda *args: Checked(make_player(*args), case)
    return replace(
        game,
        **functions,
        validators={
            name: _validator(game, validator) for name, validator in game.validators.items()
        },
        policies={
            name: checked_policy(f"{game.name}:{name}", policy)
            for name, policy in game.policies.items()
        },
        carry=game.carry
        and Carry(
            _seam(game.carry.left, case, answers.LEFT),
            _seam(game.carry.add, case, answers.PARAMETERS),
        ),
        pack=game.pack and _pack(game.pack, case),
        story=Checked(game.story, case),
        benchmarks={name: _benchmark(prepare, case) for name, prepare in game.benchmarks.items()},
    )


def _pack(pack: Pack, case: str) -> Pack:
    return replace(
        pack,
        compared=called(pack.compared, case, answers.COMPARED),
        stacked=pack.stacked and called(pack.stacked, case, answers.STACKED),
        read=pack.read and called(pack.read, case, answers.CARDS_READ),
    )


def checked_policy(name: str, policy: Policy) -> Policy:
    """The policy with a check that it returns a legal action; not asked where nothing is chosen."""

    def chosen(player: Player, chance: Chance, /) -> Action:
        choices = player.choices()

        def problem(action: object) -> str:
            if not isinstance(action, Action):
                return "not an Action"
            try:
                choose(choices, action)
            except (IllegalAction, TypeError) as error:
                return str(error)
            return ""

        only = forced_action(choices)
        case = partial(_policy_case, name)
        return only or called(policy, case, problem)(_bare(player), chance)

    return chosen


_METHODS: Mapping[str, Problem] = {**answers.PLAYER, "remembered": answers.REMEMBERED}


@dataclass(frozen=True)
class Checked:
    """A player or a story of a plug-in, which answers as the contract says or ends the command."""

    inner: Any
    case: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copies look for
            raise AttributeError(name)
        attribute = getattr(self.inner, name)
        if name in answers.STORY:
            return _seam(attribute, self.case, answers.STORY[name])
        if name in _METHODS:
            case = partial(_asked, self.case, self.inner, name)
            attribute = called(attribute, case, _METHODS[name])
        if name in ("moved", "advised", "remembered"):
            return lambda argument: Checked(attribute(argument), self.case)
        self.__dict__[name] = attribute  # it is immutable: not asked again
        return attribute

    def __reduce__(self) -> tuple[type[Checked], tuple[Any, str]]:
        return Checked, (self.inner, self.case)


def _policy_case(name: str, player: Player, _: Chance) -> str:
    return f"policy {name}{at(player.position)}"


def _asked(whose: str, player: Any, name: str, *arguments: Any) -> str:
    """A call of a player's method in words."""
    return asked(whose, player, name, arguments)


def bare_player(player: Player) -> Player:
    """A player as its author made it, without the checks of its answers."""
    bare: Player = _bare(player)
    return bare


def _bare(value: Any) -> Any:
    """A player as its author made it, and a hand with such players; anything else as it is."""
    match value:
        case Checked(inner):
            return inner
        case Hand(steps=steps):
            return replace(
                value,
                steps=tuple(
                    replace(
                        step,
                        players_before=tuple(map(_bare, step.players_before)),
                        players=tuple(map(_bare, step.players)),
                    )
                    for step in steps
                ),
            )
    return value


def _seam(function: Callable[..., Any], case: str, problem: Problem) -> Callable[..., Any]:
    """The author's function as it is called, with players as their author made them."""
    call = called(function, case, problem)
    return lambda *args: call(*map(_bare, args))


def _validator(game: Game, validator: Validator) -> Validator:
    validators, rules, form = game.validators, game.rules, validator.form
    if isinstance(form, Opaque):
        case = f"the state of {validator.name}"
        form = replace(form, read=called(form.read, case, answers.state_problem))
    return replace(
        validator,
        judge=called(
            validator.judge,
            partial(judged, validator.name),
            lambda verdict: answers.verdict_problem(verdict, validators, rules),
        ),
        form=form,
    )


def _benchmark(prepare: Benchmark, case: str) -> Benchmark:
    prepared = called(prepare, case, answers.WORK)

    def benchmark() -> Callable[[], int] | None:
        work = prepared()
        return work and called(work, case, answers.COUNT)

    return benchmark
