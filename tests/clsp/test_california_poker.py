"""California Poker's programs: the law of validators, and the vectors, without a model."""

from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channelsim.clsp.programs import load
from channelsim.clsp.run import Outcome, ProgramSlash, ProgramValid, Raised, run
from channelsim.clsp.values import NIL, Value, from_list, int_to_atom, to_list
from tests.clsp.helpers import curried_args, validator_args
from tests.clsp.test_interpreter import assert_agreed
from tests.sampling import examples

NAMES = ("a", "b", "c", "d", "e")
FIVE, FOUR = ([bytes([mask]) for mask in range(256) if mask.bit_count() == bits] for bits in (5, 4))


@dataclass(frozen=True)
class Step:
    """One honest move, but for the share, which is generous enough for any reveal."""

    validator: str
    amount: int
    state: Value
    move: bytes

    def judge(
        self, *, move: bytes | None = None, share: bytes | None = None, evidence: Value = NIL
    ) -> Outcome:
        """Run the validator, with another move or share if given."""
        program = load(f"calpoker/{self.validator}")
        curried = curried_args(
            amount=self.amount,
            move=self.move if move is None else move,
            share=int_to_atom(self.amount) if share is None else share,
        )
        return run(program, validator_args(program, curried, self.state, evidence))


@cache
def honest_steps() -> dict[str, list[Step]]:
    """The moves of forty hands, each state being what the validator before returned."""
    steps = defaultdict(list)
    for seed in range(40):
        random = Random(seed)
        preimage, salt = random.randbytes(16), random.randbytes(16)
        discards = random.choice(FOUR)
        moves = (
            sha256(preimage).digest(),
            random.randbytes(16),
            preimage + sha256(salt + discards).digest(),
            random.choice(FOUR),
            salt + discards + random.choice(FIVE),
        )
        state: Value = NIL
        for name, move in zip(NAMES, moves, strict=True):
            step = Step(name, 2 * random.randint(1, 10**6), state, move)
            steps[name].append(step)
            outcome = step.judge(evidence=FIVE[0])
            assert isinstance(outcome, ProgramValid)
            if name == "e":
                assert outcome.value == to_list([NIL] * 3)
            else:
                following, state, _ = from_list(outcome.value)
                assert following == load(f"calpoker/{NAMES[NAMES.index(name) + 1]}").hash
    return steps


@st.composite
def bad_move(draw: st.DrawFn, honest: bytes) -> bytes:
    """A move of any length; often one that goes wrong late, after agreeing with the rules."""
    match draw(st.integers(0, 3)):
        case 0:
            return draw(st.binary(max_size=60))
        case 1:
            return honest[: draw(st.integers(0, len(honest)))]
        case 2:
            return honest + draw(st.binary(max_size=12))
        case _:
            at = draw(st.integers(0, len(honest) - 1))
            return honest[:at] + draw(st.binary(min_size=1, max_size=1)) + honest[at + 1 :]


shares = st.none() | st.binary(max_size=10)
evidences: st.SearchStrategy[Value] = st.sampled_from(FIVE) | st.recursive(
    st.binary(max_size=40), lambda values: st.tuples(values, values), max_leaves=6
)


@pytest.mark.parametrize("name", NAMES)
@examples(1)
@given(data=st.data())
def test_no_move_and_no_share_makes_a_validator_raise(name: str, data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(honest_steps()[name]))
    move = data.draw(bad_move(step.move))
    outcome = step.judge(move=move, share=data.draw(shares), evidence=FIVE[0])
    assert isinstance(outcome, ProgramValid | ProgramSlash)


@pytest.mark.parametrize("name", NAMES[:4])
@examples(1)
@given(data=st.data())
def test_before_the_reveal_neither_evidence_nor_share_change_anything(
    name: str, data: st.DataObject
) -> None:
    step = data.draw(st.sampled_from(honest_steps()[name]))
    move = data.draw(st.just(step.move) | bad_move(step.move))
    outcome = step.judge(move=move, share=data.draw(shares), evidence=data.draw(evidences))
    assert outcome == step.judge(move=move)


@examples(1)
@given(data=st.data())
def test_a_fault_of_the_reveal_itself_is_slashed_by_any_evidence(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(honest_steps()["e"]))
    move = data.draw(bad_move(step.move))
    is_legal = len(move) == 18 and move[:17] == step.move[:17] and move[17:] in FIVE
    outcome = step.judge(move=move, evidence=data.draw(evidences | st.just(NIL)))
    if not is_legal:
        assert isinstance(outcome, ProgramSlash)


@examples(1)
@given(data=st.data())
def test_bad_evidence_raises_against_a_reveal_that_is_well_formed(data: st.DataObject) -> None:
    step = data.draw(st.sampled_from(honest_steps()["e"]))
    evidence = data.draw(evidences)
    outcome = step.judge(share=data.draw(shares), evidence=evidence)
    assert isinstance(outcome, Raised) == (evidence not in FIVE)


def test_the_salt_and_the_discards_are_what_was_committed_to() -> None:
    """CP-E-2, CP-E-4: discards of another number are illegal even if they were committed to."""
    step = honest_steps()["e"][0]
    *rest, _ = from_list(step.state)
    for mask in (0b111, 0b11111, 0, 255):
        opened = step.move[:16] + bytes([mask])
        state = to_list([*rest, sha256(opened).digest()])
        cheat = Step("e", step.amount, state, opened + step.move[17:])
        assert isinstance(cheat.judge(), ProgramSlash)


@pytest.mark.parametrize("stride", [24, pytest.param(1, marks=pytest.mark.long)])
def test_a_second_interpreter_agrees(stride: int) -> None:
    """It takes seconds for one run of the deal, or of the comparison of two hands."""
    for name, steps in honest_steps().items():
        program = load(f"calpoker/{name}")
        slow = name in "ce"
        if slow and stride > 1:
            continue
        for step in steps[: 1 if slow else 5]:
            tried = (
                (step.move, step.amount, FIVE[-1]),
                (step.move, 0, FIVE[0]),
                (step.move, step.amount, NIL),
                (step.move[:-1] + b"\x99", 0, FIVE[0]),
            )
            for move, share, evidence in tried[:: stride if slow else 1]:
                curried = curried_args(amount=step.amount, move=move, share=int_to_atom(share))
                assert_agreed(program, validator_args(program, curried, step.state, evidence))
