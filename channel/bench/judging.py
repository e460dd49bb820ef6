"""Time the rules in Python against the programs, validator by validator, on the same calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from channelsim.channel.bench.measuring import seconds_of, spread
from channelsim.channel.lab.crosscheck.speed import run_bare
from channelsim.channel.session.setup import DEFAULT_STACK, DEFAULT_UNIT
from channelsim.games.chance import Chance
from channelsim.games.contract import Game
from channelsim.games.deck.openings import forget_openings
from channelsim.games.judge import NO_ADDRESS, hashes_of
from channelsim.games.referee import FIRST, GameCoin, validator_arguments
from channelsim.games.selfplay import Call, calls

MIX = 60
"""Games whose validator calls are measured."""


def comparisons(
    games: Sequence[Game], seed: str, seconds: float, least: int
) -> dict[str, Callable[[], dict[str, Any]]]:
    """List the comparisons of each validator's rules in Python with the same calls in CLVM."""
    found: dict[str, Callable[[], dict[str, Any]]] = {}
    share = seconds / 5 / len(games)
    for game in games:
        for validator, mix in _calls_by_validator(game, seed).items():
            if not mix:
                continue
            key = validator if validator not in found else f"{game.name}/{validator}"
            found[key] = partial(_compare, game, validator, mix, share, least)
    return found


def _calls_by_validator(game: Game, seed: str) -> dict[str, list[Call]]:
    hashes = hashes_of(game)
    terms = game.terms(game.default_parameters(DEFAULT_UNIT, DEFAULT_STACK))
    chance = Chance(seed.encode())
    policies = list(game.policies.values())
    by_validator: dict[str, list[Call]] = {name: [] for name in game.validators}
    for _ in range(MIX):
        pair = (chance.pick(policies), chance.pick(policies))
        for call in calls(game, hashes, terms, pair, chance):
            by_validator[call.before.validator or ""].append(call)
    return by_validator


def _compare(
    game: Game, name: str, mix: Sequence[Call], seconds: float, least: int
) -> dict[str, Any]:
    hashes = hashes_of(game)
    judge, program = game.validators[name].judge, game.programs[name]
    python = [(c.before.state, c.move, c.share, c.amount, c.evidence, hashes) for c in mix]
    clvm = [
        validator_arguments(_coin(call), _state(call).value(), program, call.evidence, NO_ADDRESS)
        for call in mix
    ]
    bare = [(program.serialized, arguments) for arguments in clvm]

    def run_python() -> None:
        # An opening of a card that was checked before is remembered.
        forget_openings()
        for arguments in python:
            judge(*arguments)

    ratios: list[float] = []
    python_times: list[float] = []
    clvm_times: list[float] = []
    run_python()
    run_bare(bare)
    until = perf_counter() + seconds
    while perf_counter() < until or len(ratios) < least:
        ours, theirs = seconds_of(run_python), seconds_of(partial(run_bare, bare))
        ratios.append(ours / theirs)
        python_times.append(ours / len(mix) * 1e6)
        clvm_times.append(theirs / len(mix) * 1e6)
    return {
        "ratio": spread(ratios),
        "times_faster": round(1 / median(ratios), 2),
        "python_microseconds": spread(python_times),
        "clvm_microseconds": spread(clvm_times),
        "calls": len(mix),
    }


def _coin(call: Call) -> GameCoin:
    return GameCoin(
        mover_key=bytes(48),
        waiter_key=bytes(48),
        timeout=15,
        amount=call.amount,
        mod_hash=bytes(32),
        nonce=0,
        move=call.move,
        max_move_size=0,
        infohash_b=b"",
        mover_share=call.share,
        infohash_a=FIRST,
    )


def _state(call: Call) -> Any:
    return call.before.state
