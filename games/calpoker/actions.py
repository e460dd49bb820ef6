"""Reading actions as people write them: four cards to give away, by number or by name.

    1 2 5 8      discard 1 2 5 8      As 10h kd 3♣      fold

Numbers count a player's eight cards from the lowest, as they are shown. A name is a rank and a
suit, as a letter (c d h s) or a sign.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from channelsim.games.calpoker.deal import GIVEN, HAND
from channelsim.games.calpoker.player import DISCARD, CalPokerPlayer
from channelsim.games.cards import SUIT_LETTERS, SUITS, card_face, rank_text
from channelsim.games.choices import choose, offered
from channelsim.games.contract import Action, Choice, Player
from channelsim.games.counting import rank_of, suit_of
from channelsim.games.errors import IllegalAction

_NAME = re.compile(f"(10|[2-9tjqka])([{SUIT_LETTERS}{SUITS}])")
_EMOJI = "\ufe0f"
"""The character that phone keyboards append to a suit."""


def read(player: Player, text: str) -> Action:
    """Read an action as people write it. Raises `IllegalAction` with the reason."""
    if not isinstance(player, CalPokerPlayer):
        raise IllegalAction("not a player of California Poker")
    hands = player.cards.hands
    return read_choice(player.choices(), text, hands[player.seat] if hands else ())


def read_choice(choices: tuple[Choice, ...], text: str, own: Sequence[int]) -> Action:
    """The same of a player that has these choices and holds the cards `own`.

    >>> hand = (0, 5, 11, 20, 26, 33, 44, 51)
    >>> read_choice((DISCARD,), "1 3♦ 4s 8", hand)
    Action(verb='discard', amount=135)
    """
    words = text.lower().replace(_EMOJI, "").replace(",", " ").split()
    if not words:
        raise IllegalAction(f"nothing was written; possible: {offered(choices)}")
    if len(words) == 1 and words[0].isalpha() and not _is_about_cards(words[0]):
        action = Action(words[0][:40])
        choose(choices, action)
        return action
    if DISCARD not in choices:
        raise IllegalAction(f"{text[:40]!r} is no action; possible: {offered(choices)}")
    return Action(DISCARD.verb, _mask(words[words[0] == DISCARD.verb :], own))


def _is_about_cards(word: str) -> bool:
    return word == DISCARD.verb or _NAME.fullmatch(word) is not None


def _mask(words: Sequence[str], own: Sequence[int]) -> int:
    mask = 0
    for word in words:
        place = _place(word, own)
        if mask >> place & 1:
            raise IllegalAction(f"{card_face(own[place])[0]} is named twice")
        mask |= 1 << place
    if mask.bit_count() != GIVEN:
        raise IllegalAction(f"name {GIVEN} cards to give away, not {len(words)}")
    return mask


def _place(word: str, own: Sequence[int]) -> int:
    """The index in `own` of the card that a number or a name means."""
    if word in "12345678" and len(word) == 1:
        return int(word) - 1
    name = _NAME.fullmatch(word)
    if name is None:
        raise IllegalAction(
            f"{word[:40]!r} is not a card: write a number from 1 to {HAND}, or a name such as"
            f" {card_face(own[0])[0]}"
        )
    rank, suit = name.groups()
    for place, card in enumerate(own):
        if rank_text(rank_of(card)) == {"t": "10"}.get(rank, rank.upper()) and suit in (
            SUITS[suit_of(card)],
            SUIT_LETTERS[suit_of(card)],
        ):
            return place
    raise IllegalAction(f"{word.upper()} is not one of your cards")
