"""What proofs of a showdown leave to real runs: the keys of hands, what selections claim, and what
two claims give. As programs have it, and as these rules do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, islice, product
from math import comb
from typing import TypeAlias

from channelsim.clsp.values import NIL, Value, int_to_atom, to_list
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from channelsim.games.check_cases import in_an_order, value_list
from channelsim.games.deck.terms import CARDS
from channelsim.games.lemma import Case, Check
from channelsim.games.poker.arranging import ROWS, Arrangement, arranged, points
from channelsim.games.poker.limits import First, board_value
from channelsim.games.poker.ranking import ACE_TO_FIVE, RANKINGS
from channelsim.games.poker.selections import (
    OWN,
    SHARED,
    Claim,
    claimed,
    pot_share,
    quarters_won,
)
from channelsim.games.poker.states import Showdown
from channelsim.games.poker.variants import Variant

ENDS: Value = to_list([NIL, NIL, NIL])
"""The result of a move that ends the game."""

ACES_LOW = 4
"""Added to a card where the ace is low: the aces become the first cards."""

HAND = 5
MOST_CHIPS = 1 << 40

Cases: TypeAlias = Iterator[Case]


def checks(variant: Variant) -> tuple[Check, ...]:
    """The checks of a game."""
    if variant.arranges:
        return _keys("score", 0), _PARTS, _ROWS, _POINTS
    rules = variant.showdown
    counts = range(1, variant.most_open + 1)
    rankings = dict.fromkeys((rules.ranking, *([RANKINGS.index(ACE_TO_FIVE)] if rules.low else [])))
    return (
        *map(_open_values, counts),
        *(_keys("end", ranking) for ranking in rankings),
        Check(
            "the claim of a selection",
            "end",
            "claim",
            partial(_claims, rules),
            "selections of cards, half of them among few ranks or suits",
        ),
        Check(
            "the share of two claims",
            "end",
            "compared",
            partial(_shares, rules),
            "pairs of claims in a deal, with the least share and the next lower one",
        ),
    )


# --- open cards ---------------------------------------------------------------------------------


def _open_values(count: int) -> Check:
    return Check(
        f"the value of {counted(count, 'open card')}",
        "begin",
        "value_of",
        partial(_valued, count),
        "boards, each in an order that is drawn, with the ace high and low",
        2 * comb(CARDS, count),
    )


def _valued(count: int, chance: Chance, first: int) -> Cases:
    """All boards of so many open cards, each in one order, and the values of a program."""
    orders = (First.HIGHEST, 0), (First.HIGHEST_ACE_LOW, ACES_LOW)
    boards = product(orders, combinations(range(CARDS), count))
    for (order, aces), cards in islice(boards, first, None):
        ordered = in_an_order(cards, chance)
        board: list[Value] = [
            (int_to_atom(chance.below(CARDS)), bytes((card,))) for card in ordered
        ]
        yield (to_list(board), int_to_atom(aces)), int_to_atom(open_value(order, ordered))


def open_value(order: First, cards: Sequence[int]) -> int:
    """The value of open cards in programs: it orders boards as `board_value` does.

    Of each rank, how often it occurs counts most, squared, then the rank; of more than one card.
    """
    if len(cards) == 1:
        return board_value(order, cards)
    ace_low = order is First.HIGHEST_ACE_LOW
    ranks = Counter((card + ACES_LOW * ace_low) % CARDS // 4 for card in cards)
    return sum(times * (times << 80 | 1 << 16 * times + rank) for rank, times in ranks.items())


# --- keys ---------------------------------------------------------------------------------------


def _keys(validator: str, ranking: int) -> Check:
    return Check(
        f"the key of five cards, {RANKINGS[ranking].name}",
        validator,
        "hand_key",
        partial(_keyed, ranking, HAND),
        "hands of five cards, each in an order that is drawn",
        comb(CARDS, HAND),
    )


def _keyed(ranking: int, size: int, chance: Chance, first: int) -> Cases:
    """All hands of so many cards, each in one order, and their keys."""
    for cards in islice(combinations(range(CARDS), size), first, None):
        ordered = in_an_order(cards, chance)
        key = RANKINGS[ranking].key(ordered)
        yield (value_list(ordered), int_to_atom(ranking)), int_to_atom(key)


_PARTS = Check(
    "the key of three cards",
    "score",
    "part_key",
    partial(_keyed, 0, ROWS[0]),
    "rows of three cards, each in an order that is drawn",
    comb(CARDS, ROWS[0]),
)

# --- claims -------------------------------------------------------------------------------------


def _dealt(chance: Chance, count: int) -> tuple[int, ...]:
    """Different cards: half of the time of few ranks, or mostly of one suit."""
    match chance.below(4):
        case 0:
            low = chance.below(CARDS // 4 - 4)
            return chance.draw(range(4 * low, 4 * low + 20), count)
        case 1:
            suit = chance.below(4)
            some = [card for card in range(CARDS) if card % 4 == suit or not chance.below(6)]
            return chance.draw(some if len(some) >= count else range(CARDS), count)
        case _:
            return chance.draw(range(CARDS), count)


def _selection(rules: Showdown, chance: Chance) -> bytes:
    """One selection, sometimes of any bytes."""
    if not chance.below(8):
        return chance.bytes(rules.mask_size)
    match rules.mask_size:
        case 0:
            return b""
        case 1:
            return bytes((sum(1 << bit for bit in chance.draw(range(7), HAND)),))
        case _:
            own = sum(1 << bit for bit in chance.draw(range(OWN), 2))
            shared = sum(1 << bit for bit in chance.draw(range(SHARED), 3))
            return (own | shared << OWN).to_bytes(2, "big")


def _data(rules: Showdown, chance: Chance) -> bytes:
    """The selections of a player; rarely of a wrong length."""
    data = _selection(rules, chance)
    if rules.low:
        data += _selection(rules, chance) if chance.below(4) else bytes(rules.mask_size)
    return data + b"\x00" if not chance.below(32) else data


def _cards_of(rules: Showdown) -> int:
    return (HAND, 7, OWN + SHARED)[rules.mask_size]


def _claims(rules: Showdown, chance: Chance, first: int) -> Cases:
    """Selections among drawn cards, and what they claim."""
    while True:
        cards = _dealt(chance, _cards_of(rules))
        for _ in range(8):
            data = _data(rules, chance)
            claim = claimed(rules, cards, data)
            yield (data, value_list(cards), rules.value()), _claim(claim)


def _claim(claim: Claim | None) -> Value:
    return NIL if claim is None else (int_to_atom(claim.high), int_to_atom(claim.low))


def _shares(rules: Showdown, chance: Chance, first: int) -> Cases:
    """All pairs of claims that some selections of a deal make, about pots of any size."""
    while True:
        cards = chance.draw(range(CARDS), 2 * _cards_of(rules))
        hands = cards[: _cards_of(rules)], cards[_cards_of(rules) :]
        mine, theirs = (_some_claims(rules, hand, chance) for hand in hands)
        unit, stake, button = 1 + chance.below(100), chance.below(MOST_CHIPS), chance.below(2)
        put = chance.below(stake + 1)
        for own in mine:
            for other in theirs:
                quarters = quarters_won(rules, other, own)
                least = unit * (stake - put + pot_share(2 * put, quarters, 1 - button))
                table = [NIL, NIL, *map(int_to_atom, (unit, stake, 0, 0, 0)), rules.value()]
                state = [to_list(table), int_to_atom(put), NIL, NIL, NIL, NIL]
                seats = to_list([int_to_atom(button)])
                for share, result in ((least, ENDS), (least - 1, NIL)):
                    given = _claim(own), _claim(other), int_to_atom(share)
                    yield (*given, to_list([*state, seats])), result


def _some_claims(rules: Showdown, cards: Sequence[int], chance: Chance) -> list[Claim]:
    """Different claims that a player with these cards can make."""
    claims = (claimed(rules, cards, _data(rules, chance)) for _ in range(8))
    return list(dict.fromkeys(filter(None, claims)))


# --- arrangements -------------------------------------------------------------------------------


def _arranged(chance: Chance, first: int) -> Cases:
    """Thirteen cards in an order, and the keys of their rows."""
    while True:
        cards = _dealt(chance, sum(ROWS))
        yield (value_list(cards),), value_list(arranged(cards).keys)


def _scored(chance: Chance, first: int) -> Cases:
    """The keys of two arrangements of a deal, in every second deal without a foul, and points."""
    while True:
        cards = chance.draw(range(CARDS), 2 * sum(ROWS))
        keys = [arranged(cards[: sum(ROWS)]).keys, arranged(cards[sum(ROWS) :]).keys]
        if chance.below(2):
            keys = [_unfouled(row) for row in keys]
        mine, theirs = map(Arrangement, keys)
        yield (value_list(keys[0]), value_list(keys[1])), int_to_atom(points(mine, theirs))


def _unfouled(keys: Sequence[int]) -> tuple[int, int, int]:
    low, middle, high = sorted(keys)
    return low, middle, high


_ROWS = Check("the keys of rows", "score", "keys_of_rows", _arranged, "thirteen cards in an order")
_POINTS = Check(
    "the points of two arrangements",
    "score",
    "points",
    _scored,
    "keys of the rows of two arrangements",
)
