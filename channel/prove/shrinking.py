"""Shrink an input that breaks a claim, by real runs: to plain numbers and zeros."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.prove.arguments import (
    ADDRESS,
    AMOUNT,
    COIN,
    EVIDENCE,
    JUDGING,
    MORE,
    MOVE,
    NEXT,
    SHARE,
    STATE,
    Steps,
    coin_field,
    part,
    replaced,
)
from channelsim.channel.prove.claims import is_surely_broken
from channelsim.channel.prove.proof import Question
from channelsim.clsp.run import cut_offs
from channelsim.clsp.values import (
    NIL,
    Value,
    atom_to_int,
    from_list,
    int_to_atom,
    is_minimal,
    serialize,
)
from channelsim.games.judge import NO_ADDRESS
from channelsim.games.referee import FIRST

ROUNDS = 4
"""How often all parts are tried, at most."""

ENDLESS = 4
"""The most runs that are cut off at the cost of a block, which take seconds each."""

PLAIN = (0, 1, 2, 3, 4, 10, 100, 1000)
SHIFTS = (40, 20, 10, 5, 1)
"""The numbers that are tried, and by how many bits large ones are shortened."""

LONGEST_NUMBER = 9
"""Longer atoms are bytes."""


def shrunk(question: Question, environment: Value) -> Value:
    """A plainer input of the same domain that still breaks the claim."""
    best, most = environment, cut_offs() + ENDLESS
    for _ in range(ROUNDS):
        before = serialize(best)
        fields = map(coin_field, range(len(from_list(part(best, COIN)))))
        for whole in (ADDRESS, EVIDENCE, *fields):
            best = _with_plainer(question, best, whole, most)
        for root in (STATE, EVIDENCE, MORE):
            for leaf in [*_leaves(part(best, root), root)]:
                best = _with_plainer(question, best, leaf, most)
        if serialize(best) == before:
            break
    return best


def _with_plainer(question: Question, environment: Value, steps: Steps, most: int) -> Value:
    """The input with the plainest part at a place that still breaks the claim.

    The same one once so many runs of this process were cut off.
    """
    for candidate in _plainer(steps, part(environment, steps)):
        if cut_offs() >= most:
            return environment
        changed: Value = replaced(environment, steps, candidate)
        if _is_input(question, changed) and is_surely_broken(question.claim, changed):
            return changed
    return environment


def _leaves(value: Value, at: Steps) -> Iterator[Steps]:
    if isinstance(value, tuple):
        yield from _leaves(value[0], (*at, 0))
        yield from _leaves(value[1], (*at, 1))
    else:
        yield at


def _plainer(steps: Steps, value: Value) -> Iterator[Value]:
    """Plainer values for a part, the plainest first."""
    if steps == EVIDENCE and value != NIL:
        yield NIL
    if steps == ADDRESS and value != NO_ADDRESS:
        yield NO_ADDRESS
    if steps == coin_field(NEXT) and value != NIL:
        yield NIL
    if steps == coin_field(JUDGING) and value != FIRST:
        yield FIRST
    if isinstance(value, tuple) or not value:
        return
    is_bytes = steps == coin_field(MOVE) or len(value) > LONGEST_NUMBER or not is_minimal(value)
    if not is_bytes:
        number = atom_to_int(value)
        yield from (int_to_atom(plain) for plain in PLAIN if plain < abs(number))
        yield from (int_to_atom(number >> bits) for bits in SHIFTS if number >> bits > PLAIN[-1])
        return
    if any(value):
        yield bytes(len(value))
        yield from (value[:at] + b"\x00" + value[at + 1 :] for at in range(len(value)) if value[at])


def _is_input(question: Question, environment: Value) -> bool:
    """True if the share is within the amount, and the reader takes the state."""
    amount, share = (
        atom_to_int(part(environment, coin_field(number))) for number in (AMOUNT, SHARE)
    )
    return 0 <= share <= amount and question.takes(environment)
