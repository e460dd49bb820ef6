"""What no solver follows: products in a group of elliptic curves, and the ranks of open cards.

In programs these are the functions `opens` and `holds` (`openings.clinc`), and `acts_first`
(`first.clinc`).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from channelsim.games.chance import Chance
from channelsim.games.deck.group import G1, real_group
from channelsim.games.deck.openings import has_key, lies_behind
from channelsim.games.deck.terms import CARDS
from channelsim.games.forms import Atom, ByteIn, Integer, ListOf, Pair
from channelsim.games.lemma import Lemma, Turn
from channelsim.games.poker.limits import First, acts_first_with
from channelsim.games.poker.variants import Variant

_SCALAR = Integer(1, G1.order - 1)
_POINT, _DECK_ID = Atom(48), Atom(32)
_CARD = ByteIn(range(CARDS), "a card")
_TRUTH = Integer(0, 1)

# --- openings -----------------------------------------------------------------------------------


def _key_of(scalar: int) -> bytes:
    group = real_group()
    (key,) = group.multiply([(scalar, group.base)])
    return key


def _draw_key(chance: Chance) -> tuple[Any, ...]:
    scalar = chance.between(1, G1.order - 1)
    return scalar, _key_of(scalar)


def _near_key(values: tuple[Any, ...], wanted: int) -> tuple[Any, ...] | None:
    return (values[0], _key_of(values[0])) if wanted else None


OPENS = Lemma(
    name="the scalar of a lock (PD-13)",
    function="opens",
    python=has_key,
    arguments=(_SCALAR, _POINT),
    result=_TRUTH,
    cost=2_000_000,
    draw=_draw_key,
    near=_near_key,
)


def _point_of(card: int, deck_id: bytes, mine: int, theirs: int) -> bytes:
    group = real_group()
    (point,) = group.multiply([(mine * theirs % group.order, group.map(deck_id + bytes((card,))))])
    return point


def _draw_card(chance: Chance) -> tuple[Any, ...]:
    card, deck_id = chance.below(CARDS), chance.bytes(32)
    mine, theirs = (chance.between(1, G1.order - 1) for _ in range(2))
    return card, deck_id, _point_of(card, deck_id, mine, theirs), mine, theirs


def _near_card(values: tuple[Any, ...], wanted: int) -> tuple[Any, ...] | None:
    card, deck_id, _, mine, theirs = values
    if not wanted:
        return None
    return card, deck_id, _point_of(card, deck_id, mine, theirs), mine, theirs


HOLDS = Lemma(
    name="the card at a position (PD-14)",
    function="holds",
    python=lies_behind,
    arguments=(_CARD, _DECK_ID, _POINT, _SCALAR, _SCALAR),
    result=_TRUTH,
    cost=4_000_000,
    draw=_draw_card,
    near=_near_card,
)

# --- who acts first -----------------------------------------------------------------------------

_OPEN = Pair(Integer(0, CARDS - 1), _CARD)
_BY_CARDS = Integer(int(First.HIGHEST), int(First.LOWEST_ACE_LOW))
_TRIES = 200


def _draw_boards(count: int, chance: Chance) -> tuple[Any, ...]:
    """Boards of so many cards each, of few ranks: most have pairs, and many are equal."""
    ranks = chance.between(1, CARDS // 4)
    cards = [4 * chance.below(ranks) + chance.below(4) for _ in range(2 * count)]
    open_cards = tuple((chance.below(CARDS), card) for card in cards)
    first = chance.between(_BY_CARDS.least, _BY_CARDS.most)
    return first, chance.below(2), open_cards[:count], open_cards[count:]


def _near_boards(values: tuple[Any, ...], wanted: int) -> tuple[Any, ...] | None:
    """The same positions with cards that decide it so."""
    first, button, own, other = values
    chance = Chance(b"boards")
    for _ in range(_TRIES):
        cards = iter(chance.draw(range(CARDS), len(own) + len(other)))
        boards = [tuple((at, next(cards)) for at, _ in board) for board in (own, other)]
        if acts_first_with(first, button, *boards) == wanted:
            return first, button, *boards
    return None


def acting_first(count: int) -> Lemma:
    """The lemma for boards of so many open cards."""
    board = ListOf(_OPEN, count, count)
    return Lemma(
        name=f"who acts first by {count} open card{'s' if count > 1 else ''} each",
        function="acts_first",
        python=acts_first_with,
        arguments=(_BY_CARDS, _TRUTH, board, board),
        result=_TRUTH,
        cost=5_000_000,
        turn=Turn(order=(0, 1, 3, 2), flag=1),
        draw=partial(_draw_boards, count),
        near=_near_boards,
    )


def lemmas(variant: Variant) -> tuple[Lemma, ...]:
    """The lemmas of a game: about its openings, and about boards of each number of open cards."""
    counts = range(1, variant.most_open + 1)
    return OPENS, HOLDS, *map(acting_first, counts)
