"""The law of validators: nothing raises before the evidence is looked at.

A raise makes the slash fail, and so protects whoever made the illegal move. Here states that
honest play reaches meet moves and shares of every kind.
"""

from collections import defaultdict
from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.run import ProgramSlash, ProgramValid, Raised
from channelsim.clsp.values import NIL, Value
from tests.clsp.helpers import SPACE_POKER, Step, honest_play
from tests.sampling import examples

GOOD_EVIDENCE = b"\x1f"


@cache
def honest_steps() -> dict[str, list[Step]]:
    steps = defaultdict(list)
    for seed in range(40):
        for step in honest_play(Random(seed)):
            steps[step.validator].append(step)
    return steps


@st.composite
def bad_move(draw: st.DrawFn, honest: bytes) -> bytes:
    """A move of any length; often one that goes wrong late, after agreeing with the rules."""
    match draw(st.integers(0, 4)):
        case 0:
            return draw(st.binary(max_size=80))
        case 1:
            return honest[: draw(st.integers(0, len(honest)))]
        case 2:
            return honest + draw(st.binary(max_size=12))
        case 3:
            return honest[:32] + draw(st.binary(max_size=12))
        case _:
            at = draw(st.integers(0, len(honest) - 1))
            return honest[:at] + draw(st.binary(min_size=1, max_size=1)) + honest[at + 1 :]


shares = st.none() | st.binary(max_size=10)
evidences: st.SearchStrategy[Value] = st.recursive(
    st.binary(max_size=40), lambda values: st.tuples(values, values), max_leaves=6
)


@pytest.mark.parametrize("name", SPACE_POKER)
@examples(1)
@given(data=st.data())
def test_no_move_and_no_share_makes_a_validator_raise(name: str, data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(honest_steps()[name]))
    move = data.draw(bad_move(step.move))
    share = data.draw(shares)
    outcome = step.judge(move=move, share=share, evidence=GOOD_EVIDENCE)
    assert isinstance(outcome, ProgramValid | ProgramSlash)


@pytest.mark.parametrize("name", [name for name in SPACE_POKER if name != "end"])
@examples(1)
@given(data=st.data())
def test_where_no_rule_needs_evidence_none_changes_anything(name: str, data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(honest_steps()[name]))
    move = data.draw(st.just(step.move) | bad_move(step.move))
    share = data.draw(shares)
    without = step.judge(move=move, share=share)
    assert step.judge(move=move, share=share, evidence=data.draw(evidences)) == without


@examples(1)
@given(data=st.data())
def test_a_fault_of_the_reveal_itself_is_slashed_by_any_evidence(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(honest_steps()["end"]))
    move = data.draw(bad_move(step.move))
    is_legal = (
        len(move) == 17
        and move[:16] == step.move[:16]
        and move[16] < 0x80
        and move[16].bit_count() == 5
    )
    outcome = step.judge(move=move, evidence=data.draw(evidences | st.just(NIL)))
    if not is_legal:
        assert isinstance(outcome, ProgramSlash)


@examples(1)
@given(data=st.data())
def test_bad_evidence_raises_against_a_reveal_that_is_well_formed(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(honest_steps()["end"]))
    evidence = data.draw(evidences)
    share = data.draw(shares)
    is_good = (
        isinstance(evidence, bytes)
        and len(evidence) == 1
        and evidence[0] < 0x80
        and evidence[0].bit_count() == 5
    )
    assert isinstance(step.judge(share=share, evidence=evidence), Raised) == (not is_good)


def test_every_honest_move_is_legal_whatever_the_evidence() -> None:
    for name, steps in honest_steps().items():
        for step in steps:
            evidence = GOOD_EVIDENCE if name == "end" else NIL
            assert isinstance(step.judge(evidence=evidence), ProgramValid), step
