"""Measure and print the figures of `channelsim bench`, each with its spread.

Absolute times depend on the machine and its load. Compare the ratios: both sides of a ratio are
measured in turns, in the same run.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from functools import partial
from time import perf_counter
from typing import Any

from channelsim.channel.bench.campaign_speed import measure_campaign
from channelsim.channel.bench.crowded_spends import SHARES, Row, show_outcomes
from channelsim.channel.bench.crowded_spends import rows as crowded_rows
from channelsim.channel.bench.deck_preparation import measure_deck
from channelsim.channel.bench.disputed_hand import measure_disputed
from channelsim.channel.bench.judging import comparisons
from channelsim.channel.bench.linked_peers import (
    measure_channels,
    measure_linked,
    measure_waits,
)
from channelsim.channel.bench.long_channel import measure_long_channel
from channelsim.channel.bench.measuring import seconds_of, spread
from channelsim.channel.bench.signed_hand import measure_signed
from channelsim.channel.bench.slash_costs import measure_slashes
from channelsim.channel.bench.stored_batch import measure_stored
from channelsim.channel.crypto import bls
from channelsim.channel.lab.crosscheck.speed import speed
from channelsim.channel.lab.targets.target import of_game
from channelsim.channel.report.progress import progress
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.contract import Game

SEED = "bench"
THINKING = 1.0
"""Seconds that a person takes for a decision in a game with cards."""

LEAST = 3
"""The fewest measurements of a figure, however little time there is."""


def main(seconds: float, *, as_json: bool) -> int:
    """Measure and print everything; returns the exit code."""
    with progress("bench", clock=seconds, still=True) as bar:
        figures = measure(seconds, bar.note)
    with finishing():
        if as_json:
            print_json(figures)
        else:
            _print(figures)
            if figures["interrupted"]:
                say(console(), "interrupted: figures that are missing were not measured")
    return exit_code(figures["interrupted"])


def many_channels(channels: int, block_seconds: float, *, as_json: bool) -> int:
    """Play in many channels at once, and print how that went; exit code 1 if a peer was late."""
    figures = measure_channels(SEED, channels, block_seconds)
    if as_json:
        print_json(figures)
    else:
        say(
            console(),
            f"{counted(channels, 'channel')} at once in one process, on one node with a block every"
            f" {block_seconds:g} s: closed cleanly {figures['closed']}, late {figures['late']};"
            f" seconds {figures['seconds']:g}, batches {figures['batches']:,}",
        )
        for reason in figures["reasons"]:
            say(console(), f"    {reason}")
    return exit_code(False, failed=figures["late"] > 0 or figures["closed"] < channels)


def waits_for_decks(hands: int, *, as_json: bool) -> int:
    """Play hands with a person at the table, and print how long each waited to begin."""
    game = _cards_game().name
    figures = measure_waits(SEED, game, hands, THINKING)
    if as_json:
        print_json(figures)
    else:
        waits = ", ".join(f"{seconds:.2f}" for seconds in figures["waits"])
        say(
            console(),
            f"{game}, with a person who thinks for {THINKING:g} s at every decision: seconds"
            f" until each hand began, of which the first waits for its deck: {waits}",
        )
    return 0


def long_channel(batches: int, *, as_json: bool) -> int:
    """Play many batches in one channel with its stores on disk, and print what that takes."""
    figures = measure_long_channel(SEED, batches)
    if as_json:
        print_json(figures)
    else:
        say(
            console(),
            f"a channel with stores on disk, batches {figures['batches']:,}, seconds"
            f" {figures['seconds']:g}: restart {figures['restart_seconds']:g} s; a batch takes"
            f" {counted(figures['bytes_per_batch'], 'byte', ',')} of disk and"
            f" {figures['memory_per_batch']:,} of memory",
        )
        for look in figures["hidden_solution"]:
            say(
                console(),
                f"an old state of {counted(look['states'], 'state', ',')}, whose solution the node"
                " hides: found"
                f" and preempted after {counted(look['calls'], 'call', ',')} and"
                f" {counted(look['bytes'], 'byte', ',')}; a later look"
                f" {counted(look['later_calls'], 'call', ',')} and"
                f" {counted(look['later_bytes'], 'byte', ',')}",
            )
    return 0


def crowded_blocks(rate: int, *, as_json: bool) -> int:
    """Owe spends in blocks that a crowd fills, and print which are in with which maximum fee.

    Exit code 1 if one is not in with a maximum that should suffice.
    """
    table: list[Row] = []
    interrupted = False
    with progress("bench", "row", still=True) as bar, bls.remembered():
        try:
            for row in crowded_rows(SEED, rate):
                table.append(row)
                bar(len(table))
        except KeyboardInterrupt:
            interrupted = True
    failed = not all(row.as_promised for row in table)
    with finishing():
        if as_json:
            figures = {"rate": rate, "shares": SHARES, "rows": [asdict(row) for row in table]}
            print_json({**figures, "interrupted": interrupted})
        else:
            show_outcomes(console(), rate, table)
            if interrupted:
                say(console(), "interrupted: rows that are missing were not measured")
    return exit_code(interrupted, failed=failed)


def measure(
    seconds: float, notify: Callable[[str], None] = lambda what: None, least: int = LEAST
) -> dict[str, Any]:
    """Measure all figures, as JSON data, within about `seconds`, each at least `least` times.

    `notify` gets the name of each before it is measured. After an interrupt the rest is missing.
    """
    found: dict[str, dict[str, Any]] = {}
    interrupted = False
    try:
        for section, name, work in _works(seconds / 5, least):
            notify(f"{section.replace('_', ' ')} {name}")
            figures = work()
            found.setdefault(section, {}).update({name: figures} if name else figures)
    except KeyboardInterrupt:
        interrupted = True
    return {**_summary(found), "interrupted": interrupted}


def _games() -> tuple[Game, ...]:
    """The games that have all their programs, but those that only have programs of others."""
    found: list[Game] = []
    programs: set[bytes] = set()
    for game in registry.usable():
        own = {program.hash for program in game.programs.values()}
        if not game.missing and not own <= programs:
            found.append(game)
            programs |= own
    return tuple(found)


def _cards_game() -> Game:
    """The game by which games with a deck are measured."""
    games = registry.channel_games()
    return next(game for game in games if game.deck_positions and game.slash_costs)


def _works(share: float, least: int) -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """List the measurements: the section, the name in it (if it has several), and the work."""
    games = tuple(game.name for game in registry.channel_games() if not game.deck_positions)
    for name in (*games, _cards_game().name):
        yield "signed_hand", name, partial(measure_signed, name, SEED, share, least)
    for name in games:
        yield "disputed_hand", name, partial(measure_disputed, name, SEED, share / 2, least)
    yield "stored_batch", "", partial(measure_stored, games[-1], SEED, share / 2, least)
    yield "linked_peers", "", partial(measure_linked, SEED, share / 2, least)
    yield "deck_preparation", "", partial(measure_deck, SEED, share / 2, least)
    for game in registry.channel_games():
        if game.slash_costs:
            yield "slash_costs", game.name, partial(measure_slashes, game, SEED)
    for name, compare in comparisons(_games(), SEED, share, least).items():
        yield "python_to_clvm", name, compare
    for name in (game.name for game in _games()):
        yield "crosscheck", name, partial(_measure_crosscheck, name, share / 4, least)
    yield "campaign", "", partial(measure_campaign, _games()[0], SEED, share, least)
    yield "rates", "", partial(_measure_rates, share, least)
    yield "import_channel", "", partial(_measure_import, least)


def _summary(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Put a headline before each section that was measured."""
    summary: dict[str, Any] = {}
    for section, figures in found.items():
        match section:
            case "signed_hand" | "disputed_hand":
                worst = max(hand["ratio"]["median"] for hand in figures.values())
                summary[f"{section}_ratio_to_floor"] = worst
            case "stored_batch":
                summary["stored_batch_ratio"] = figures["ratio"]["median"]
            case "linked_peers":
                summary["batches_per_second_over_tls"] = round(
                    figures["batches_per_second"]["median"]
                )
            case "deck_preparation":
                summary["deck_preparation_ratio_to_floor"] = figures["ratio"]["median"]
            case "slash_costs":
                every = figures.values()
                for what in ("ratio", "of_block", "whole_of_block"):
                    summary[f"slash_{what}"] = max(one[what]["most"] for one in every)
            case "python_to_clvm":
                summary["python_ratio_to_clvm"] = {
                    name: figure["ratio"]["median"] for name, figure in figures.items()
                }
            case "crosscheck":
                least = min(one["ratio"]["median"] for one in figures.values())
                summary["crosscheck_ratio_to_clvm"] = least
            case "campaign":
                summary["campaign_two_workers_to_one"] = figures["two_to_one"]["median"]
                summary["campaign_overhead"] = figures["overhead"]["median"]
            case "rates":
                for name, rate in figures.items():
                    summary[f"{name}_per_second"] = round(rate["median"])
            case "import_channel":
                summary["import_channel_seconds"] = figures["median"]
        summary[section] = figures
    return summary


# --- single figures ------------------------------------------------------------------------------


def _measure_crosscheck(game: str, seconds: float, least: int) -> dict[str, Any]:
    """Compare the speed of a crosscheck with that of the bare runs."""
    found = speed(of_game(registry.get(game)), SEED, seconds, least)
    return {figure: spread(values) for figure, values in found.items()}


def _measure_rates(seconds: float, least: int) -> dict[str, Any]:
    """Measure each game's own benchmarks, in times a second."""
    prepared: dict[str, Callable[[], int]] = {}
    for game in _games():
        for benchmark, prepare in game.benchmarks.items():
            work = prepare()
            if work is not None:
                key = benchmark if benchmark not in prepared else f"{game.name}/{benchmark}"
                prepared[key] = work
    values: dict[str, list[float]] = {name: [] for name in prepared}
    until = perf_counter() + seconds
    while perf_counter() < until or min(map(len, values.values()), default=least) < least:
        for name, work in prepared.items():
            start = perf_counter()
            done = work()
            values[name].append(done / (perf_counter() - start))
    return {name: spread(found) for name, found in values.items()}


def _measure_import(rounds: int) -> dict[str, float]:
    """Measure the seconds that `import channelsim.channel` adds to the start of Python."""
    with_it, without = [], []
    for _ in range(rounds):
        with_it.append(seconds_of(lambda: _python("import channelsim.channel")))
        without.append(seconds_of(lambda: _python("pass")))
    return spread(max(a - b, 0.0) for a, b in zip(with_it, without, strict=True))


def _python(code: str) -> None:
    # An interrupt from the terminal reaches this process too; ours reports it.
    subprocess.run([sys.executable, "-c", code], check=True, stderr=subprocess.DEVNULL)


# --- for people ---------------------------------------------------------------------------------


def _print(figures: dict[str, Any]) -> None:
    out = console()
    table: list[tuple[str, ...]] = []
    for game, hand in figures.get("signed_hand", {}).items():
        _row(table, f"{game}: signed hand / floor", hand["ratio"])
        _row(table, f"{game}: signed hand, ms", hand["milliseconds"])
    for game, hand in figures.get("disputed_hand", {}).items():
        _row(table, f"{game}: disputed hand / floor", hand["ratio"])
        _row(table, f"{game}: disputed hand / bare calls", hand["ratio_to_bare_calls"])
        _row(table, f"{game}: disputed hand, ms", hand["milliseconds"])
    if stored := figures.get("stored_batch"):
        _row(table, "a batch with stores on disk / without", stored["ratio"])
        _row(table, "a wait for the disk, which that leaves out, ms", stored["sync_milliseconds"])
        _row(table, "synchronised writes of a batch", stored["writes_per_batch"])
    if linked := figures.get("linked_peers"):
        _row(table, "batches a second over loopback TLS", linked["batches_per_second"])
        _row(table, "a batch over loopback TLS / floor", linked["ratio"])
    if deck := figures.get("deck_preparation"):
        _row(table, "preparing a deck / floor", deck["ratio"])
        _row(table, "preparing a deck, both sides, s", deck["seconds"])
    for name, slashes in figures.get("slash_costs", {}).items():
        _row(table, f"{name}: cost of a slash / the design's", slashes["ratio"])
        _row(table, f"{name}: that cost, share of a block", slashes["of_block"])
        _row(table, f"{name}: a whole slash, share of a block", slashes["whole_of_block"])
    for name, figure in figures.get("python_to_clvm", {}).items():
        _row(table, f"{name}: Python / CLVM time", figure["ratio"])
    for name, figure in figures.get("crosscheck", {}).items():
        _row(table, f"{name}: crosscheck / CLVM, cases a second", figure["ratio"])
        _row(table, f"{name}: crosscheck, cases a second", figure["cases_per_second"])
    if campaign := figures.get("campaign"):
        _row(table, "a campaign's work by two workers / by one", campaign["two_to_one"])
        _row(table, "the campaign engine's own time / the workers'", campaign["overhead"])
    for name, rate in figures.get("rates", {}).items():
        _row(table, f"{name}, a second", rate)
    if "import_channel" in figures:
        _row(table, "import channelsim.channel, s", figures["import_channel"])
    headings = ("figure", "median", "least", "most")
    show_table(out, headings, table, title="measured in one run")
    for game, hand in figures.get("signed_hand", {}).items():
        say(
            out,
            f"{game}: a hand makes {hand['signatures_per_hand']} signatures,"
            f" {hand['verifications_per_hand']} verifications and"
            f" {hand['multiplications_per_hand']} multiplications in the group of a deck; the floor"
            " is their cost here.",
        )
    if deck:
        say(
            out,
            f"A deck takes {deck['multiplications']:,} multiplications in the group; the floor is"
            " their cost in a bare loop.",
        )
    if "disputed_hand" in figures:
        say(
            out,
            "A disputed hand's floor is its signatures, its validator runs and the node's own work;"
            " the bare calls are each signature, check and run once.",
        )


def _row(table: list[tuple[str, ...]], name: str, figure: dict[str, float]) -> None:
    values: Iterable[float] = (figure["median"], figure["least"], figure["most"])
    cells = (f"{value:,.0f}" if value >= 1000 else f"{value:.3f}" for value in values)
    table.append((name, *cells))
