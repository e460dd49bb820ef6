"""Helpers of this folder: building arguments, and playing Space Poker honestly.

The plays are driven by what the validators themselves return, so that this folder needs no
model of the game: the states are the ones that a chain of legal moves reaches.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from random import Random

from channelsim.clsp.programs import Program, load
from channelsim.clsp.run import Outcome, ProgramSlash, ProgramValid, run
from channelsim.clsp.values import NIL, Value, atom_to_int, from_list, int_to_atom, to_list
from tests.paths import DATA

VECTORS = DATA / "vectors"
SPACE_POKER = ("commitA", "commitB", "begin_round", "mid_round", "end")


def validator(name: str) -> Program:
    return load(f"spacepoker/{name}")


def curried_args(
    *,
    amount: int,
    move: bytes,
    share: bytes,
    max_move_size: bytes = b"",
    infohash_b: bytes = b"",
) -> Value:
    """The game coin's list of 11; what validators do not read is of the right shape only."""
    return to_list(
        [
            b"\xaa" * 48,
            b"\xbb" * 48,
            b"\x0f",
            int_to_atom(amount),
            b"\xcc" * 32,
            b"",
            move,
            max_move_size,
            infohash_b,
            share,
            b"\xdd" * 32,
        ]
    )


def validator_args(program: Program, curried: Value, state: Value, evidence: Value = NIL) -> Value:
    """A validator's environment, as the referee builds it."""
    return to_list([program.hash, curried, state, program.value, evidence, b"\xee" * 32])


@dataclass(frozen=True)
class Step:
    """One honest move, before it is judged."""

    validator: str
    amount: int
    state: Value
    move: bytes
    share: int

    def judge(
        self,
        *,
        move: bytes | None = None,
        share: bytes | None = None,
        evidence: Value = NIL,
    ) -> Outcome:
        """Run the validator, with another move or share if given."""
        program = validator(self.validator)
        curried = curried_args(
            amount=self.amount,
            move=self.move if move is None else move,
            share=int_to_atom(self.share) if share is None else share,
        )
        return run(program, validator_args(program, curried, self.state, evidence))


def chain(preimage: bytes) -> list[bytes]:
    """A player's values 0 to 5."""
    values = [preimage]
    while len(values) < 6:
        values.append(sha256(values[-1]).digest())
    return values


def honest_play(random: Random) -> Iterator[Step]:
    """Play one hand to the showdown, with random bets; yields every move that was made."""
    bet_unit = random.randint(1, 20)
    half = bet_unit * random.randint(1, 30)
    amount = 2 * half
    chains = [chain(random.randbytes(16)), chain(random.randbytes(16))]

    alice = Step("commitA", amount, int_to_atom(bet_unit), chains[0][5], half)
    yield alice
    state = _next(alice)[1]
    bob = Step("commitB", amount, state, chains[1][4], half - bet_unit)
    yield bob
    name, state = _next(bob)
    revealed = [5, 4]
    mover = 0
    while name != "end":
        step = _move(random, name, amount, state, chains[mover][revealed[mover] - 1])
        # A coin toss that gave the opening to the other player turns an opening into a pong.
        if isinstance(step.judge(), ProgramSlash):
            step = Step(name, amount, state, step.move[:32], step.share)
        yield step
        if name == "begin_round" or len(step.move) <= 32:
            revealed[mover] -= 1
        name, state = _next(step)
        # Bob's value 4 is known, but whoever opens the first street reveals it once more.
        if name == "begin_round" and step.validator == "begin_round":
            revealed[1 - mover] += 1
        mover = 1 - mover
    half_pot = atom_to_int(_atom(from_list(state)[0]))
    mask = random.choice([m for m in range(128) if m.bit_count() == 5])
    # Generous, so that the reveal is legal whatever the cards are.
    yield Step("end", amount, state, chains[mover][0] + bytes([mask]), half + half_pot)


def _move(random: Random, name: str, amount: int, state: Value, image: bytes) -> Step:
    fields = from_list(state)
    half_pot, last = (atom_to_int(_atom(field)) for field in fields[1:3])
    if name == "begin_round":
        bet = random.choice([0, 0, random.randint(0, amount // 2 - half_pot)])
        return Step(name, amount, state, image + int_to_atom(bet), amount // 2 - half_pot)
    room = amount // 2 - half_pot - last
    move = image
    if room and random.random() < 0.4:
        move = random.randbytes(32) + int_to_atom(random.randint(1, room))
    return Step(name, amount, state, move, room)


def _next(step: Step) -> tuple[str, Value]:
    outcome = step.judge()
    assert isinstance(outcome, ProgramValid), (step, outcome)
    program_hash, state, _ = from_list(outcome.value)
    return next(n for n in SPACE_POKER if validator(n).hash == program_hash), state


def _atom(value: Value) -> bytes:
    assert isinstance(value, bytes)
    return value
