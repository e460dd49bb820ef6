"""The Chialisp libraries of poker against the Python rules."""

from __future__ import annotations

import pytest

from channelsim.clsp.run import ProgramSlash, ProgramValid, run
from channelsim.clsp.values import Value, int_to_atom, to_list
from channelsim.games.chance import Chance
from channelsim.games.deck.group import G1
from channelsim.games.deck.secrets import encode_scalars
from channelsim.games.poker.limits import Forced, Limits, Structure
from channelsim.games.poker.ranking import (
    ACE_TO_FIVE,
    ACE_TO_SIX,
    DEUCE_TO_SEVEN,
    HIGH,
    Ranking,
)
from tests.clsp.test_libraries import compiled, numbers
from tests.games.poker.test_ranking import kinds

RANKINGS = (HIGH, DEUCE_TO_SEVEN, ACE_TO_SIX, ACE_TO_FIVE)
"""By their numbers in Chialisp."""

each_ranking = pytest.mark.parametrize("ranking", RANKINGS, ids=lambda one: one.name)


def keys(ranking: Ranking, whole: bool, hands: list[tuple[int, ...]]) -> list[int]:
    """The keys by the program. A card is a raw byte, as an opening claims it."""
    listed = to_list(to_list(bytes((card,)) for card in hand) for hand in hands)
    number = int_to_atom(RANKINGS.index(ranking))
    outcome = run(compiled("poker_keys"), to_list([number, int_to_atom(whole), listed]))
    assert isinstance(outcome, ProgramValid)
    return numbers(outcome.value)


@each_ranking
def test_every_kind_of_hand_has_the_key_of_the_rules(ranking: Ranking) -> None:
    hands = [cards for cards, _ in kinds()]
    for start in (0, 1):
        part = hands[start::6]
        assert keys(ranking, True, part) == [ranking.key(cards) for cards in part]


@pytest.mark.parametrize("ranking", [HIGH, ACE_TO_FIVE], ids=lambda one: one.name)
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_boards_and_rows_have_the_key_of_the_rules(ranking: Ranking, size: int) -> None:
    hands = [cards for cards, _ in kinds(size)]
    assert keys(ranking, False, hands) == [ranking.key(cards) for cards in hands]


GROUP = G1()
DECK_ID = bytes(range(32))
MINE, THEIRS, CARD = 0x1234567 << 200, 0x7654321 << 190, 37


def judged(scalar: bytes, card: bytes = b"", point: bytes = b"", deck_id: bytes = DECK_ID) -> bool:
    """True if the program accepts an opening; it must not raise."""
    (key,) = GROUP.multiply([(MINE, GROUP.base)])
    arguments: list[Value] = [scalar, key, card, deck_id, point, encode_scalars([THEIRS])]
    outcome = run(compiled("openings"), to_list(arguments))
    assert isinstance(outcome, ProgramValid | ProgramSlash), outcome
    return isinstance(outcome, ProgramValid)


def test_the_scalar_of_a_lock_opens_it() -> None:
    assert judged(encode_scalars([MINE]))


@pytest.mark.parametrize(
    "scalar",
    [
        encode_scalars([THEIRS]),
        encode_scalars([MINE + GROUP.order]),
        encode_scalars([GROUP.order - MINE]),
        (MINE - GROUP.order).to_bytes(32, "big", signed=True),
        bytes(32),
        b"\xff" * 32,
    ],
)
def test_nothing_else_opens_it(scalar: bytes) -> None:
    """Lengths are the caller's affair: it checks that of the whole move."""
    assert not judged(scalar)


def point_of(card: int) -> bytes:
    product = MINE * THEIRS % GROUP.order
    return GROUP.multiply([(product, GROUP.map(DECK_ID + bytes((card,))))])[0]


@pytest.mark.parametrize("card", [0, 1, CARD, 51])
def test_the_card_behind_both_locks_is_accepted(card: int) -> None:
    assert judged(encode_scalars([MINE]), bytes((card,)), point_of(card))


@pytest.mark.parametrize("card", [b"\x24", b"\x34", b"\x7f", b"\x80", b"\xff"])
def test_another_card_is_not(card: bytes) -> None:
    assert not judged(encode_scalars([MINE]), card, point_of(CARD))


def test_a_card_of_another_deck_is_not_accepted() -> None:
    assert not judged(encode_scalars([MINE]), bytes((CARD,)), point_of(CARD), bytes(32))


@pytest.mark.parametrize("card", [52, 127])
def test_there_is_no_card_beyond_the_pack(card: int) -> None:
    """Not even if a dishonest deck had one."""
    assert not judged(encode_scalars([MINE]), bytes((card,)), point_of(card))


def test_the_limits_are_those_of_the_rules() -> None:
    chance = Chance(b"limits")
    seen = set()
    for _ in range(300):
        size = 2 + chance.below(6)
        limits = Limits(
            structure=chance.pick(tuple(Structure)),
            cap=chance.below(4),
            left=chance.below(30),
            put=chance.below(25),
            size=size,
            last=chance.below(12),
            raises=chance.below(5),
            forced=chance.pick(tuple(Forced)),
            bring_in=1 + chance.below(size - 1),
        )
        raises = range(-2, 34)
        fields = [getattr(limits, name) for name in limits.__dataclass_fields__]
        arguments = [*map(int_to_atom, fields), to_list(map(int_to_atom, raises))]
        outcome = run(compiled("poker_limits"), to_list(arguments))
        assert isinstance(outcome, ProgramValid)
        legal = [bool(one) for one in numbers(outcome.value)]
        assert legal == [limits.allows(x) for x in raises], limits
        seen.add((limits.structure, limits.forced, any(legal)))
    assert len(seen) > 15
