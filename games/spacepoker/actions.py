"""Actions: which of the offered choices one is, and how people write them.

    check   call   fold   all-in   bet 2   raise 2.5   bet 250m

Amounts are in units, or with an `m` in mojos; a raise is what comes on top of the call.
"""

from __future__ import annotations

from games.amounts import in_units, read_amount
from games.contract import Action, Choice
from games.errors import IllegalAction

_ALL_IN = {"all-in", "allin", "all in"}


def offered(choices: tuple[Choice, ...], unit: int) -> str:
    """What is possible now, in a few words with bounds.

    >>> offered((Choice("call"), Choice("raise", 1, 800)), 100)
    'call, raise 1m to 800m (0.01 to 8 units)'
    """
    if not choices:
        return "nothing, it is the other player's turn"
    return ", ".join(_with_bounds(choice, unit) for choice in choices)


def choose(choices: tuple[Choice, ...], action: Action, unit: int) -> Choice:
    """The choice that an action takes. Raises `IllegalAction`, naming what is possible.

    >>> choose((Choice("call"), Choice("raise", 1, 800)), Action("raise", 900), 100)
    Traceback (most recent call last):
    games.errors.IllegalAction: raise 900m is out of bounds: raise 1m to 800m (0.01 to 8 units)
    """
    for choice in choices:
        if choice.verb != action.verb:
            continue
        if choice.most == 0 and action.amount != 0:
            raise IllegalAction(f"{choice.verb} takes no amount")
        if choice.most and not choice.least <= action.amount <= choice.most:
            raise IllegalAction(
                f"{choice.verb} {action.amount}m is out of bounds: {_with_bounds(choice, unit)}"
            )
        return choice
    raise IllegalAction(f"cannot {action.verb} now; possible: {offered(choices, unit)}")


def read(choices: tuple[Choice, ...], text: str, unit: int, *, after_check: bool = False) -> Action:
    """The action that a person wrote. Raises `IllegalAction`, naming what is possible.

    Who answers a check may say check for the call, and bet for the raise.

    >>> read((Choice("call"), Choice("raise", 1, 800)), "bet 2.5", 100, after_check=True)
    Action(verb='raise', amount=250)
    """
    words = text.lower().split()
    if " ".join(words) in _ALL_IN:
        return _all_in(choices, unit, after_check=after_check)
    if not words or len(words) > 2:
        raise IllegalAction(f"{text[:40]!r} is no action; possible: {offered(choices, unit)}")
    verb = words[0][:40]
    if after_check:
        verb = {"check": "call", "bet": "raise"}.get(verb, verb)
    for choice in choices:
        if choice.verb == verb and choice.most and len(words) == 1:
            raise IllegalAction(f"{verb} needs an amount: {_with_bounds(choice, unit)}")
    action = Action(verb, read_amount(words[1], unit) if len(words) == 2 else 0)
    choose(choices, action, unit)
    return action


def _all_in(choices: tuple[Choice, ...], unit: int, *, after_check: bool) -> Action:
    """The highest bet or raise; the call, when the opponent's bet leaves nothing on top."""
    for choice in choices:
        if choice.most:
            return Action(choice.verb, choice.most)
    for choice in choices:
        if choice.verb == "call" and not after_check:
            return Action("call")
    raise IllegalAction(f"cannot go all-in now; possible: {offered(choices, unit)}")


def _with_bounds(choice: Choice, unit: int) -> str:
    if not choice.most:
        return choice.verb
    if choice.least == choice.most:
        mojos, units = f"{choice.most}m", in_units(choice.most, unit)
    else:
        mojos = f"{choice.least}m to {choice.most}m"
        units = f"{in_units(choice.least, unit)} to {in_units(choice.most, unit)}"
    return f"{choice.verb} {mojos}" + (f" ({units} units)" if unit != 1 else "")
