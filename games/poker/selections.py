"""Selections at a showdown, and how they divide the pot.

The masks of a move or of evidence select cards, whose keys are compared. A selection chooses among
a player's own cards, its open ones and the board, in this order; bit 0 is the first card. The pot
goes to the better hand, or in halves to the best high and the best low.

Rules: HOLD-1, OMA-1, EVAL-6, HL-1 to HL-7 and SHOW-4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from channelsim.games.counting import pickers
from channelsim.games.poker.ranking import ACE_TO_FIVE, CODES, RANKINGS, Ranking
from channelsim.games.poker.states import Showdown

# --- pots ---------------------------------------------------------------------------------------


WHOLE = 4
"""Quarters of a pot."""


def quarters(order: int, halves: int = 1) -> int:
    """The quarters of the pot that a comparison gives to the first player.

    `order` is 1, 0 or -1 as the first player wins, ties or loses, and `halves` how many halves of
    the pot are compared at once.

    >>> [quarters(order, 2) for order in (1, 0, -1)], [quarters(order) for order in (1, 0, -1)]
    ([4, 2, 0], [2, 1, 0])
    """
    return halves * (1 + order)


def split_quarters(high: int, low: int | None) -> int:
    """The first player's quarters of a pot of high and low hands (HL-3, HL-4).

    `high` and `low` are 1, 0 or -1 as it wins, ties or loses; `low` is None if nobody qualifies.
    """
    return quarters(high, 2) if low is None else quarters(high) + quarters(low)


def pot_share(pot: int, of_four: int, button: int) -> int:
    """The chips of a player with this many quarters of an even pot (HL-5).

    An odd chip goes to the seat that is not the button; `button` is 1 for the one that is.

    >>> pot_share(50, 1, 0), pot_share(50, 3, 1), pot_share(50, 2, 0), pot_share(50, 4, 1)
    (13, 37, 25, 50)
    """
    return (pot * of_four + (0 if button else WHOLE - 1)) // WHOLE


# --- selections ---------------------------------------------------------------------------------


OWN, SHARED = 4, 5
"""Own and shared cards where exactly two and three are selected."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The keys of what a player selects; for no low hand, the bound that a low is less than."""

    high: int
    low: int


def claimed(showdown: Showdown, cards: Sequence[int], data: bytes) -> Claim | None:
    """The claim of a player with these cards; None for selections that are not legal.

    `data` is the selection of the hand, and of the low hand where there is one, all zero for none.
    """
    if len(data) != showdown.masks:
        return None
    size = showdown.mask_size
    hand = selected(showdown, cards, data[:size])
    if hand is None:
        return None
    high = RANKINGS[showdown.ranking].key(hand)
    if not any(data[size:]):
        return Claim(high, showdown.low)
    low_hand = selected(showdown, cards, data[size:])
    if low_hand is None:
        return None
    low = ACE_TO_FIVE.key(low_hand)
    return Claim(high, low) if low < showdown.low else None


def selected(showdown: Showdown, cards: Sequence[int], mask: bytes) -> Sequence[int] | None:
    """The five cards of a mask; None if they are not five of these, or two own and three shared."""
    number = int.from_bytes(mask, "big")
    match showdown.mask_size:
        case 0:
            return cards
        case 1:
            pick = pickers(len(cards), 5).get(number)
            return pick(cards) if pick is not None else None
        case _:
            own = pickers(OWN, 2).get(number & 15)
            shared = pickers(SHARED, 3).get(number >> OWN)
            if own is None or shared is None:
                return None
            return (*own(cards[:OWN]), *shared(cards[OWN:]))


@dataclass(frozen=True, slots=True)
class Selection:
    """The best five cards of a player: their key, and the mask that selects them.

    The mask is 0 for hands of five cards, which need none.
    """

    key: int
    cards: tuple[int, ...]
    mask: int


@lru_cache(maxsize=4096)
def best_selection(showdown: Showdown, cards: tuple[int, ...]) -> Selection:
    """The best hand of a player with these cards; the lowest mask of equals.

    >>> best_selection(Showdown(1, 0, 0), (48, 49, 0, 4, 9, 50, 51)).mask
    115
    """
    return _best(RANKINGS[showdown.ranking], showdown, cards)


@lru_cache(maxsize=4096)
def best_low(showdown: Showdown, cards: tuple[int, ...]) -> Selection | None:
    """The best low hand; None if no selection qualifies."""
    if not showdown.low:
        return None
    low = _best(ACE_TO_FIVE, showdown, cards)
    return low if low.key < showdown.low else None


def best_claim(showdown: Showdown, cards: tuple[int, ...]) -> Claim:
    """The claim of a player that selects its best hands."""
    low = best_low(showdown, cards)
    return Claim(best_selection(showdown, cards).key, low.key if low else showdown.low)


def best_masks(showdown: Showdown, cards: tuple[int, ...]) -> bytes:
    """The selections of the best hand and, where there is one, of the best low hand."""
    size = showdown.mask_size
    high = best_selection(showdown, cards).mask.to_bytes(size, "big")
    if not showdown.low:
        return high
    low = best_low(showdown, cards)
    return high + (low.mask if low else 0).to_bytes(size, "big")


def is_whole(showdown: Showdown, own: Sequence[int], board: Sequence[int]) -> bool:
    """True if a hand can be selected out of a player's cards and the board."""
    match showdown.mask_size:
        case 0:
            return len(own) == 5
        case 1:
            return len(own) + len(board) >= 5
        case _:
            return len(own) == OWN and len(board) >= 3


def _best(ranking: Ranking, showdown: Showdown, cards: tuple[int, ...]) -> Selection:
    sign = -1 if ranking.low else 1
    codes = tuple([CODES[card] for card in cards])
    key, mask = max(
        (sign * ranking.key_of_code(sum(five)), -mask)
        for mask, five in _selections(showdown, codes)
    )
    hand = selected(showdown, cards, (-mask).to_bytes(showdown.mask_size, "big"))
    assert hand is not None
    return Selection(sign * key, tuple(hand), -mask)


def _selections(
    showdown: Showdown, cards: tuple[int, ...]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The masks of all selections out of these cards, or their codes, with what each selects."""
    match showdown.mask_size:
        case 0:
            yield 0, cards
        case 1:
            for mask, pick in pickers(len(cards), 5).items():
                yield mask, pick(cards)
        case _:
            own, shared = cards[:OWN], cards[OWN:]
            for low_bits, two in pickers(OWN, 2).items():
                for high_bits, three in pickers(len(shared), 3).items():
                    yield low_bits | high_bits << OWN, (*two(own), *three(shared))


def quarters_won(showdown: Showdown, claim: Claim, other: Claim) -> int:
    """The quarters of the pot that the first of two claims wins (HL-3, HL-4)."""
    high = RANKINGS[showdown.ranking].better(claim.high, other.high)
    if claim.low == other.low == showdown.low:
        return split_quarters(high, None)
    return split_quarters(high, ACE_TO_FIVE.better(claim.low, other.low))
