"""Search the right programs, in which there is nothing to find."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import msgspec

from channelsim.channel.findings.finding import Finding
from channelsim.channel.lab.cases.trial import LabTally
from channelsim.channel.lab.fuzz.fuzzer import Fuzzer
from channelsim.games import registry
from scripts.tools.mistakes.planting import planted
from scripts.tools.mistakes.searching import ENDLESS


class Quiet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The search of one game's right programs: runs of validators, and what was found.

    `unreached` counts the cases that were dropped because no play is known to reach their states;
    None in a lab that does not count them.
    """

    game: str
    with_rules: bool
    runs: int
    seconds: float
    findings: tuple[str, ...]
    unreached: int | None


def correct_games() -> tuple[str, ...]:
    """The games with all their programs and their players: installed ones, and examples."""
    return tuple(game.name for game in registry.channel_games() if not game.missing)


def search_correct(
    game: str,
    with_rules: bool,
    runs: int,
    seed: str,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Quiet:
    """Fuzz the right programs of a game for so many runs of validators."""
    with planted(game, None, with_rules) as target:
        start = process_time()
        fuzzer = Fuzzer(target, seed)
        for _ in fuzzer.run(ENDLESS):
            on_progress(fuzzer.runs)
            if fuzzer.runs >= runs:
                break
        seconds = process_time() - start
        findings: list[Finding] = fuzzer.findings()
    return Quiet(
        game=game,
        with_rules=with_rules,
        runs=fuzzer.runs,
        seconds=round(seconds, 1),
        findings=tuple(finding.line for finding in findings),
        unreached=_unreached(fuzzer.tally),
    )


def _unreached(tally: LabTally) -> int | None:
    """The cases that a lab says it dropped; older ones do not count them."""
    counts = getattr(tally, "unreached", None)
    if counts is None:
        return None
    return sum(counts.values()) if isinstance(counts, dict) else int(counts)
