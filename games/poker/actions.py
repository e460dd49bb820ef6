"""Reading actions as people write them.

    check   call   fold   all-in   bet 4   raise 4   show   muck

Amounts are in chips, or with an `m` in mojos. A raise is the amount on top of the call.
"""

from __future__ import annotations

from channelsim.games.choices import offered
from channelsim.games.contract import Action, Amount, Player, read_verb
from channelsim.games.errors import IllegalAction

_ALL_IN = {"all-in", "allin", "all in"}


def read(player: Player, text: str) -> Action:
    """Read an action as people write it. Raises `IllegalAction`, naming what is possible."""
    if " ".join(text.lower().split()) not in _ALL_IN:
        return read_verb(player, text)
    choices = player.choices()
    for choice in choices:
        if isinstance(choice, Amount):
            return Action(choice.verb, choice.most)
    if any(choice.verb == "call" for choice in choices):
        return Action("call")
    raise IllegalAction(f"cannot go all-in now; possible: {offered(choices)}")
