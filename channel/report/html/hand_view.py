"""A hand as a page shows it: its cards as tiles, its actions by street with the pot, its result.

Everything comes from the game's own story and summary, so that a game of a plug-in has it too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from channelsim.games import registry
from channelsim.games.amounts import amount_text
from channelsim.games.cards import RANK_NAMES, SUIT_LETTERS, SUITS, rank_text, undrawn
from channelsim.games.contract import Game, Hand, Line, Seat

LONGEST_TILE = 12
"""Characters of a card that is not one of a pack."""

MOST_TILES = 60
"""Cards of a row, at most: a plug-in decides how many there are."""

_CARD = re.compile(f"([2-9TJQKA])([{SUIT_LETTERS}])")
_SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
_RED = (1, 2)


class Card(msgspec.Struct, frozen=True):
    """A card's tile: its face, and its name for those who do not see it."""

    face: str
    name: str
    is_red: bool = False


class CardRow(msgspec.Struct, frozen=True):
    """Cards in a row; `note` says what they make, or what belongs to them."""

    label: str
    cards: tuple[Card, ...]
    note: str = ""


class Street(msgspec.Struct, frozen=True):
    """The actions of a part of a hand; `pot` is the money in the middle after it, in words."""

    name: str
    actions: tuple[str, ...]
    pot: str = ""


class HandView(msgspec.Struct, frozen=True):
    """A hand: `result` in lines, `winner` by name ("" for none), `by` why it won.

    `won` is what the winner gains beyond its stake, in words.
    """

    title: str
    rows: tuple[CardRow, ...]
    streets: tuple[Street, ...]
    result: tuple[str, ...]
    winner: str = ""
    by: str = ""
    won: str = ""


def title_of(game: Game) -> str:
    """The name of a game for people."""
    return game.title.partition(":")[0]


def plain(lines: Sequence[Line]) -> tuple[str, ...]:
    """A game's lines without their styles, with words in the place of drawn cards."""
    texts = ("".join(text for text, _ in line).rstrip() for line in lines)
    return tuple(filter(None, undrawn(texts)))


def action_words(hand: Hand, lines: Sequence[str]) -> str:
    """The line of a step that says what its player did; the first one where none names it."""
    name = hand.names[hand.steps[-1].seat]
    return next((text for text in lines if text.startswith(name)), lines[0] if lines else "")


def hand_view(hand: Hand, words: Sequence[str], viewer: Seat | None) -> HandView:
    """The view of a hand whose names begin with capitals; `words` has a line for each step."""
    game = registry.get(hand.terms.game)
    data = game.summary(hand, viewer)
    result = data.get("result") or {}
    won = ""
    winner = result.get("winner") or ""
    if winner in hand.names and hand.payouts is not None:
        seat = hand.names.index(winner)
        won = amount_text(hand.payouts[seat] - hand.terms.stakes[seat], hand.terms.unit)
    return HandView(
        title_of(game),
        tuple(_rows(hand, data)),
        tuple(_streets(hand, words, data.get("actions") or [])),
        plain(game.story.result(hand, viewer)) if hand.steps else (),
        winner,
        result.get("by") or "",
        won,
    )


def _rows(hand: Hand, data: Mapping[str, Any]) -> Iterator[CardRow]:
    """The cards of both players and of the board."""
    cards = data.get("cards") or {}
    best = data.get("best_hands") or {}
    for owner in dict.fromkeys((*hand.names, *cards)):
        given = cards.get(owner)
        parts = given if isinstance(given, dict) else {"": given}
        rows = {name: value for name, value in parts.items() if isinstance(value, list) and value}
        notes = [
            f"{'no' if value == '-' else value} {name}"  # a dash before a word is no sign
            for name, value in parts.items()
            if isinstance(value, str)
        ]
        hand_made = best.get(owner) or {}
        notes += [str(hand_made["name"])] if hand_made.get("name") else []
        label = owner[:1].upper() + owner[1:]
        for at, (name, row) in enumerate(rows.items(), 1):
            of_all = f"{label}, {name}" if len(rows) > 1 and name else label
            note = "; ".join(notes) if at == len(rows) else ""
            yield CardRow(of_all, tuple(map(card_tile, row[:MOST_TILES])), note)


def card_tile(card: object) -> Card:
    """The tile of a card: two letters of a pack, a rank of a game without suits, or any text.

    >>> card_tile("Th"), card_tile(14).name
    (Card(face='10♥', name='ten of hearts', is_red=True), 'ace')
    """
    match = _CARD.fullmatch(card) if isinstance(card, str) else None
    if match:
        rank, suit = "23456789TJQKA".index(match[1]) + 2, SUIT_LETTERS.index(match[2])
        name = f"{RANK_NAMES[rank]} of {_SUIT_NAMES[suit]}"
        return Card(rank_text(rank) + SUITS[suit], name, suit in _RED)
    if isinstance(card, int) and 2 <= card < len(RANK_NAMES):
        return Card(rank_text(card), RANK_NAMES[card])
    text = str(card)[:LONGEST_TILE]
    return Card(text, text)


def _streets(
    hand: Hand, words: Sequence[str], actions: Sequence[Mapping[str, Any]]
) -> Iterator[Street]:
    """The actions by street; in one group where the game does not say which is of which."""
    if len(actions) != len(words):
        actions = [{}] * len(words)
    told = zip(words, actions, strict=True)
    for name, of_street in groupby(told, key=lambda pair: str(pair[1].get("street") or "")):
        listed = list(of_street)
        pot = listed[-1][1].get("pot")
        shown = amount_text(pot, hand.terms.unit) if isinstance(pot, int) and pot else ""
        yield Street(name, tuple(word for word, _ in listed if word), shown)
