"""Building the channel's coins for tests: a game as the referee has it, and conditions."""

from dataclasses import dataclass, replace
from hashlib import sha256

from channelsim.clsp.curry import curry
from channelsim.clsp.programs import Program, load
from channelsim.clsp.run import evaluate
from channelsim.clsp.values import Value, from_list, int_to_atom, to_list, tree_hash

REMARK, AGG_SIG_UNSAFE, AGG_SIG_ME, CREATE_COIN = b"\x01", b"\x31", b"\x32", b"\x33"
ASSERT_HEIGHT_RELATIVE, ASSERT_BEFORE_HEIGHT_RELATIVE = b"\x52", b"\x56"
PAYOUT_PREFIX = b"x"


@dataclass(frozen=True)
class Game:
    """The 11 fields of a game coin, as atoms where their bytes matter to a rule."""

    mover: bytes = b"\xaa" * 48
    waiter: bytes = b"\xbb" * 48
    timeout: int = 15
    amount: int = 200
    nonce: int = 4
    move: bytes = b"a move"
    max_move_size: bytes = b"\x20"
    infohash_b: bytes = b"\xb0" * 32
    share: int = 60
    infohash_a: bytes = b"x"

    def fields(self) -> Value:
        return to_list(
            [
                self.mover,
                self.waiter,
                int_to_atom(self.timeout),
                int_to_atom(self.amount),
                load("channel/referee").hash,
                int_to_atom(self.nonce),
                self.move,
                self.max_move_size,
                self.infohash_b,
                int_to_atom(self.share),
                self.infohash_a,
            ]
        )

    def puzzle(self) -> Program:
        return curry(load("channel/referee"), self.fields())

    def spend(self, *solution: Value) -> list[list[Value]]:
        """The conditions of a spend; raises ProgramRaised when the referee refuses."""
        return self.spend_raw(to_list(solution))

    def spend_raw(self, solution: Value) -> list[list[Value]]:
        args = solution if isinstance(solution, tuple) else b"\x80"
        return [from_list(condition) for condition in from_list(evaluate(self.puzzle(), args))]

    def after(self, move: bytes, infohash_c: bytes, share: int, size: bytes) -> "Game":
        """The game that a move makes."""
        return replace(
            self,
            mover=self.waiter,
            waiter=self.mover,
            move=move,
            max_move_size=size,
            infohash_b=infohash_c,
            share=share,
            infohash_a=self.infohash_b,
        )


def infohash(program: Program, state: Value) -> bytes:
    return sha256(program.hash + tree_hash(state)).digest()


def payment(key: bytes, address: bytes, share: int) -> list[list[Value]]:
    """The condition by which the referee pays a player."""
    return [
        [CREATE_COIN, address, int_to_atom(share)],
        [AGG_SIG_UNSAFE, key, PAYOUT_PREFIX + address],
    ]


def unroll(sum_key: bytes, number: int, conditions: Value) -> Program:
    return curry(load("channel/unroll"), sum_key, int_to_atom(number), tree_hash(conditions))


def conditions_of(number: int, *rest: Value) -> Value:
    """The conditions of a state: its number, then what it pays."""
    return to_list([to_list([REMARK, int_to_atom(number)]), *rest])


def with_timeout(blocks: int, conditions: Value) -> Value:
    return (to_list([ASSERT_HEIGHT_RELATIVE, int_to_atom(blocks)]), conditions)


def condition(code: bytes, *arguments: bytes) -> Value:
    return to_list([code, *arguments])
