"""Search the programs of a mistake until the fuzzer finds it, and measure the processor time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import suppress
from time import process_time

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.run import remembered
from scripts.tools.mistakes.listed import Mistake, mistakes
from scripts.tools.mistakes.planting import planted

ENDLESS = float("inf")


class Search(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The search for one mistake. It ends at the first finding in one of the mistake's validators.

    `seconds` are those of the processor, without compiling and shrinking, and `runs` the runs of
    validators, both to that finding or to the end. `elsewhere` are the causes of findings in other
    validators. `severity` is that of the shrunk finding; empty if there is none.
    """

    id: str
    game: str
    with_rules: bool
    rare: bool
    found: bool
    runs: int
    seconds: float
    severity: str = ""
    place: str = ""
    law: str = ""
    cause: str = ""
    reach: str = ""
    elsewhere: tuple[str, ...] = ()


def search(
    name: str, with_rules: bool, seconds: float, fuzzers: int, seed: str, stored: bool = False
) -> Search:
    """Search for the mistake of this id, for so many seconds of the processor at most.

    `stored`: without rules, with the cases of illegal moves that the game comes with. The fuzzers,
    which are those that `channelsim fuzz` runs in as many jobs, work in turn.
    """
    mistake = next(mistake for mistake in mistakes() if mistake.id == name)
    with planted(mistake.game, mistake, with_rules, stored) as target, remembered():
        return _searched(mistake, target, with_rules, seconds, fuzzers, seed)


def _searched(
    mistake: Mistake, target: Target, with_rules: bool, seconds: float, fuzzers: int, seed: str
) -> Search:
    gc.collect()
    start = process_time()
    searching = [Fuzzer(target, seed, number) for number in range(fuzzers)]
    finder: Fuzzer | None = None
    for fuzzer in in_turn(searching):
        if any(finding.place in mistake.places for finding in fuzzer.tally.findings):
            finder = fuzzer
            break
        if process_time() - start > seconds:
            break
    spent = process_time() - start
    findings = [finding for fuzzer in searching for finding in fuzzer.tally.findings]
    elsewhere = {_named(other) for other in findings if other.place not in mistake.places}
    result = Search(
        id=mistake.id,
        game=mistake.game,
        with_rules=with_rules,
        rare=mistake.rare,
        found=finder is not None,
        runs=sum(fuzzer.runs for fuzzer in searching),
        seconds=round(spent, 2),
        elsewhere=tuple(sorted(elsewhere)),
    )
    if finder is None:
        return result
    shrunk = [finding for finding in finder.findings() if finding.place in mistake.places]
    worst = min(shrunk or finder.tally.findings, key=lambda finding: finding.rank)
    return msgspec.structs.replace(
        result,
        severity=worst.severity,
        place=worst.place,
        law=worst.rule,
        cause=worst.cause,
        reach=worst.reach,
    )


def in_turn(fuzzers: list[Fuzzer]) -> Iterator[Fuzzer]:
    """Let each fuzzer work for a round, one after the other, without end; yield it after that."""
    running = [(fuzzer, fuzzer.run(ENDLESS)) for fuzzer in fuzzers]
    while True:
        for fuzzer, rounds in running:
            with suppress(StopIteration):
                next(rounds)
            yield fuzzer


def _named(finding: Finding) -> str:
    return f"{finding.severity}: {finding.place}: {finding.cause}"
