"""Sequences of pushes and blocks whose answers are the same on every node.

A sequence is data: coins of its own, and steps that name them. The sequences of a group go forward
together, a step each and then the blocks that all of them make, since blocks of the genuine node
take half a second. `crowded` ones have a chain of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from channelsim.channel.chain.coins import (
    Bundle,
    Coin,
    Spend,
    condition,
    joined,
    signed_spend,
    standard_puzzle_hash,
)
from channelsim.channel.chain.validation import name_of_bundle
from channelsim.channel.crypto import bls
from channelsim.channel.protocol.half_signed import NO_SIGNATURE
from channelsim.channel.protocol.wallet import wallet_key
from channelsim.clsp.programs import Program
from channelsim.clsp.values import NIL, Value, int_to_atom, serialize, to_list
from channelsim.games.referee import AGG_SIG_UNSAFE, CREATE_COIN

ANYONE = Program(b"\x01")
"""The puzzle whose solution is its conditions."""

KEY = wallet_key(b"sequences", "coins")
ADDRESS = standard_puzzle_hash(bytes(KEY.get_g1()))
NOWHERE = bytes([7]) * 32

REMARK = 1

LOCKS = {
    "from seconds": 80,
    "at seconds": 81,
    "from": 82,
    "at": 83,
    "before seconds": 84,
    "until seconds": 85,
    "before": 86,
    "until": 87,
}
"""Conditions of time by names: of two, the second is absolute, and counts from now."""

MISTAKEN: dict[str, tuple[Value, ...]] = {
    "twice the same coin": (condition(CREATE_COIN, NOWHERE, b"\x01"),) * 2,
    "reserves more": (condition(52, int_to_atom(1 << 40)),),
    "announcement": (condition(61, bytes(32)),),
    "unknown condition": (condition(200, b"x"),),
    "fourth argument": (condition(CREATE_COIN, NOWHERE, b"\x01", NIL, b"more"),),
    "other spend": (condition(64, bytes(32)),),
    "other puzzle": (condition(65, bytes(32)),),
    "birth": (condition(75, b"\x01"),),
    "own id": (condition(70, bytes(32)),),
    "own amount": (condition(73, b"\x01"),),
    "ephemeral": (condition(76),),
    "message": (condition(67, b"\x12", b"x", bytes(32)),),
}
"""Conditions that are wrong, by names."""

MISTAKES = (*MISTAKEN, "mints", "signature", "puzzle", "raises", "no coin", "long atom")


MOST_TOGETHER = 150
"""Sequences that share a chain: one coin has the money for all of them."""


class Push(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Offer a bundle that spends these coins, or (`again`) the same bytes as an earlier step.

    Coins are the sequence's own by number; 100 and above is the coin that step n - 100 made of its
    first coin. The first coin has the fee, the locks, the mistake, and `pad` bytes that make it
    more costly. `also` puts the spends of an earlier step into the same bundle; `signs` has a coin
    that is free to take ask for a signature all the same.
    """

    coins: tuple[int, ...] = ()
    fee: int = 0
    pad: int = 0
    locks: tuple[tuple[str, int], ...] = ()
    mistake: str = ""
    again: int | None = None
    also: int | None = None
    signs: bool = False


class PushSequence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Pushes in rounds, with a block after each.

    `coins` has an `s` for a coin that needs a signature, and an `f` for one that is free to take.
    `back` has, for rounds after which blocks are replaced instead, the number of blocks.
    """

    name: str
    coins: str
    rounds: tuple[tuple[Push, ...], ...]
    back: tuple[int, ...] = ()
    amount: int = 1_000_000_000
    crowded: bool = False


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sequence with a node's answers.

    To a push: the status, or the name of the refusal. After each round's pushes: the steps whose
    bundles are pending. After its block: these again, and the coins that are spent.
    """

    sequence: PushSequence
    answers: tuple[str, ...]


class Node(Protocol):
    """A node on which the caller makes blocks."""

    def agg_sig_data(self) -> bytes: ...
    def tip(self) -> int: ...
    def offer(self, bundle: Bundle) -> str: ...
    def pool(self) -> set[bytes]: ...
    def spent(self, coin: Coin) -> bool: ...
    def coins(self, wanted: Sequence[tuple[bytes, int]]) -> list[Coin]: ...
    def block(self) -> None: ...
    def replace(self, back: int) -> None: ...


@dataclass
class Course:
    """A sequence on its way."""

    sequence: PushSequence
    coins: list[Coin]
    node: Node
    bundles: list[Bundle] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def push(self, step: Push) -> None:
        """Offer the bundle of a step."""
        bundle = self.bundles[step.again] if step.again is not None else self._bundle(step)
        self.bundles.append(bundle)
        self.answers.append(self.node.offer(bundle))

    def look(self, pool: set[bytes]) -> None:
        """Note which steps' bundles are pending."""
        first: dict[bytes, int] = {}
        for step, bundle in enumerate(self.bundles):
            first.setdefault(name_of_bundle(bundle), step)
        pending = [str(step) for name, step in first.items() if name in pool]
        self.answers.append(" ".join(["pool", *pending]))

    def look_at_chain(self) -> None:
        """Note which coins are spent."""
        spent = [str(number) for number, coin in enumerate(self.coins) if self.node.spent(coin)]
        self.answers.append(" ".join(["spent", *spent]))

    def _coin(self, number: int) -> tuple[Coin, bool]:
        if number < 100:
            return self.coins[number], self.sequence.coins[number] == "s"
        step = self._first(number - 100)
        parent, _ = self._coin(step.coins[0])
        return Coin(parent.id, ANYONE.hash, parent.amount - step.fee), False

    def _first(self, number: int) -> Push:
        steps = [step for pushes in self.sequence.rounds for step in pushes]
        return steps[number]

    def _bundle(self, step: Push) -> Bundle:
        spends = []
        for place, number in enumerate(step.coins):
            coin, signed = self._coin(number)
            only_first = step if place == 0 else Push(signs=step.signs)
            spends.append(
                self._signed(coin, only_first) if signed else self._free(coin, only_first)
            )
        bundle = joined(*spends) if spends else Bundle((), NO_SIGNATURE)
        return bundle if step.also is None else joined(self.bundles[step.also], bundle)

    def _conditions(self, coin: Coin, address: bytes, step: Push) -> list[Value]:
        made = coin.amount + 1 if step.mistake == "mints" else coin.amount - step.fee
        return [
            condition(CREATE_COIN, address, int_to_atom(made)),
            *(self._lock(kind, value) for kind, value in step.locks),
            *MISTAKEN.get(step.mistake, ()),
            *([condition(REMARK, b"\x55" * step.pad)] if step.pad else []),
        ]

    def _signed(self, coin: Coin, step: Push) -> Bundle:
        listed = to_list(self._conditions(coin, ANYONE.hash, step))
        data = bytes(32) if step.mistake == "signature" else self.node.agg_sig_data()
        return signed_spend(KEY, coin, listed, data)

    def _free(self, coin: Coin, step: Push) -> Bundle:
        conditions = self._conditions(coin, NOWHERE, step)
        signature = NO_SIGNATURE
        if step.signs:
            conditions.append(condition(AGG_SIG_UNSAFE, bytes(KEY.get_g1()), b"message"))
            signature = bls.sign(KEY, b"message")
        puzzle, solution = ANYONE.serialized, serialize(to_list(conditions))
        match step.mistake:
            case "puzzle":
                puzzle = b"\x02"
            case "raises":
                solution = b"\x05"
            case "no coin":
                coin = Coin(bytes(32), coin.puzzle_hash, coin.amount)
            case "long atom":
                at = solution.index(b"\xa0")
                solution = solution[:at] + b"\xc0\x20" + solution[at + 1 :]
        return Bundle((Spend(coin, puzzle, solution),), signature)

    def _lock(self, kind: str, value: int) -> Value:
        code = LOCKS[kind]
        if code in (83, 87):
            value += self.node.tip()
        return condition(code, int_to_atom(value))


def run(node: Node, sequences: Sequence[PushSequence]) -> list[Row]:
    """Do these sequences together; what came of them."""
    wanted = [
        (
            sequence,
            [
                (ADDRESS if kind == "s" else ANYONE.hash, sequence.amount + 1000 * place + number)
                for number, kind in enumerate(sequence.coins)
            ],
        )
        for place, sequence in enumerate(sequences)
    ]
    coins = iter(node.coins([pair for _, pairs in wanted for pair in pairs]))
    courses = [Course(sequence, [next(coins) for _ in pairs], node) for sequence, pairs in wanted]
    for number in range(max(len(sequence.rounds) for sequence in sequences)):
        active = [course for course in courses if number < len(course.sequence.rounds)]
        for course in active:
            for step in course.sequence.rounds[number]:
                course.push(step)
        _look(node, active)
        backs = {
            course.sequence.back[number] if number < len(course.sequence.back) else 0
            for course in active
        }
        assert len(backs) == 1, "a group reorganises together"
        (back,) = backs
        if back:
            node.replace(back)
        else:
            node.block()
        _look(node, active)
        for course in active:
            course.look_at_chain()
    return [Row(course.sequence, tuple(course.answers)) for course in courses]


def _look(node: Node, courses: Sequence[Course]) -> None:
    pool = node.pool()
    for course in courses:
        course.look(pool)


def groups(sequences: Sequence[PushSequence]) -> Iterator[list[PushSequence]]:
    """The sequences that go together: those that reorganise alike, and each crowded one alone."""
    together: dict[tuple[tuple[int, ...], int], list[PushSequence]] = {}
    for sequence in sequences:
        if sequence.crowded:
            yield [sequence]
        else:
            key = sequence.back, len(sequence.rounds) if any(sequence.back) else 0
            together.setdefault(key, []).append(sequence)
    for alike in together.values():
        for first in range(0, len(alike), MOST_TOGETHER):
            yield alike[first : first + MOST_TOGETHER]
