"""Cards and hands in words, and by what one hand beats another."""

from __future__ import annotations

from collections.abc import Sequence

from games.calpoker.hands import rank_of, suit_of
from games.cards import RANK_NAMES, SUIT_LETTERS, face, plural, rank_text
from games.contract import Span
from games.counting import HandValue

CLASSES: dict[HandValue, tuple[str, tuple[str, ...]]] = {
    (5,): ("straight flush", ("highest card",)),
    (4, 1): ("four of a kind", ("four of a kind", "kicker")),
    (3, 2): ("full house", ("three of a kind", "pair")),
    (3, 1, 3): (
        "flush",
        ("highest card", "second card", "third card", "fourth card", "fifth card"),
    ),
    (3, 1, 2): ("straight", ("highest card",)),
    (3, 1, 1): ("set", ("set", "kicker", "second kicker")),
    (2, 2, 1): ("two pair", ("higher pair", "lower pair", "kicker")),
    (2, 1, 1, 1): ("pair", ("pair", "kicker", "second kicker", "third kicker")),
    (1, 1, 1, 1, 1): (
        "high card",
        ("highest card", "second card", "third card", "fourth card", "fifth card"),
    ),
}
"""The classes of hands, best first: what a value starts with, the class's name, and what each
rank after that is called."""

ROYAL = (5, 14)
"""The value of the highest straight flush, which has a name of its own."""


def card_face(card: int) -> Span:
    """A card with its suit, as a span.

    >>> card_face(51), card_face(1)
    (('A♠', 'bold'), ('2♦', 'bold red'))
    """
    return face(rank_of(card), suit_of(card))


def card_name(card: int) -> str:
    """A card in two plain letters.

    >>> card_name(51), card_name(34)
    ('As', 'Th')
    """
    rank = rank_of(card)
    return ("T" if rank == 10 else rank_text(rank)) + SUIT_LETTERS[suit_of(card)]


def signs(cards: Sequence[int]) -> str:
    """Several cards with real suits, in a sentence.

    >>> signs((34, 51))
    '10♥ A♠'
    """
    return " ".join(card_face(card)[0] for card in cards)


def split(value: HandValue) -> tuple[HandValue, tuple[int, ...]]:
    """A value taken apart: what its class starts with, the ranks.

    >>> split((3, 1, 2, 9))
    ((3, 1, 2), (9,))
    """
    length = next(len(start) for start in CLASSES if value[: len(start)] == start)
    return value[:length], value[length:]


def describe(value: HandValue) -> str:
    """A hand by name.

    >>> describe((2, 2, 1, 13, 4, 9))
    'two pair, kings and fours'
    >>> describe((5, 14)), describe((3, 1, 2, 5))
    ('royal flush', 'straight, five high')
    """
    if value == ROYAL:
        return "royal flush"
    start, ranks = split(value)
    name, _ = CLASSES[start]
    match name, ranks:
        case (("straight" | "straight flush" | "flush"), (high, *_)):
            return f"{name}, {RANK_NAMES[high]} high"
        case "full house", (three, pair):
            return f"full house, {plural(three)} over {plural(pair)}"
        case "two pair", (high, low, _):
            return f"two pair, {plural(high)} and {plural(low)}"
        case "high card", (high, *_):
            return f"high card, {RANK_NAMES[high]}"
        case _:
            return f"{name}, {plural(ranks[0])}"


def decided_by(winner: HandValue, loser: HandValue) -> str:
    """By what the first hand beats the second: the class, or which rank.

    >>> decided_by((3, 1, 2, 9), (2, 2, 1, 13, 4, 9))
    'class: straight over two pair'
    >>> decided_by((2, 2, 1, 13, 4, 9), (2, 2, 1, 13, 4, 7))
    'kicker: nine over seven'
    >>> decided_by((5, 9), (5, 9))
    'split: equal hands'
    """
    start, ranks = split(winner)
    other_start, other_ranks = split(loser)
    name, roles = CLASSES[start]
    if start != other_start:
        return f"class: {name} over {CLASSES[other_start][0]}"
    for role, rank, other in zip(roles, ranks, other_ranks, strict=True):
        if rank != other:
            return f"{role}: {RANK_NAMES[rank]} over {RANK_NAMES[other]}"
    return "split: equal hands"
