"""What a player is offered, in words, and which of the offered choices an action takes."""

from __future__ import annotations

from games.amounts import in_units
from games.contract import Action, Choice
from games.errors import IllegalAction


def offered(choices: tuple[Choice, ...], unit: int) -> str:
    """What is possible now, in a few words with bounds.

    >>> offered((Choice("call"), Choice("raise", 1, 800)), 100)
    'call, raise 1m to 800m (0.01 to 8 units)'
    """
    if not choices:
        return "nothing, it is the other player's turn"
    return ", ".join(with_bounds(choice, unit) for choice in choices)


def choose(choices: tuple[Choice, ...], action: Action, unit: int) -> Choice:
    """The choice that an action takes. Raises `IllegalAction`, naming what is possible.

    >>> choose((Choice("call"), Choice("raise", 1, 800)), Action("raise", 900), 100)
    Traceback (most recent call last):
    games.errors.IllegalAction: raise 900m is out of bounds: raise 1m to 800m (0.01 to 8 units)
    """
    for choice in choices:
        if choice.verb != action.verb:
            continue
        if choice.takes(action.amount):
            return choice
        if not choice.most:
            raise IllegalAction(f"{choice.verb} takes no amount")
        if choice.options:
            raise IllegalAction(f"{choice.verb} takes {choice.form}")
        raise IllegalAction(
            f"{choice.verb} {action.amount}m is out of bounds: {with_bounds(choice, unit)}"
        )
    raise IllegalAction(f"cannot {action.verb} now; possible: {offered(choices, unit)}")


def with_bounds(choice: Choice, unit: int) -> str:
    """A choice with the numbers that it takes.

    >>> with_bounds(Choice("bet", 1, 900), 100)
    'bet 1m to 900m (0.01 to 9 units)'
    >>> with_bounds(Choice("give", 3, 6, options=(3, 5, 6), form="two cards"), 1)
    'give two cards'
    """
    if not choice.most:
        return choice.verb
    if choice.options:
        return f"{choice.verb} {choice.form}"
    if choice.least == choice.most:
        mojos, units = f"{choice.most}m", in_units(choice.most, unit)
    else:
        mojos = f"{choice.least}m to {choice.most}m"
        units = f"{in_units(choice.least, unit)} to {in_units(choice.most, unit)}"
    return f"{choice.verb} {mojos}" + (f" ({units} units)" if unit != 1 else "")
