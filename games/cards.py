"""Cards for people: names, faces with suits, and pictures of a row of cards.

A rank is 2 to 14 (the ace). A suit is 0 to 3, in the order clubs, diamonds, hearts, spades, or none
in a game that has only ranks. Characters that a terminal cannot show are replaced when printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from channelsim.games.contract import Line, Span
from channelsim.games.counting import rank_of, suit_of

RANK_NAMES = (
    *("", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king", "ace"),
)
"""The names of the ranks 2 to 14, by rank."""

SUITS = "♣♦♥♠"
"""The signs of the suits."""

SUIT_LETTERS = "cdhs"
"""The letters of the suits."""

LABEL = 13
"""The width of the label in front of a row of cards."""


def rank_text(rank: int) -> str:
    """A rank as on a card.

    >>> " ".join(rank_text(rank) for rank in (14, 13, 10, 2))
    'A K 10 2'
    """
    return {11: "J", 12: "Q", 13: "K", 14: "A"}.get(rank, str(rank))


def card_name(card: int) -> str:
    """A card of a pack, from 0 to 51, in two plain letters.

    >>> card_name(51), card_name(34)
    ('As', 'Th')
    """
    rank = rank_of(card)
    return ("T" if rank == 10 else rank_text(rank)) + SUIT_LETTERS[suit_of(card)]


def plural(rank: int) -> str:
    """The plural of a rank.

    >>> plural(6), plural(13)
    ('sixes', 'kings')
    """
    return RANK_NAMES[rank] + ("es" if rank == 6 else "s")


def face(rank: int, suit: int | None = None) -> Span:
    """A card's face; hearts and diamonds are red.

    >>> face(14, 3), face(10, 2), face(7)
    (('A♠', 'bold'), ('10♥', 'bold red'), ('7', 'bold'))
    """
    if suit is None:
        return rank_text(rank), "bold"
    return rank_text(rank) + SUITS[suit], "bold red" if suit in (1, 2) else "bold"


def card_face(card: int) -> Span:
    """The face of a card of a pack.

    >>> card_face(51), card_face(1)
    (('A♠', 'bold'), ('2♦', 'bold red'))
    """
    return face(rank_of(card), suit_of(card))


def faces(cards: Iterable[int]) -> list[Span]:
    """The faces of several cards of a pack."""
    return [card_face(card) for card in cards]


def dimmed(faces: Iterable[Span]) -> list[Span]:
    """The same faces, dim."""
    return [(text, "dim") for text, _ in faces]


def signs(cards: Iterable[int]) -> str:
    """Several cards of a pack in a sentence, or a dash for none.

    >>> signs([51, 32])
    'A♠ 10♣'
    """
    return " ".join(card_face(card)[0] for card in cards) or "-"


def in_a_row(faces: Sequence[Span]) -> Line:
    """Faces for a sentence, with spaces between them.

    >>> in_a_row([face(14), face(9)])
    (('A', 'bold'), (' ', ''), ('9', 'bold'))
    """
    spaced: list[Span] = []
    for span in faces:
        spaced += [(" ", ""), span]
    return tuple(spaced[1:])


def pictures(label: str, faces: Sequence[Span], *, numbered: bool = False) -> list[Line]:
    """Draw a row of cards with a label at the left. Ten cards fit into 80 columns.

    >>> for line in pictures("board", [face(14, 3), face(10, 2)], numbered=True):
    ...     print("".join(text for text, _ in line))
                 ┌───┐ ┌───┐
    board        │ A♠│ │10♥│
                 └───┘ └───┘
                   1     2
    """
    if not faces:
        return [((f"{label:<{LABEL}}", "dim"), ("-", ""))]
    indent = " " * LABEL
    middle: list[Span] = [(f"{label:<{LABEL}}", "dim")]
    for text, style in faces:
        middle += [("│", "dim"), (f"{text:>3}" if len(text) > 1 else f" {text} ", style)]
        middle.append(("│ ", "dim"))
    lines: list[Line] = [
        ((indent + " ".join(["┌───┐"] * len(faces)), "dim"),),
        (*middle[:-1], ("│", "dim")),
        ((indent + " ".join(["└───┘"] * len(faces)), "dim"),),
    ]
    if numbered:
        numbers = "".join(f"{number:^6}" for number in range(1, len(faces) + 1))
        lines.append(((indent + numbers.rstrip(), "dim"),))
    return lines


def undrawn(texts: Iterable[str]) -> list[str]:
    """Lines in which rows of cards are drawn, with the cards of each row in a line of words.

    >>> row = ["".join(text for text, _ in line) for line in pictures("flop", [face(14), face(9)])]
    >>> undrawn([*row, "Alice checks"])
    ['flop: A 9', 'Alice checks']
    """
    plain: list[str] = []
    for text in texts:
        if text.strip() and set(text) <= set(" ┌─┐└┘"):
            continue
        label, bar, rest = text.partition("│")
        if not bar:
            plain.append(text)
            continue
        *cards, after = rest.split("│")
        shown = " ".join(card.strip() for card in cards if card.strip())
        plain.append(f"{label.strip()}: {shown}{after}".removeprefix(": "))
    return plain
