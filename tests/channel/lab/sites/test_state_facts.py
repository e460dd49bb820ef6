"""Facts about the numbers of states, by which hands are remembered."""

from __future__ import annotations

from channelsim.channel.lab.sites.state_facts import EXACT, StateFacts, numbers_at
from channelsim.clsp.values import int_to_atom, to_list


def state(*numbers: int) -> list[tuple[str, int]]:
    return numbers_at(to_list([int_to_atom(number) for number in numbers]), b"\x01" * 20, 0)


def test_a_value_is_new_once() -> None:
    facts = StateFacts()
    first, _ = facts.of("move", state(3, 90), 1000, 0)
    again, _ = facts.of("move", state(3, 90), 1000, 0)
    other, _ = facts.of("move", state(4, 90), 1000, 0)
    assert first == again
    assert len(set(other) - set(first)) == 1


def test_large_numbers_differ_by_their_length_only() -> None:
    facts = StateFacts()
    first, _ = facts.of("move", state(EXACT + 40), 1000, 0)
    near, _ = facts.of("move", state(EXACT + 50), 1000, 0)
    far, _ = facts.of("move", state(8 * EXACT), 1000, 0)
    assert first == near
    assert first != far


def test_equal_numbers_neighbours_and_the_amount_are_facts() -> None:
    facts = StateFacts()
    plain, _ = facts.of("move", state(300, 500), 9000, 0)
    for numbers, amount in (((300, 300), 9000), ((300, 301), 9000), ((300, 500), 500)):
        related, _ = facts.of("move", state(*numbers), amount, 0)
        assert len(related) > len(plain)


def test_two_extremes_at_once_are_a_fact_of_their_own() -> None:
    facts = StateFacts()
    seen: set[int] = set()
    for numbers in ((5, 5, 200), (9, 5, 200), (5, 9, 200)):
        seen.update(facts.of("move", state(*numbers), 10**6, 10**5)[1])
    _, pairs = facts.of("move", state(9, 9, 200), 10**6, 10**5)
    assert set(pairs) - seen
    _, again = facts.of("move", state(9, 9, 200), 10**6, 10**5)
    assert again == pairs


def test_the_same_place_of_other_validators_is_another() -> None:
    facts = StateFacts()
    assert facts.of("one", state(3), 1000, 0) != facts.of("other", state(3), 1000, 0)
