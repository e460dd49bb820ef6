"""What each field of a plug-in's `Game` has to hold, checked when the plug-in is loaded.

Types check our own games. What a game's functions return is checked when they are called
(`channelsim.games.checked`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from channelsim.clsp.programs import Program
from channelsim.games.answers import is_number, parameters_problem
from channelsim.games.contract import Carry, Game, Seat, Validator
from channelsim.games.names import LONGEST
from channelsim.plugins import cut

MOST_ENTROPY = 1 << 16
"""The most secret bytes that a player of a plug-in may ask for."""

CARDS = 52
"""The positions of a prepared deck."""

_LONGEST_LINE = 400


def field_problem(game: Game) -> str:
    """What is wrong with the first wrong field of a game; an empty text for a right one."""
    for name, (wanted, right) in FIELDS.items():
        held = getattr(game, name)
        if not right(held):
            return f"its {name} is {cut(held)}, not {wanted}"
    for key, validator in game.validators.items():
        if validator.name != key:
            return f"its validator {key} is called {cut(validator.name)} in itself"
    return ""


def _dictionary(key: Callable[[Any], bool], held: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda made: (
        isinstance(made, Mapping) and all(map(key, made)) and all(map(held, made.values()))
    )


def _filled(right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda made: right(made) and len(made) > 0


def _tuple(right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda made: isinstance(made, tuple) and all(map(right, made))


def _up_to(most: int) -> Callable[[Any], bool]:
    return lambda made: is_number(made) and made <= most


def _is_name(made: Any) -> bool:
    """True if this can be shown in a table, and be part of a file's name."""
    return _is_line(made) and len(made) <= LONGEST and "/" not in made


def _is_line(made: Any) -> bool:
    return (
        isinstance(made, str)
        and made.isprintable()
        and bool(made.strip())
        and len(made) <= _LONGEST_LINE
    )


def _is_bool(made: Any) -> bool:
    return isinstance(made, bool)


def _is_validator(made: Any) -> bool:
    return isinstance(made, Validator) and callable(made.judge) and callable(made.read_state)


def _is_parameters(made: Any) -> bool:
    return not parameters_problem(made)


def _is_carry(made: Any) -> bool:
    if made is None:
        return True
    return isinstance(made, Carry) and callable(made.left) and callable(made.add)


def _is_story(made: Any) -> bool:
    return all(callable(getattr(made, name, None)) for name in ("step", "result", "view"))


_FUNCTION = "a function"

FIELDS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "validators": (
        "a dictionary of at least one Validator by its name (see `by_name`)",
        _filled(_dictionary(_is_name, _is_validator)),
    ),
    "rules": ("a dictionary of sentences by rule id", _dictionary(_is_name, _is_line)),
    "terms": (_FUNCTION, callable),
    "initial": (_FUNCTION, callable),
    "player": (_FUNCTION, callable),
    "programs": (
        "a dictionary of Program by validator",
        _dictionary(_is_name, lambda made: isinstance(made, Program)),
    ),
    "family": ("a name", _is_name),
    "title": (f"one line of text, of at most {_LONGEST_LINE} characters", _is_line),
    "total": ("a bool", _is_bool),
    "entropy_size": (f"a number of bytes up to {MOST_ENTROPY:,}", _up_to(MOST_ENTROPY)),
    "deck_positions": (f"a number of positions up to {CARDS}", _up_to(CARDS)),
    "reveals": ("a bool", _is_bool),
    "default_parameters": (_FUNCTION, callable),
    "limits": (
        "a dictionary of parameters (whole numbers by name) by limit",
        _dictionary(_is_name, _is_parameters),
    ),
    "button": ("a Seat", lambda made: isinstance(made, Seat)),
    "carry": ("a Carry of two functions, or None", _is_carry),
    "variations": (
        "a tuple of parameters (whole numbers by name)",
        _tuple(_is_parameters),
    ),
    "read_action": (_FUNCTION, callable),
    "policies": (
        "a dictionary of at least one function by name",
        _filled(_dictionary(_is_name, callable)),
    ),
    "story": ("a story with the methods step, result and view", _is_story),
    "summary": (_FUNCTION, callable),
    "parts": ("a tuple of names", _tuple(_is_line)),
    "part": (_FUNCTION, callable),
    "benchmarks": ("a dictionary of functions by name", _dictionary(_is_name, callable)),
    "slash_costs": (
        "a dictionary of costs by validator",
        _dictionary(_is_name, lambda made: is_number(made) and made > 0),
    ),
    "showdown": ("a function, or None", lambda made: made is None or callable(made)),
}
"""By field, in the order of the contract: what it is, in words and as a check."""
