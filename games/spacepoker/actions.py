"""Actions as people write them.

    check   call   fold   all-in   bet 2   raise 2.5   bet 250m

Amounts are in units, or with an `m` in mojos; a raise is what comes on top of the call.
"""

from __future__ import annotations

from games.amounts import read_amount
from games.choices import choose, offered, with_bounds
from games.contract import Action, Choice
from games.errors import IllegalAction

_ALL_IN = {"all-in", "allin", "all in"}


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
            raise IllegalAction(f"{verb} needs an amount: {with_bounds(choice, unit)}")
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
