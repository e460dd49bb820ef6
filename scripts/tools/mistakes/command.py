"""The command of `scripts/mistakes`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec
import typer

from channelsim.channel.cli.options import file_option, real, whole
from channelsim.channel.errors import UsageError
from channelsim.channel.report.terminal import console, say
from channelsim.channel.system.interrupt import exit_code
from channelsim.games.amounts import counted
from scripts.tools.mistakes import results
from scripts.tools.mistakes.conforming import Conformance, conform_of
from scripts.tools.mistakes.correct import correct_games, correct_parts, search_correct
from scripts.tools.mistakes.listed import Mistake, mistakes
from scripts.tools.mistakes.rates import counted_chunks
from scripts.tools.mistakes.results import Results
from scripts.tools.mistakes.searching import search
from scripts.tools.mistakes.totals import conform_line, correct_line, line, rate_line, totals

T = TypeVar("T")

CORES = 2
"""The cores, and the fuzzers, that a budget in seconds is for."""


def command(
    *,
    with_rules: Annotated[
        bool, typer.Option("--with-rules", help="Only search with the rules.")
    ] = False,
    without_rules: Annotated[
        bool, typer.Option("--without-rules", help="Only search without rules.")
    ] = False,
    stored: Annotated[
        bool,
        typer.Option(
            "--stored", help="Without rules: with the stored cases that the games come with."
        ),
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Only this mistake; may be repeated.")
    ] = None,
    game: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only in this game; may be repeated.")
    ] = None,
    budget: Annotated[
        float, real(0.1, 3600, "Seconds for a search on two cores: twice the processor time.")
    ] = 60.0,
    jobs: Annotated[
        int, whole(1, 256, "How many searches at once, or processes of `conform`.")
    ] = 1,
    seed: Annotated[str, typer.Option(metavar="TEXT", help="The seed of the fuzzers.")] = "fuzz",
    json: Annotated[
        Path | None,
        file_option("Also write the results to this file, and keep those that it has.", "--json"),
    ] = None,
    correct: Annotated[
        bool, typer.Option("--correct", help="Instead, search the right programs.")
    ] = False,
    runs: Annotated[
        int | None,
        whole(1, 10**9, "With --correct: runs for each (3,000,000); with --rate: all cases."),
    ] = None,
    conform: Annotated[
        bool,
        typer.Option("--conform", help="Instead, run `conform` on each, one after the other."),
    ] = False,
    rate: Annotated[
        bool,
        typer.Option(
            "--rate", help="Instead, count the cases of random play that show the rare mistakes."
        ),
    ] = False,
    first: Annotated[
        int, whole(0, 10**9, "With --rate: the first chunk of cases, to go on with a count.")
    ] = 0,
) -> int:
    """Search for each listed mistake, and print the processor time to its first finding.

    Exit code 1: with --correct, something was found in a right program; with --conform, every check
    passed on a mistake; otherwise a mistake was not found.

    Example: scripts/mistakes --game wordle --budget 10
    """
    sides = [side for side, asked in ((True, with_rules), (False, without_rules)) if asked]
    sides = sides or [True, False]
    if correct:
        names = [name for name in correct_games() if not game or name in game]
        searches = [
            (name, side, number, part, seed)
            for number, part in enumerate(correct_parts(runs or 3_000_000))
            for name in names
            for side in sides
        ]
        return _correct(searches, jobs, json, results.read(json, seed))
    chosen = _chosen(only, game)
    if rate:
        return _rates([mistake for mistake in chosen if only or mistake.rare], runs, first, json)
    if conform:
        return _conform(chosen, jobs, seed)
    known = results.read(json, seed)
    asked = [(mistake.id, side) for mistake in chosen for side in sides]
    tasks = [
        (name, side, budget * CORES, CORES, seed, stored)
        for name, side in asked
        if not known.has(name, side, budget * CORES)
    ]
    for result in _in_processes(search, tasks, jobs):
        known.add(result)
        say(console(), line(result))
        results.write(json, known)
    found = [result for result in known.searches if (result.id, result.with_rules) in asked]
    for text in totals(found):
        say(console(), text)
    return exit_code(False, not all(result.found for result in found))


def _chosen(only: list[str] | None, games: list[str] | None) -> list[Mistake]:
    listed = mistakes()
    for name in only or ():
        if name not in {mistake.id for mistake in listed}:
            raise UsageError(f"{name}: no mistake has this id")
    chosen = [
        mistake
        for mistake in listed
        if (not only or mistake.id in only) and (not games or mistake.game in games)
    ]
    if not chosen:
        raise UsageError("no mistake is listed for this")
    return chosen


def _correct(
    wanted: list[tuple[str, bool, int, int, str]], jobs: int, json: Path | None, known: Results
) -> int:
    left = [task for task in wanted if not known.has_correct(*task[:4])]
    for result in _in_processes(search_correct, left, jobs):
        known.add_correct(result)
        for text in correct_line(result):
            say(console(), text)
        results.write(json, known)
    asked = {task[:2] for task in wanted}
    return exit_code(
        False,
        any(one.findings for one in known.correct if (one.game, one.with_rules) in asked),
    )


def _conform(chosen: list[Mistake], jobs: int, seed: str) -> int:
    done: list[Conformance] = []
    for mistake in chosen:
        done.append(conform_of(mistake.id, jobs, seed))
        say(console(), conform_line(done[-1]))
    failed = sum(bool(result.failed) for result in done)
    say(console(), f"conform fails on {failed} of {counted(len(done), 'mistake')}")
    return exit_code(False, failed < len(done))


def _rates(chosen: list[Mistake], runs: int | None, first: int, json: Path | None) -> int:
    """Count for each validator in turn, all its mistakes on the same cases."""
    groups: dict[tuple[str, str], list[Mistake]] = {}
    for mistake in chosen:
        groups.setdefault((mistake.game, mistake.validator), []).append(mistake)
    rows: list[dict[str, Any]] = []
    for group in groups.values():
        for rate in counted_chunks(group, runs or 10_000_000, first):
            say(console(), rate_line(rate.mistake, rate.measured, rate.next_chunk))
            rows.append(
                {"id": rate.mistake.id, "next_chunk": rate.next_chunk}
                | msgspec.to_builtins(rate.measured)
            )
            _write(json, rows)
    return exit_code(False)


def _in_processes(
    work: Callable[..., T], tasks: Iterable[tuple[Any, ...]], jobs: int
) -> Iterator[T]:
    """The results of tasks, each of which has a process of its own, as they end.

    Ends the processes if it is not read to its end, as by an interrupt.
    """
    context = get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        futures: list[Future[T]] = [pool.submit(work, *task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            for process in active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _write(path: Path | None, rows: Any) -> None:
    if path is not None:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(rows), indent=1) + b"\n")
