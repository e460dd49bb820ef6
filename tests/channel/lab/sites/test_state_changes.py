"""Changes of states: each is within the form, and changes each part of it; patterns of cards."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from channelsim.channel.lab.crosscheck.chunks import trials
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.state_changes import (
    REGULAR,
    changed,
    disturbed,
    patterned,
    progression,
)
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.values import Value, atom_to_int, from_list
from channelsim.games import registry
from channelsim.games.errors import BadState
from channelsim.games.forms import (
    Atom,
    ByteIn,
    Form,
    HashOf,
    Integer,
    ListOf,
    Opaque,
    Optional,
    Pair,
    reader,
    writer,
)
from tests.menu import each_program

HASHES = {"next": b"h" * 32}
NEAR = (-1, 5, 300, 1 << 70)

CHANGES: dict[str, tuple[Form, Any, set[Any]]] = {
    "bytes": (Atom(1), b"\0", {bytes([1 << bit]) for bit in range(8)}),
    "no byte": (Atom(0), b"", {b""}),
    "a number becomes a bound, or one of those near": (Integer(0, 300), 7, {0, 5, 300}),
    "a byte": (ByteIn(frozenset({3, 5}), "odd"), 3, {3, 5}),
    "the hash of a program stays": (HashOf("next"), HASHES["next"], {HASHES["next"]}),
    "one side of a pair": (
        *(Pair(Integer(0, 1), Integer(0, 1)), (0, 0)),
        {(0, 0), (1, 0), (0, 1)},
    ),
    "bytes that are there": (Optional(Atom(2)), b"ab", {b""}),
    "an item, more or fewer of them": (
        *(ListOf(Integer(1, 2), 3), (1, 1)),
        {(1,), (1, 1), (1, 2), (2, 1), (1, 1, 1), (2, 1, 1), (1, 2, 1)},
    ),
    "never too few or too many": (
        *(ListOf(Integer(1, 2), 2, 2), (1, 1)),
        {(1, 1), (1, 2), (2, 1)},
    ),
    "no item": (ListOf(Integer(1, 2), 2), (), {()}),
    "a shape written by hand": (Opaque(bytes, lambda value, name: value), b"a", {b"\xff", b"\5"}),
}


@pytest.mark.parametrize("case", CHANGES)
def test_every_form_is_changed(case: str) -> None:
    form, value, expected = CHANGES[case]
    chance = FastChance(case.encode())
    found = {changed(form, value, NEAR[:3], chance) for _ in range(300)}
    assert found >= expected
    if case not in ("a shape written by hand",):
        assert found == expected
    for other in found:
        assert reader(form)(writer(form)(other), "field", HASHES) == other


def test_missing_bytes_come_back() -> None:
    assert len(changed(Optional(Atom(2)), b"", NEAR, FastChance(b"1"))) == 2


@each_program
def test_the_reader_takes_nearly_every_changed_state(game: str) -> None:
    """All, but for fields that do not fit each other, and lists that lost their order."""
    target = of_game(registry.get(game))
    chance, made, refused = FastChance(b"states"), Counter[str](), Counter[str]()
    fields: dict[str, set[str]] = defaultdict(set)
    filled: dict[str, set[str]] = defaultdict(set)
    for trial in trials(target, "states", 1, 2000):
        site = trial.site
        validator = target.game.validators[site.validator]
        state: Any = site.before.state
        names = type(state).__struct_fields__
        # An empty list stays empty.
        filled[site.validator] |= {name for name in names if getattr(state, name) != ()}
        for _ in range(20):
            other = changed(validator.form, state, NEAR, chance)
            made[site.validator] += 1
            try:
                assert validator.read_state(other.value(), target.hashes) == other
            except BadState:
                refused[site.validator] += 1
            fields[site.validator] |= {n for n in names if getattr(other, n) != getattr(state, n)}
    checked = {"d", "e"} if game == "calpoker" else set()
    assert set(refused) <= checked
    assert all(refused[name] < made[name] / 2 for name in refused)
    for name in made:
        assert fields[name] == filled[name] - {"mid_round_hash", "mid_hash"}


def test_a_disturbed_place_is_no_place_of_a_hand() -> None:
    target = of_game(registry.get("spacepoker"))
    chance, amounts, states = FastChance(b"1"), 0, 0
    for trial in trials(target, "states", 1, 3000, beyond=False):
        site = trial.site
        other = disturbed(target, site, chance)
        assert other is not None
        assert not other.natural
        assert other.base is not None
        amounts += other.amount != site.amount
        states += other.state != site.state
    assert states > amounts > 0


def cards(value: Value) -> list[int]:
    return [atom_to_int(atom) for atom in from_list(value) if isinstance(atom, bytes)]


def test_rows_and_gaps() -> None:
    assert progression(4, 50, 1, 52, set()) == [50, 51, 0, 1]
    assert progression(3, 0, 4, 52, {4}) == [0, 5, 9]
    assert len(set(progression(52, 7, 13, 52, set()))) == 52


def test_regular_masks() -> None:
    assert {0x0F, 0xF0, 0x55, 0xAA} <= set(REGULAR)
    assert 0x4D not in REGULAR


def test_states_with_cards_get_patterns_and_others_none() -> None:
    target = of_game(registry.get("calpoker"))
    dice, flushes, made = FastChance(b"1"), 0, 0
    for trial in trials(target, "patterns", 1, 800):
        other = patterned(target, trial.site, dice)
        assert (other is not None) == (trial.site.validator in "de")
        if other is None:
            continue
        made += 1
        assert not other.natural
        hands = [cards(part) for part in from_list(other.state) if isinstance(part, tuple)]
        assert len({card for hand in hands for card in hand}) == 16
        assert all(hand == sorted(hand) for hand in hands)
        flushes += any(
            sum(card % 4 == suit for card in hand) >= 7 for hand in hands for suit in range(4)
        )
    assert flushes > made / 20 > 0  # by chance, one in two thousand


def test_a_state_without_lists_has_no_pattern() -> None:
    target = of_game(registry.get("spacepoker"))
    sites = [trial.site for trial in trials(target, "patterns", 1, 100)]
    assert {patterned(target, site, FastChance(b"1")) for site in sites} == {None}
