"""Results in lines: one for each search, and totals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from channelsim.games.amounts import counted
from scripts.tools.mistakes.conforming import Conformance
from scripts.tools.mistakes.correct import Quiet
from scripts.tools.mistakes.listed import Measured, Mistake
from scripts.tools.mistakes.searching import Search


def line(result: Search) -> str:
    """A search in a line."""
    side = _side(result.with_rules)
    after = f"{result.seconds:.2f} s of the processor, {result.runs:,} runs"
    if not result.found:
        return f"{result.id}, {side}: NOT FOUND in {after}{_elsewhere(result)}"
    said = f"{result.severity} in {result.place} ({result.law}: {result.cause})"
    return f"{result.id}, {side}: {after}: {said}"


def conform_line(result: Conformance) -> str:
    """The checks that failed on a mistake, in a line."""
    failed = ", ".join(result.failed) or "NONE"
    return f"{result.id}: {failed} failed of {result.checks} checks, {result.seconds:.0f} s"


def totals(results: Sequence[Search]) -> Iterator[str]:
    """Count what was found with rules and without, with the median time, and name the rest."""
    for with_rules in (True, False):
        mine = [result for result in results if result.with_rules is with_rules]
        if not mine:
            continue
        found = [result for result in mine if result.found]
        rare = [result for result in mine if result.rare]
        rarely = sum(result.found for result in rare)
        yield (
            f"{_side(with_rules)}: found {len(found)} of {len(mine)}"
            f" ({rarely} of {len(rare)} rare ones)"
        )
        if found:
            seconds = median(result.seconds for result in found)
            yield f"    median processor time to the first finding: {seconds:.2f} s"
        # Those that are not found take longer than any other.
        endless = [result.seconds if result.found else float("inf") for result in mine]
        whole = median(endless)
        if whole < float("inf"):
            yield f"    median over all, found or not: {whole:.2f} s"
        for result in mine:
            if not result.found:
                yield f"    not found: {result.id}"


def correct_line(result: Quiet) -> Iterator[str]:
    """The search of right programs in a line, and one for each finding."""
    yield (
        f"{result.game}, {_side(result.with_rules)}, fuzzer {result.number}: {result.runs:,} runs"
        f" in {result.seconds:g} s of the processor, {counted(len(result.findings), 'finding')};"
        f" cases dropped as unreached: {result.unreached:,}"
    )
    for finding in result.findings:
        yield f"    {finding}"


def rate_line(mistake: Mistake, measured: Measured, next_chunk: int) -> str:
    """A count in a line, with the line of a list, and where to go on."""
    rate = measured.differing / max(1, measured.cases)
    return (
        f"{mistake.id}: measured = {{cases = {measured.cases}, differing = {measured.differing}}}"
        f"  # p = {rate:.1e}; go on with --first {next_chunk}"
    )


def _side(with_rules: bool) -> str:
    return "with rules" if with_rules else "without"


def _elsewhere(result: Search) -> str:
    return f"; elsewhere: {'; '.join(result.elsewhere)}" if result.elsewhere else ""
