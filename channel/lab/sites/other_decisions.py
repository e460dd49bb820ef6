"""Decisions that a player's own logic does not offer: a number outside of its options.

An honest player's decisions are legal: a bid that it can pay, a place on the board, a piece that
may move. The same function of its logic makes the move for another number, with all that it alone
can show; and the memory by which it goes on, where the decision is hidden.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.games.answers import taken_problem
from channelsim.games.contract import Action, Amount, Choice, OneOf, PlainPlayer, Play, Player
from channelsim.games.plugin_games import bare_player
from channelsim.plugins import WrongAnswer, called

TRIES = 4
"""The numbers that are tried for one decision; a player's logic need not work on each."""

FAR = (127, 128, 255, 256)
"""Numbers at which one byte ends, or becomes negative."""


def other_decision(player: Player, action: Action, chance: FastChance) -> tuple[Play, int] | None:
    """A hidden decision like an action, for a number that the player does not offer; both.

    None where the action takes no number, where its play hides nothing (`Play.memory`), and where
    the player's logic does not work on other numbers.
    """
    for verb, number, play in _unoffered(player, chance):
        if verb == action.verb and play.memory:
            return play, number
    return None


def unoffered_plays(player: Player, chance: FastChance) -> Iterator[Play]:
    """Plays of a player's own logic with numbers that it does not offer, such as a piece that may
    not move."""
    for _, _, play in _unoffered(player, chance):
        yield play


def _unoffered(player: Player, chance: FastChance) -> Iterator[tuple[str, int, Play]]:
    bare = bare_player(player)
    if not isinstance(bare, PlainPlayer):
        return
    for choice, taken in bare.moves(bare).items():
        if not callable(taken):
            continue
        for number in _outside(choice, chance):
            try:
                play = called(taken, f"{choice.verb} {number}")(number)
            except (Exception, WrongAnswer):
                continue
            if isinstance(play, Play) and not taken_problem(play):
                yield choice.verb, number, play


def _outside(choice: Choice, chance: FastChance) -> list[int]:
    """Numbers that a choice does not offer: mostly the first ones beyond its options."""
    match choice:
        case OneOf(options=options):
            least, most = options[0], options[-1]
            offered: Container[int] = frozenset(options)
        case Amount(least=least, most=most):
            offered = range(least, most + 1)
        case _:
            return []
    near = (most + 1, most + 1, least - 1, most + 2, 2 * most, chance.between(least, most))
    others = [number for number in (*near, chance.below(256), *FAR) if number not in offered]
    return [chance.pick(others) for _ in range(TRIES)]
