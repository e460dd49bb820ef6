"""Reading actions as people write them.

    check   call   fold   all-in   bet 4   raise 4   bet pot   raise half pot   show   muck
    discard 1 5    call 2 Kd       arrange 1 2 3  5 6 7 8 9

Amounts are in chips, or with an `m` in mojos. A raise is the amount on top of the call. Cards are
named by their number in the own hand, or by rank and suit; `discard` alone keeps all cards.
"""

from __future__ import annotations

from collections.abc import Sequence

from channelsim.games.betting import all_in, read_size, size_named
from channelsim.games.cards import card_name
from channelsim.games.choices import choose
from channelsim.games.contract import Action, OneOf, Player, read_verb
from channelsim.games.errors import IllegalAction
from channelsim.games.poker.arrangements import CARDS, number_of
from channelsim.games.poker.player import PokerPlayer
from channelsim.games.poker.result import money

TOP, ABOVE_BOTTOM = 3, 8
"""The cards of the top row, and those of the top and the middle row."""


def read(player: Player, text: str) -> Action:
    """Read an action as people write it. Raises `IllegalAction`, naming what is possible."""
    choices = player.choices()
    size = size_named(text)
    if size == "all-in":
        return all_in(choices)
    if size is not None and isinstance(player, PokerPlayer):
        now = money(player.terms, player.position)
        return read_size(choices, size, now, player.seat)
    verb, *words = text.lower().replace("/", " ").replace(",", " ").split() or [""]
    for choice in choices:
        if isinstance(choice, OneOf) and choice.verb == verb and isinstance(player, PokerPlayer):
            number = _number(verb, words, player.cards.own)
            choose(choices, Action(verb, number))
            return Action(verb, number)
    return read_verb(player, text)


def _number(verb: str, words: Sequence[str], own: Sequence[int]) -> int:
    """The mask or the arrangement that some cards of a hand mean."""
    places = [_place(word, own) for word in words]
    if len(set(places)) < len(places):
        raise IllegalAction("a card is named twice")
    if verb != "arrange":
        return sum(1 << place for place in places)
    if len(places) != ABOVE_BOTTOM or len(own) != CARDS:
        raise IllegalAction(
            f"name {TOP} cards for the top row and {ABOVE_BOTTOM - TOP} for the middle one, not"
            f" {len(places)}"
        )
    return number_of(places[:TOP], places[TOP:])


def _place(word: str, own: Sequence[int]) -> int:
    """The place in a hand of the card that a number or a name means."""
    if word.isascii() and word.isdigit() and len(word) < 3 and 0 < int(word) <= len(own):
        return int(word) - 1
    names = [card_name(card).lower() for card in own]
    name = word.replace("10", "t")
    if name in names:
        return names.index(name)
    example = card_name(own[0]) if own else "Ah"
    raise IllegalAction(
        f"{word[:40]!r} is none of your cards: write a number from 1 to {len(own)}, or a name such"
        f" as {example}"
    )
