"""The groups: what is a point, and arithmetic in both."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import replace

import pytest
from chia_rs import G1Element, PrivateKey

from channelsim.games.chance import Chance
from channelsim.games.deck import group as deck_group
from channelsim.games.deck import shuffle_proof
from channelsim.games.deck.faults import DeckFault
from channelsim.games.deck.group import G1, Group
from channelsim.games.deck.secrets import draw_secrets
from channelsim.games.deck.terms import DeckTerms, card_points
from tests.games.deck.toy_group import ToyGroup

GROUPS = [G1(), ToyGroup()]
each_group = pytest.mark.parametrize("group", GROUPS, ids=["G1", "toy"])


@each_group
@pytest.mark.parametrize("base", [False, True])
def test_multiplication_is_repeated_addition(group: Group, base: bool) -> None:
    point = group.base if base else group.map(b"a point")
    one, two, three, five, none = group.multiply([(k, point) for k in (1, 2, 3, 5, 0)])
    assert one == point
    assert group.subtract([(five, two), (three, one), (point, point)]) == [three, two, none]
    assert group.multiply([(group.order, point), (group.order - 1, point)]) == [
        none,
        group.subtract([(none, point)])[0],
    ]


@each_group
def test_points_are_checked(group: Group) -> None:
    point = group.map(b"a point")
    (neutral,) = group.multiply([(0, point)])
    assert group.is_point(point)
    assert group.is_point(group.base)
    for wrong in (neutral, b"", point[1:], point + b"\0", bytes(group.point_size)):
        assert not group.is_point(wrong)
    assert not group.is_point(b"\xff" * group.point_size)


def test_points_of_g1_are_those_of_the_library() -> None:
    group = G1()
    key = PrivateKey.from_bytes(bytes(31) + b"\x07")
    generator = bytes(G1Element.generator())
    assert group.multiply([(7, generator)]) == [bytes(key.get_g1())]
    # A point of the curve that is not in the subgroup.
    assert not group.is_point(bytes.fromhex("80" + "00" * 46 + "04"))


def test_half_of_all_numbers_are_points_of_the_toy_group() -> None:
    group = ToyGroup()
    assert sum(group.is_point(number.to_bytes(8, "big")) for number in range(2, 2002)) in range(
        900, 1100
    )


@pytest.fixture(autouse=True)
def without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests in this process may remember products."""
    monkeypatch.setattr(deck_group, "_memory", ContextVar("products", default=None))


def test_products_that_are_remembered_are_those_that_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    g1, order = G1(), G1.order
    first, second = (g1.map(bytes([number])) for number in (1, 2))
    runs: list[int] = []
    right = deck_group._evaluate  # noqa: SLF001

    def counted(calls: Sequence[bytes]) -> list[bytes]:
        runs.append(len(calls))
        return right(calls)

    monkeypatch.setattr(deck_group, "_evaluate", counted)
    products = [(3, first), (5, second), (order - 1, first), (0, second), (7, g1.base)]
    plain = g1.multiply(products)
    with deck_group.remembered(), deck_group.remembered():
        runs.clear()
        assert g1.multiply(products) == plain
        assert g1.multiply([*products, (15, first), (8, second)])[:5] == plain
        assert sum(runs) == 4 + 2
        # Both orders of two factors are one product, as in the two answers to a shuffle's round.
        assert g1.multiply([(5, plain[0]), (3, first)]) == [*g1.multiply([(15, first)]), plain[0]]
        assert g1.multiply([(8, plain[3])]) == [plain[3]]
        assert sum(runs) == 4 + 2
        runs.clear()
    assert g1.multiply([(5, plain[0])]) == g1.multiply([(15, first)])
    assert sum(runs) == 2


def test_names_of_products_are_equal_where_the_products_are() -> None:
    g1 = G1()
    first, second = (g1.map(bytes([number])) for number in (1, 2))
    products = [(15, first), (15, second), (14, first)]
    toy = ToyGroup()
    with deck_group.named_in_proofs():  # without a memory, points are hashed
        assert deck_group.multiplied_to_hash(g1, products) == g1.multiply(products)
        with deck_group.remembered():  # so are those of another group
            doubled = [(2, toy.base)]
            assert deck_group.multiplied_to_hash(toy, doubled) == toy.multiply(doubled)
    with deck_group.remembered(), deck_group.named_in_proofs():
        (three,) = g1.multiply([(3, first)])
        names = deck_group.multiplied_to_hash(g1, products)
        assert len({*names}) == 3
        assert deck_group.multiplied_to_hash(g1, [(5, three)]) == names[:1]
        assert not {*names} & {*g1.multiply(products)}
    with deck_group.remembered():
        assert deck_group.multiplied_to_hash(g1, products) == g1.multiply(products)


@pytest.mark.parametrize("changes", [False, True])
def test_a_proof_of_names_holds_for_a_true_shuffle_alone(changes: bool) -> None:
    g1, terms = G1(), DeckTerms(bytes(32), 1, 2, 8)
    secrets = draw_secrets(g1, terms, Chance(b"names").bytes)
    source = card_points(g1, bytes(32))
    with deck_group.remembered(), deck_group.named_in_proofs():
        shuffle, _ = shuffle_proof.shuffle(g1, bytes(32), b"A", source, secrets)
        if changes:
            marked = g1.multiply([(2, shuffle.result[0])])
            shuffle = replace(shuffle, result=(*marked, *shuffle.result[1:]))
        hashes = shuffle_proof.round_hashes(shuffle, secrets.round_seeds)
        given = shuffle_proof.answers(
            shuffle, b"\x5a", secrets.round_seeds, secrets.mask, secrets.permutation
        )
        with pytest.raises(DeckFault, match="PD-5") if changes else nullcontext():
            shuffle_proof.verify(shuffle, hashes, b"\x5a", given)
    # Outside, points are hashed: the proof is wrong there.
    with pytest.raises(DeckFault, match="PD-5"):
        shuffle_proof.verify(shuffle, hashes, b"\x5a", given)


def test_products_by_a_table_are_those_of_the_interpreter() -> None:
    g1 = G1()
    point = g1.map(b"a point")
    scalars = [0, 1, 15, 16, 255, g1.order - 1, g1.order, *(3**n for n in range(8, 150, 20))]
    alone = [g1.multiply([(scalar, point)])[0] for scalar in scalars]
    assert len(scalars) >= deck_group.OFTEN
    assert g1.multiply([(scalar, point) for scalar in scalars]) == alone
    with pytest.raises(ValueError):
        g1.multiply([(scalar, b"\x80" + bytes(47)) for scalar in scalars])
