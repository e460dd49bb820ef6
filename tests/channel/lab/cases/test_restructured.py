"""Evidence in another structure: every kind of change comes, and each keeps to its kind."""

from __future__ import annotations

from channelsim.channel.lab.cases.mutator import restructured
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.clsp.values import NIL, Value, to_list

PROOF: list[Value] = [b"a", b"b", (b"c", b"d")]


def items_of(value: Value) -> tuple[list[Value], Value]:
    items = []
    while isinstance(value, tuple):
        items.append(value[0])
        value = value[1]
    return items, value


def made(value: Value, count: int) -> set[Value]:
    chance = FastChance(b"structure")
    return {restructured(value, (b"w",), chance) for _ in range(count)}


def test_a_list_is_changed_in_every_way() -> None:
    values = made(to_list(PROOF), 600)
    a, b, pair = PROOF
    for items in (
        *([*PROOF, b"w"], [*PROOF, a], [b"w", *PROOF]),
        *([b, pair], [a, pair], [a, b], [a, a, b, pair], [a, b, pair, pair]),
        *([pair, b, a], [b, a, pair], [a, pair, b]),
    ):
        assert to_list(items) in values, items
    ends = {end for value in values for _, end in (items_of(value),) if isinstance(value, tuple)}
    assert ends >= {NIL, b"w", a}
    assert (a, (b, pair)) in values  # the last item is the end
    inside = {items_of(value)[0][2] for value in values if len(items_of(value)[0]) == 3}
    assert len(inside - {a, b, pair, b"w"}) > 3  # an item, changed in the same ways


def test_an_atom_becomes_a_list_or_a_pair() -> None:
    assert made(b"a", 50) == {
        *((b"a", NIL), (b"a", b"a"), (b"a", (b"a", NIL)), (b"a", b"w")),
    }
    assert (NIL, NIL) in made(NIL, 50)


def test_bytes_pass_from_an_atom_to_the_next_one() -> None:
    values = made(to_list([b"abc", b"de"]), 900)
    for at in range(6):
        assert to_list([b"abcde"[:at], b"abcde"[at:]]) in values
