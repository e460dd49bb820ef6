"""Search the right programs, in which there is nothing to find."""

from __future__ import annotations

from time import process_time

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer
from channelsim.clsp.run import remembered
from channelsim.games import registry
from scripts.tools.mistakes.planting import planted
from scripts.tools.mistakes.searching import ENDLESS

PART = 250_000
"""Runs of validators of one fuzzer; more runs are those of more fuzzers, with other numbers."""

WRONG_GAMES = frozenset({"pairs_withheld"})
"""Examples whose rules themselves have a mistake."""


class Quiet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The search of one game's right programs by the fuzzer of this number: runs of validators,
    and what was found.

    `unreached` counts the cases that were dropped because no play is known to reach their states.
    """

    game: str
    with_rules: bool
    number: int
    runs: int
    seconds: float
    findings: tuple[str, ...]
    unreached: int


def correct_games() -> tuple[str, ...]:
    """The games with all their programs and their players: installed ones, and examples."""
    games = registry.channel_games()
    return tuple(game.name for game in games if not game.missing and game.name not in WRONG_GAMES)


def correct_parts(runs: int) -> tuple[int, ...]:
    """The runs of each fuzzer, for so many in all."""
    whole, rest = divmod(runs, PART)
    return (PART,) * whole + (rest,) * bool(rest)


def search_correct(game: str, with_rules: bool, number: int, runs: int, seed: str) -> Quiet:
    """Fuzz the right programs of a game with one fuzzer for so many runs of validators."""
    with planted(game, None, with_rules) as target, remembered():
        start = process_time()
        fuzzer = Fuzzer(target, seed, number)
        for _ in fuzzer.run(ENDLESS):
            if fuzzer.runs >= runs:
                break
        seconds = process_time() - start
        findings: list[Finding] = fuzzer.findings()
    return Quiet(
        game=game,
        with_rules=with_rules,
        number=number,
        runs=fuzzer.runs,
        seconds=round(seconds, 1),
        findings=tuple(finding.line for finding in findings),
        unreached=fuzzer.tally.unreached,
    )
