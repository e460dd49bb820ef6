"""Single changes of the engine: each is found, planted in a process of its own, and judged."""

from __future__ import annotations

from multiprocessing import get_context

import pytest

from channelsim.channel.attack.actions import Action, Attack
from channelsim.channel.peer.fees import fee_state
from scripts.tools.engine_mutants.__main__ import all_mutants, summary
from scripts.tools.engine_mutants.changes import Mutant, mutants_of
from scripts.tools.engine_mutants.trials import RightSession, Trial, right_session, trial

FEES = fee_state.__name__
GAME = Attack(("calpoker",), "mutants", (Action("go-on-chain", 0, 20),))


def changes(module: str, function: str) -> list[str]:
    return [one.change for one in mutants_of(module) if one.function == function]


def test_a_function_has_a_change_for_each_operator_number_and_condition() -> None:
    assert changes(FEES, "risen") == [
        "the condition negated",
        "`and` and `or` swapped",
        "Lt for LtE",
        "Lt for LtE",
        "1 for 0",
        "2 for 1",
        "`-` for `+`",
    ]


def planted(mutant: Mutant) -> bool:
    mutant.plant(lambda: None)
    return True


@pytest.mark.long
def test_all_changes_can_be_planted() -> None:
    mutants = [*all_mutants()]
    assert len(mutants) > 3000
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        assert all(pool.map(planted, mutants[::97], 1))


def tried(mutant: Mutant) -> Trial:
    return trial(mutant, RIGHT, 1)


RIGHT: list[RightSession] = []


@pytest.mark.parametrize(
    ("module", "function", "change", "noticed"),
    [
        ("channelsim.channel.peer.play.next_step", "needs_potato", "the condition negated", True),
        ("channelsim.channel.session.identity", "make_config", "1 for 0", False),
    ],
)
def test_a_change_is_noticed_or_is_not(
    module: str, function: str, change: str, noticed: bool
) -> None:
    RIGHT[:] = [right_session(GAME)]
    assert not RIGHT[0].is_broken
    (mutant, *_) = [
        one for one in mutants_of(module) if (one.function, one.change) == (function, change)
    ]
    with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        (result,) = pool.map(tried, [mutant])
    assert (result.tried, result.reached) == (1, 1)
    assert bool(result.noticed) is noticed
    assert result.noticed or result.different


def test_the_sums_leave_out_what_changes_no_session() -> None:
    mutant = next(mutants_of(FEES))
    trials = [
        Trial(mutant, 9, 9, 0, ""),
        Trial(mutant, 9, 9, 3, ""),
        *[Trial(mutant, 2, 2, 1, "work: too much")] * 3,
    ]
    assert summary(trials) == (
        "5 mutants: 1 change no session, and of the other 4, 3 are noticed (75 %)"
    )
