"""Spends with a deadline in crowded blocks: the stated maximum suffices, half of it does not."""

from __future__ import annotations

from itertools import cycle

import pytest

from scripts.tools.bench.crowded_spends import (
    PINS,
    SPENDS,
    Trial,
    bound_of,
    cost_of_spend,
    rows,
    run_trial,
)
from tests.sampling import one_in, one_row_in

RATE, SEED = 10, "crowded"


# The long test has every pin for each spend.
@pytest.mark.parametrize(("spend", "pin"), one_row_in(6, zip(SPENDS, cycle((PINS[0], PINS[-1])))))
def test_the_stated_maximum_suffices_and_half_of_it_does_not(spend: str, pin: int) -> None:
    bound = bound_of(cost_of_spend(spend, SEED, RATE), pin, RATE)
    half, whole = (
        run_trial(Trial(spend, pin, most, mempool=False), SEED, RATE)
        for most in (bound // 2, bound)
    )
    assert half.blocks is None
    assert whole.blocks is not None
    assert 0 < whole.fee <= bound
    assert (half.pins, whole.pins) == ((1, 1) if pin else (0, 0))


@pytest.mark.parametrize("spend", one_in(6, SPENDS))
def test_a_full_mempool_evicts_pins_and_is_paid_at_its_rate(spend: str) -> None:
    cost = cost_of_spend(spend, SEED, RATE)
    bound = bound_of(cost, PINS[-1], RATE)
    outcome = run_trial(Trial(spend, PINS[-1], bound, mempool=True), SEED, RATE)
    assert outcome.blocks is not None
    assert RATE * cost < outcome.fee < bound // 10


@pytest.mark.long
def test_every_row_is_as_promised() -> None:
    table = list(rows(SEED, RATE))
    assert len(table) == 2 * len(SPENDS) * len(PINS)
    assert all(row.as_promised for row in table)
