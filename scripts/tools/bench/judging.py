"""Time the rules in Python against the programs, validator by validator, on the same calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from channelsim.channel.session.defaults import DEFAULT_STACK, DEFAULT_UNIT
from channelsim.clsp.programs import Program
from channelsim.games.chance import Chance
from channelsim.games.contract import Game
from channelsim.games.deck.openings import forget_openings
from channelsim.games.judge import NO_ADDRESS, hashes_of
from channelsim.games.referee import FIRST, GameCoin, validator_arguments
from channelsim.games.selfplay import Call, calls
from scripts.tools.bench.crosscheck_speed import run_bare
from scripts.tools.bench.measuring import Figures, repeated, seconds_of

MIX = 60
"""Games whose validator calls are measured."""


def comparisons(
    games: Sequence[Game], seed: str, seconds: float, least: int
) -> dict[str, Callable[[], Figures]]:
    """List the comparisons of each validator's rules in Python with the same calls in CLVM."""
    works: dict[str, Callable[[], Figures]] = {}
    share = seconds / 5 / len(games)
    for game in games:
        for validator, mix in _calls_by_validator(game, seed).items():
            if not mix:
                continue
            key = validator if validator not in works else f"{game.name}/{validator}"
            works[key] = partial(_compare, game, validator, mix, share, least)
    return works


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


def _compare(game: Game, name: str, mix: Sequence[Call], seconds: float, least: int) -> Figures:
    hashes = hashes_of(game)
    judge, program = game.validators[name].judge, game.programs[name]
    python = [(c.before.state, c.move, c.share, c.amount, c.evidence, hashes) for c in mix]
    bare = [(program.serialized, _arguments(call, program)) for call in mix]

    def run_python() -> None:
        """Judge all calls by the rules in Python."""
        # An opening of a card that was checked before is remembered.
        forget_openings()
        for arguments in python:
            judge(*arguments)

    def measure(number: int) -> dict[str, float]:
        """Measure all calls once in each way."""
        ours, theirs = seconds_of(run_python), seconds_of(partial(run_bare, bare))
        return {
            "ratio": ours / theirs,
            "times_faster": theirs / ours,
            "python_microseconds": ours / len(mix) * 1e6,
            "clvm_microseconds": theirs / len(mix) * 1e6,
        }

    run_python()
    run_bare(bare)
    figures: Figures = repeated(seconds, least, measure)
    faster = round(figures["times_faster"]["median"], 2)
    return {**figures, "times_faster": faster, "calls": len(mix)}


def _arguments(call: Call, program: Program) -> bytes:
    """The solution of the program for a call."""
    state: Any = call.before.state
    return validator_arguments(_coin(call), state.value(), program, call.evidence, NO_ADDRESS)


def _coin(call: Call) -> GameCoin:
    """The coin of a call, in which a validator sees only the move, share and amount."""
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
