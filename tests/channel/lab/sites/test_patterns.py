"""Cards in patterns: states that the rules take, with what chance hardly ever deals."""

from __future__ import annotations

from channelsim.channel.lab.crosscheck.chunks import trials
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.patterns import REGULAR, patterned, progression
from channelsim.channel.lab.targets.target import of_game
from channelsim.clsp.integers import atom_to_int
from channelsim.clsp.values import Value, from_list
from channelsim.games import registry


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
