"""The choices of `FastChance` are the same on every machine and in every version of Python."""

from __future__ import annotations

import pickle
from collections import Counter

from channelsim.channel.lab.sites.fast_chance import FastChance


def test_known_answers() -> None:
    chance = FastChance(b"known answers")
    assert [chance.below(1000) for _ in range(6)] == [85, 80, 772, 824, 741, 438]
    assert chance.bytes(9).hex() == "a6a50584f7f1f22fb4"
    assert [chance.below(256) for _ in range(4)] == [124, 215, 61, 255]
    assert chance.shuffled(range(10)) == [1, 6, 4, 3, 5, 2, 8, 0, 7, 9]
    assert chance.pick("abcdef") == "f"
    assert chance.between(-5, 5) == -2
    assert chance.below(10**30) == 98425120386717915308895046128
    assert chance.random() == 0.2252997591423055


def test_choices_stay_within_their_bounds() -> None:
    chance = FastChance(b"bounds")
    assert {chance.below(3) for _ in range(200)} == {0, 1, 2}
    assert {chance.between(-1, 1) for _ in range(200)} == {-1, 0, 1}
    assert {len(chance.bytes(length)) == length for length in range(70)} == {True}
    assert all(0 <= chance.below(2**40) < 2**40 for _ in range(200))
    assert sorted(chance.shuffled(range(50))) == list(range(50))


def test_every_order_is_about_as_frequent() -> None:
    chance = FastChance(b"orders")
    orders = Counter(tuple(chance.shuffled("abc")) for _ in range(6000))
    assert len(orders) == 6
    assert all(850 < times < 1150 for times in orders.values())


def test_a_copy_goes_on_alike() -> None:
    chance = FastChance(b"copy")
    chance.random()
    copy = pickle.loads(pickle.dumps(chance))
    assert copy.bytes(20) == chance.bytes(20)
