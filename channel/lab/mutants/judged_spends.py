"""Spends of game coins with their verdicts by the rules of the referee, to hunt its mutants.

A referee curried with a coin and given a solution runs in the environment `(COIN . SOLUTION)`,
so a mutant is run on that, and no hash of its own comes into it. Validators are made up here:
each returns one constant, or all that it was called with.
"""

from __future__ import annotations

import msgspec

from channelsim.channel.crypto.hkdf import derive
from channelsim.channel.lab.mutants.judged_cases import (
    COST_FACTOR,
    KEPT,
    PER_RULE,
    JudgedCase,
    cost_of,
)
from channelsim.channel.lab.sites.fast_chance import FastChance
from channelsim.channel.lab.sites.site import KEYS
from channelsim.channel.lab.sites.values import atom_of, longer
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.operators import QUOTE
from channelsim.clsp.programs import Program
from channelsim.clsp.values import (
    NIL,
    NotAList,
    Value,
    deserialize,
    from_list,
    int_to_atom,
    serialize,
    to_list,
    tree_hash,
)
from channelsim.games.referee import (
    FIRST,
    GameCoin,
    RefereeRefusal,
    infohash,
    validator_arguments,
)
from channelsim.games.referee_paths import conditions_of

CHUNK = 2000
"""The number of spends in a chunk."""

AMOUNTS = (1, 2, 100, 127, 128, 255, 256, 2000, 10**12, 2**63 - 1)
SIZES = (0, 1, 2, 16, 31, 32, 127, 128, 255, 256, 32767)

LENGTHY = 2**1040
"""A size limit of 131 bytes: even the number of its bytes takes two bytes."""

ECHO = Program(bytes.fromhex("ff04ff80ffff04ff80ffff04ff80ffff04ff01ff8080808080"))
"""A validator that takes every move for the last one, and emits its environment."""


def fresh(target: Target, seed: str, number: int) -> list[JudgedCase]:
    """One chunk of spends."""
    return [case for _, case in judged(target, seed, number)]


def diverse(target: Target, seed: str) -> tuple[list[JudgedCase], int]:
    """A few hundred spends that differ in how they end or in their cost; and the cost up to which
    a mutant is run."""
    kept: dict[tuple[str, int], JudgedCase] = {}
    by_rule: dict[str, int] = {}
    most = 0
    for rule, case in judged(target, seed, 0):
        cost = cost_of(target.referee.serialized, case.arguments)
        most = max(most, cost)
        key = (rule, cost or by_rule.get(rule, 0))
        if by_rule.get(rule, 0) < PER_RULE and key not in kept:
            kept[key] = case
            by_rule[rule] = by_rule.get(rule, 0) + 1
    return list(kept.values())[:KEPT], COST_FACTOR * most


def judged(target: Target, seed: str, number: int) -> list[tuple[str, JudgedCase]]:
    """One chunk of spends, each with the rule that refuses it or the path that it takes."""
    chance = FastChance(derive(seed.encode(), "spends", number))
    return [_spend(target, chance) for _ in range(CHUNK)]


def _spend(target: Target, chance: FastChance) -> tuple[str, JudgedCase]:
    """A spend, and the rule that refuses it or the path that it takes."""
    coin = _coin(target, chance)
    path = chance.pick(("timeout", "move", "move", "slash", "slash"))
    if path == "timeout":
        solution = _timeout(coin, chance)
    elif path == "move":
        solution = _move(coin, chance)
    else:
        coin, solution = _slash(coin, chance)
    if chance.random() < 0.05:
        solution = chance.pick((NIL, b"x", (solution, NIL), (NIL, solution), _longer(solution)))
    try:
        result, rule = judge(coin, solution), path
    except RefereeRefusal as refusal:
        result, rule = None, refusal.rule
    return rule, JudgedCase(b"\xff" + serialize(coin.value()) + serialize(solution), result)


def judge(coin: GameCoin, solution: Value) -> Value:
    """The conditions of this spend by the rules. Raises `RefereeRefusal`."""

    def returned(program: Value, state: Value, evidence: Value) -> Value:
        """The result of one of the validators that are made here."""
        if isinstance(program, tuple) and program[0] == QUOTE:
            return program[1]
        address = atom_of(from_list(solution)[3])
        called = validator_arguments(coin, state, ECHO, evidence, address)
        return to_list((NIL, NIL, NIL, deserialize(called)))

    return conditions_of(coin, solution, returned)


def _coin(target: Target, chance: FastChance) -> GameCoin:
    amount = chance.pick(AMOUNTS)
    share = chance.pick((0, amount, amount // 2, chance.between(0, amount)))
    return GameCoin(
        mover_key=KEYS[0],
        waiter_key=KEYS[1],
        timeout=chance.pick((1, 15, 200, 70000)),
        amount=amount,
        mod_hash=target.referee.hash,
        nonce=chance.pick((0, 4, 5, 300)),
        move=chance.bytes(chance.pick((0, 1, 17, 32, 42))),
        max_move_size=chance.pick(SIZES[:-1]),
        infohash_b=chance.pick((NIL, chance.bytes(32), chance.bytes(32))),
        mover_share=share,
        infohash_a=chance.pick((FIRST, chance.bytes(32))),
    )


def _timeout(coin: GameCoin, chance: FastChance) -> Value:
    addresses: list[Value] = []
    for share in (coin.mover_share, coin.waiter_share):
        honest = chance.bytes(32) if share else NIL
        odd: tuple[Value, ...] = (NIL, chance.bytes(32), b"\x00", (b"x", NIL))
        other = chance.pick(odd)
        addresses.append(honest if chance.random() < 0.8 else other)
    return to_list(addresses)


def _move(coin: GameCoin, chance: FastChance) -> Value:
    """A move, mostly with one field that may be wrong."""
    most = coin.max_move_size
    fields: list[Value] = [
        chance.bytes(chance.between(0, most)),
        chance.pick((NIL, chance.bytes(32))),
        int_to_atom(chance.between(0, coin.amount)),
        int_to_atom(chance.pick(SIZES)),
    ]
    shares = (-1, 0, 1, coin.amount - 1, coin.amount, coin.amount + 1, -128, 2 * coin.amount)
    sizes = (-1, 0, 1, 127, 128, 32766, 32767, 32768, 65536, -32768, -129, LENGTHY)
    kind = chance.below(7)
    if kind == 0:
        fields[0] = chance.bytes(max(0, most + chance.between(-1, 1)))
    elif kind == 1:
        fields[1] = chance.bytes(chance.pick((0, 1, 31, 32, 33)))
    elif kind == 2:
        fields[2] = int_to_atom(chance.pick(shares))
    elif kind == 3:
        fields[3] = int_to_atom(chance.pick(sizes))
    elif kind == 4:
        at = chance.pick((2, 3))
        fields[at] = longer(atom_of(fields[at]), 1)
    elif kind == 5:
        at = chance.pick((0, 2, 3))
        fields[at] = (fields[at], NIL)
    return to_list(fields)


def _slash(coin: GameCoin, chance: FastChance) -> tuple[GameCoin, Value]:
    """A slash of a move whose made-up validator returns a made-up result."""
    state, next_state = _value(chance), _value(chance)
    program_hash = chance.pick((NIL, chance.bytes(32)))
    size = int_to_atom(coin.max_move_size)
    extras = [to_list((b"\x01", chance.bytes(3))) for _ in range(chance.pick((0, 0, 1, 2)))]
    items: list[Value] = [program_hash, next_state, size, *extras]
    committed = infohash(program_hash, tree_hash(next_state)) if program_hash else NIL
    if chance.random() < 0.7:
        coin = _with(coin, infohash_b=committed)
    kind = chance.below(8)
    if kind == 0:
        items = items[: chance.below(4)]
    elif kind == 1:
        items[2] = int_to_atom(coin.max_move_size + chance.pick((-1, 1)))
    elif kind == 2:
        at = chance.below(len(items))
        items[at] = _value(chance)
    elif kind == 3:
        items[0] = chance.bytes(32)
    returned = to_list(items)
    if chance.random() < 0.1:
        returned = chance.pick((NIL, b"x", to_list(items, chance.bytes(2))))
    program = Program(serialize((QUOTE, returned)))
    if chance.random() < 0.1:
        program = ECHO
        coin = _with(coin, infohash_b=NIL, max_move_size=0)
    if chance.random() < 0.9:
        coin = _with(coin, infohash_a=infohash(program.hash, tree_hash(state)))
    odd: tuple[Value, ...] = (NIL, (b"x", NIL))
    address = chance.bytes(32) if chance.random() < 0.95 else chance.pick(odd)
    return coin, to_list((state, program.value, _value(chance), address))


def _value(chance: FastChance) -> Value:
    if chance.random() < 0.4:
        return (_value(chance), _value(chance))
    return chance.bytes(chance.pick((0, 1, 2, 32)))


def _longer(solution: Value) -> Value:
    try:
        return to_list((*from_list(solution), b"x"))
    except NotAList:
        return solution


def _with(coin: GameCoin, **changes: object) -> GameCoin:
    return msgspec.structs.replace(coin, **changes)
