"""Reading actions as people write them.

    check   call   fold   all-in   bet 2   raise 2.5   bet 250m   bet pot   raise half pot

Amounts are in units, or with an `m` in mojos. A raise is the amount on top of the call.
"""

from __future__ import annotations

from channelsim.games.amounts import read_amount
from channelsim.games.betting import SIZES, all_in, read_size, size_named
from channelsim.games.choices import choose, offered, with_bounds
from channelsim.games.contract import Action, Amount, Choice, Player
from channelsim.games.errors import IllegalAction
from channelsim.games.spacepoker.player import SpacePokerPlayer
from channelsim.games.spacepoker.result import money
from channelsim.games.spacepoker.states import MidRound


def read(player: Player, text: str) -> Action:
    """Read an action as people write it. Raises `IllegalAction`, naming what is possible."""
    if not isinstance(player, SpacePokerPlayer):
        raise IllegalAction("not a player of Space Poker")
    state = player.position.state
    after_check = isinstance(state, MidRound) and state.last_raise == 0
    size = size_named(text)
    if size in SIZES[:-1]:
        now = money(player.terms, player.position)
        return read_size(player.choices(), size, now, player.seat)
    return read_choice(player.choices(), text, player.terms.unit, after_check=after_check)


def read_choice(
    choices: tuple[Choice, ...], text: str, unit: int, *, after_check: bool = False
) -> Action:
    """The same of a player that has these choices.

    After a check, `check` stands for the call and `bet` for the raise. An amount alone is that of
    the bet or raise.

    >>> from channelsim.games.contract import Plain
    >>> choices = Plain("call"), Amount("raise", 1, 800, unit=100)
    >>> read_choice(choices, "bet 2.5", 100, after_check=True)
    Action(verb='raise', amount=250)
    >>> read_choice(choices, "2", 100)
    Action(verb='raise', amount=200)
    """
    words = text.lower().split()
    if size_named(text) == "all-in":
        return all_in(choices, may_call=not after_check)
    if not words or len(words) > 2:
        raise IllegalAction(f"{text[:40]!r} is no action; possible: {offered(choices)}")
    if len(words) == 1 and words[0][0].isdigit():
        words = [*(choice.verb for choice in choices if isinstance(choice, Amount)), *words][-2:]
    verb = words[0][:40]
    if after_check:
        verb = {"check": "call", "bet": "raise"}.get(verb, verb)
    for choice in choices:
        if isinstance(choice, Amount) and choice.verb == verb and len(words) == 1:
            raise IllegalAction(f"{verb} needs an amount: {with_bounds(choice)}")
    action = Action(verb, read_amount(words[1], unit) if len(words) == 2 else 0)
    choose(choices, action)
    return action
