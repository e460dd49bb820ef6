"""Choices that a player has, and the actions that it takes.

The choices that a player offers are a closed union: `Forced`, `Plain`, `Amount`, `OneOf`.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from channelsim.games.amounts import amount_text, counted, in_units
from channelsim.games.chance import Chance
from channelsim.games.errors import IllegalAction


class Forced(msgspec.Struct, frozen=True):
    """The only thing to do, without a decision: a commitment, a reveal."""

    verb: str
    hint: str = ""


class Plain(msgspec.Struct, frozen=True):
    """A choice that takes no number: check, call, fold."""

    verb: str
    hint: str = ""


class Amount(msgspec.Struct, frozen=True):
    """A choice that takes an amount from `least` to `most`, in mojos: multiples of `step`.

    People write it in units of `unit` mojos. Both bounds are multiples of `step`.
    """

    verb: str
    least: int
    most: int
    unit: int = 1
    hint: str = ""
    step: int = 1


class OneOf(msgspec.Struct, frozen=True):
    """A choice that takes one of the numbers in `options`, whose meaning is the game's own.

    `form` says how people write one. `options` ascend and are not empty.
    """

    verb: str
    options: tuple[int, ...]
    form: str
    hint: str = ""


Choice: TypeAlias = Forced | Plain | Amount | OneOf
"""One thing that a player may do now."""


class Action(msgspec.Struct, frozen=True):
    """A choice taken: its verb, and the amount in mojos (or the game's own number) if any."""

    verb: str
    amount: int = 0


def fold(share: int, unit: int) -> Plain:
    """The choice to give up and be paid `share`, in mojos."""
    return Plain("fold", hint=f"stop here and keep {amount_text(share, unit)}")


def accept(share: int, unit: int) -> tuple[Choice, ...]:
    """The only choice once a game is over: to be paid `share`, in mojos."""
    return (Forced("accept", hint=f"take {amount_text(share, unit)}"),)


def forced_action(choices: tuple[Choice, ...]) -> Action | None:
    """The action that is taken without a decision, if there is one.

    >>> forced_action((Forced("commit"),)), forced_action((Plain("call"), Plain("fold")))
    (Action(verb='commit', amount=0), None)
    """
    match choices:
        case (Forced(verb=verb),):
            return Action(verb)
        case _:
            return None


def takes(choice: Choice, number: int) -> bool:
    """True if this number may go with the verb; 0 stands for none.

    >>> takes(Amount("raise", 1, 800), 900), takes(Plain("check"), 0)
    (False, True)
    >>> takes(OneOf("give", (3, 5, 6), "two cards"), 4)
    False
    >>> takes(Amount("raise", 100, 800, step=100), 150)
    False
    """
    match choice:
        case Amount(least=least, most=most, step=step):
            return least <= number <= most and number % step == 0
        case OneOf(options=options):
            return number in options
        case _:
            return number == 0


def least_action(choice: Choice) -> Action:
    """The action that takes a choice with the lowest number that it allows.

    >>> least_action(Amount("raise", 1, 800)), least_action(Plain("check")).amount
    (Action(verb='raise', amount=1), 0)
    """
    match choice:
        case Amount(verb=verb, least=number) | OneOf(verb=verb, options=(number, *_)):
            return Action(verb, number)
        case _:
            return Action(choice.verb)


def random_action(choice: Choice, chance: Chance) -> Action:
    """The action that takes a choice with a random number, if it takes one."""
    match choice:
        case Amount(verb=verb, least=low, most=high, step=step):
            return Action(verb, step * chance.between(low // step, high // step))
        case OneOf(verb=verb, options=options):
            return Action(verb, chance.pick(options))
        case _:
            return Action(choice.verb)


def offered(choices: tuple[Choice, ...]) -> str:
    """The choices in a line, with their bounds.

    >>> offered((Plain("call"), Amount("raise", 1, 800, unit=100)))
    'call, raise 0.01 to 8 units (1 to 800 mojos)'
    """
    if not choices:
        return "nothing, it is the other player's turn"
    return ", ".join(with_bounds(choice) for choice in choices)


def choose(choices: tuple[Choice, ...], action: Action) -> Choice:
    """The choice that an action takes. Raises `IllegalAction`, naming what is possible.

    >>> choose((Plain("call"), Amount("raise", 1, 800, unit=100)), Action("raise", 900))
    Traceback (most recent call last):
    channelsim.games.errors.IllegalAction: raise 9 units (900 mojos) is out of bounds: raise 0.01...
    """
    for choice in choices:
        if choice.verb != action.verb:
            continue
        if takes(choice, action.amount):
            return choice
        match choice:
            case Amount(verb=verb, unit=unit, step=step) if action.amount % step:
                amount = _any_amount(action.amount, unit)
                reason = f"{verb} {amount} is not a multiple of {amount_text(step, unit)}"
            case Amount(verb=verb, unit=unit):
                amount = _any_amount(action.amount, unit)
                reason = f"{verb} {amount} is out of bounds: {with_bounds(choice)}"
            case OneOf(verb=verb, form=form):
                reason = f"{verb} takes {form}"
            case _:
                reason = f"{choice.verb} takes no amount"
        raise IllegalAction(reason)
    raise IllegalAction(f"cannot {action.verb} now; possible: {offered(choices)}")


def with_bounds(choice: Choice) -> str:
    """A choice with the numbers that it takes.

    >>> with_bounds(Amount("bet", 1, 900, unit=100))
    'bet 0.01 to 9 units (1 to 900 mojos)'
    >>> with_bounds(Amount("bet", 1, 9, unit=7)), with_bounds(Amount("bet", 7, 7, unit=7))
    ('bet 1m to 9m (~0.143 to ~1.286 units)', 'bet 1 unit (7 mojos)')
    >>> with_bounds(OneOf("give", (3, 5, 6), "two cards"))
    'give two cards'
    """
    match choice:
        case OneOf(verb=verb, form=form):
            return f"{verb} {form}"
        case Amount(verb=verb, least=low, most=high, unit=unit):
            return f"{verb} {_bounds(low, high, unit)}"
        case _:
            return choice.verb


def _bounds(low: int, high: int, unit: int) -> str:
    """Amounts from one to another: in units and mojos, or as people write mojos."""
    if low == high:
        return amount_text(high, unit)
    units = f"{in_units(low, unit)} to {in_units(high, unit)}"
    if unit == 1:
        return f"{low:,} to {counted(high, 'mojo')}"
    units += " unit" if high == unit else " units"
    if "~" in units:
        return f"{low:,}m to {high:,}m ({units})"
    return f"{units} ({low:,} to {counted(high, 'mojo')})"


def _any_amount(mojos: int, unit: int) -> str:
    """An amount that may be none: a negative number is shown in mojos."""
    return amount_text(mojos, unit) if mojos >= 0 else counted(mojos, "mojo")
