"""Limits of bets: known sequences, and random hands as another library plays them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from pokerkit import (
    Automation,
    FixedLimitTexasHoldem,
    NoLimitTexasHoldem,
    PotLimitOmahaHoldem,
    State,
)

from channelsim.games.chance import Chance
from channelsim.games.poker.limits import Forced, Limits, Structure

NO, POT, FIXED = Structure.NO_LIMIT, Structure.POT_LIMIT, Structure.FIXED_LIMIT


def totals(limits: Limits, street: int = 0) -> tuple[int, int]:
    """The least and greatest total of the mover, without `street` chips of earlier streets."""
    allowed = [x for x in range(limits.left + 1) if limits.allows(x)]
    return limits.put + allowed[0] - street, limits.put + allowed[-1] - street


@pytest.mark.parametrize(
    ("limits", "expected", "street"),
    [
        # Pot limit 1/2: after the blinds, after 6, after 18; on the flop, and after a bet of 10.
        (Limits(POT, 3, 998, 2, 2), (4, 6), 0),
        (Limits(POT, 3, 994, 6, 2, last=4), (10, 18), 0),
        (Limits(POT, 3, 982, 18, 2, last=12), (30, 54), 0),
        (Limits(POT, 3, 982, 18, 2), (2, 36), 18),
        (Limits(POT, 3, 972, 28, 2, last=10), (20, 66), 18),
        # No limit 1/2 with 100 chips: after the blinds, after 7, after 12.
        (Limits(NO, 3, 98, 2, 2), (4, 100), 0),
        (Limits(NO, 3, 93, 7, 2, last=5), (12, 100), 0),
        (Limits(NO, 3, 88, 12, 2, last=5), (17, 100), 0),
        (Limits(NO, 3, 3, 6, 2, last=4), (9, 9), 0),  # short, with 9 chips
        # Fixed limit 2/4: before the flop, and with a bring-in of 1 at 4/8.
        (Limits(FIXED, 3, 98, 2, 2, raises=1), (4, 4), 0),
        (Limits(FIXED, 3, 92, 8, 2, last=2, raises=3), (10, 10), 0),
        (Limits(FIXED, 3, 99, 0, 4, forced=Forced.BRING_IN, bring_in=1), (1, 4), 0),
        (Limits(FIXED, 3, 98, 1, 4, forced=Forced.BROUGHT_IN, bring_in=1), (4, 4), 0),
        (Limits(FIXED, 3, 95, 4, 4, last=4, raises=1), (8, 8), 0),
        (Limits(FIXED, 3, 99, 0, 4, forced=Forced.OPENING), (4, 4), 0),
    ],
)
def test_known_limits(limits: Limits, expected: tuple[int, int], street: int) -> None:
    assert totals(limits, street) == expected


def test_fixed_limit_has_a_cap() -> None:
    allowed = [Limits(FIXED, 3, 90, 8, 2, raises=number).allows(2) for number in range(6)]
    assert allowed == [True, True, True, True, False, False]


def test_nobody_raises_an_opponent_that_is_all_in() -> None:
    for structure in Structure:
        limits = Limits(structure, 3, left=0, put=100, size=2)
        assert not any(limits.allows(x) for x in range(-2, 10))


def test_a_bring_in_is_posted_or_completed() -> None:
    due = Limits(NO, 3, 99, 0, 4, forced=Forced.BRING_IN, bring_in=1)
    assert [x for x in range(7) if due.allows(x)] == [1, 4, 5, 6]
    pot = Limits(POT, 3, 99, 0, 4, forced=Forced.BRING_IN, bring_in=1)
    assert [x for x in range(7) if pot.allows(x)] == [1, 4]


@dataclass
class Betting:
    """A hand of Hold'em by our limits: what both have put in, by seat (the button is 1)."""

    structure: Structure
    stake: int
    put: list[int] = field(default_factory=lambda: [2, 1])
    last: int = 0
    raises: int = 1
    street: int = 0

    def limits(self, mover: int) -> Limits:
        waiter = 1 - mover
        size = 4 if self.structure is FIXED and self.street > 1 else 2
        put, left = self.put[waiter], self.stake - self.put[waiter]
        return Limits(self.structure, 3, left, put, size, self.last, self.raises)


AUTOMATIONS = tuple(one for one in Automation)


def library_state(structure: Structure, stake: int) -> State:
    if structure is NO:
        return NoLimitTexasHoldem.create_state(AUTOMATIONS, True, 0, (1, 2), 2, stake, 2)
    if structure is POT:
        return PotLimitOmahaHoldem.create_state(AUTOMATIONS, True, 0, (1, 2), 2, stake, 2)
    return FixedLimitTexasHoldem.create_state(AUTOMATIONS, True, 0, (1, 2), 2, 4, stake, 2)


@pytest.mark.parametrize("structure", Structure)
def test_random_hands_have_the_limits_of_another_library(structure: Structure) -> None:
    chance = Chance(structure.name.encode())
    compared = 0
    for _ in range(12):
        stake = 3 + chance.below(80)
        theirs, ours = library_state(structure, stake), Betting(structure, stake)
        while theirs.status and theirs.actor_index is not None:
            if theirs.street_index != ours.street:
                ours.street, ours.last, ours.raises = theirs.street_index or 0, 0, 0
            mover = theirs.actor_index
            limits = ours.limits(mover)
            allowed = [x for x in range(limits.left + 1) if limits.allows(x)]
            before = stake - theirs.stacks[mover] - theirs.bets[mover]
            # Its fixed limit counts no blind as a bet: see our cap of one raise less there.
            if theirs.can_complete_bet_or_raise_to() and allowed:
                low = theirs.min_completion_betting_or_raising_to_amount
                high = theirs.max_completion_betting_or_raising_to_amount
                assert low is not None
                assert high is not None
                assert (limits.put + allowed[0], limits.put + allowed[-1]) == (
                    before + low,
                    before + high,
                )
                compared += 1
            elif structure is not FIXED:
                assert not allowed
                assert not theirs.can_complete_bet_or_raise_to()
            if allowed and theirs.can_complete_bet_or_raise_to() and chance.below(3):
                x = chance.pick((allowed[0], allowed[-1], chance.pick(allowed)))
                ours.put[mover] = limits.put + x
                ours.last, ours.raises = x, ours.raises + 1
                theirs.complete_bet_or_raise_to(ours.put[mover] - before)
            else:
                ours.put[mover] = ours.put[1 - mover]
                theirs.check_or_call()
    assert compared > 20
