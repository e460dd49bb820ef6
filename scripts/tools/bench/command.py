"""The command of `scripts/bench`, and the texts of its figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Annotated

from channelsim.channel.cli.options import DAY, OutputForm, real, refuse, whole
from channelsim.channel.crypto import bls
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, print_json, say
from channelsim.channel.simulation.bounds import MOST_RATE
from channelsim.channel.system.interrupt import exit_code, finishing
from channelsim.games.amounts import counted
from scripts.tools.bench.crowded_spends import SHARES, Row, rows, show_outcomes
from scripts.tools.bench.figures import SEED, cards_game, measure, show_figures
from scripts.tools.bench.linked_peers import measure_channels, measure_waits
from scripts.tools.bench.long_channel import measure_long_channel
from scripts.tools.bench.measuring import Figures

THINKING = 1.0
"""Seconds that a person takes for a decision in a game with cards."""


def command(
    *,
    form: OutputForm,
    channels: Annotated[
        int | None,
        whole(1, 1000, "Instead, play in this many linked channels at once, in one process."),
    ] = None,
    batches: Annotated[
        int | None,
        whole(
            20,
            1_000_000,
            "Instead, play this many batches in one channel with its stores on disk, and measure"
            " its restart time, disk space and memory.",
        ),
    ] = None,
    hands: Annotated[
        int | None,
        whole(
            2,
            1000,
            "Instead, play this many hands of Hold'em with a person at the table, and measure how"
            " long each hand waits for its deck.",
        ),
    ] = None,
    crowd: Annotated[
        int | None,
        whole(
            1,
            MOST_RATE,
            "Instead, let others fill all blocks at this many mojos per cost, and measure which"
            " spends with a deadline are in with which maximum fee, pinned and not.",
        ),
    ] = None,
    block_every: Annotated[
        float, real(0.05, 3600, "With --channels: seconds between two blocks.")
    ] = 5.0,
    seconds: Annotated[float, real(1, DAY, "Measure for about this many seconds.")] = 20.0,
) -> int:
    """Measure hands against their cryptographic floor, and the Python rules against CLVM.

    Exit code 1: with --channels, a peer was late for a deadline; with --crowd, a spend was not in
    with a maximum fee that should suffice.

    Example: scripts/bench --json
    """
    as_json = form.as_json
    if crowd is not None:
        refuse("does not go with --crowd", channels=channels, batches=batches, hands=hands)
        return _crowded_blocks(crowd, as_json=as_json)
    if hands is not None:
        refuse("does not go with --hands", channels=channels, batches=batches)
        return _show(measure_waits(SEED, cards_game().name, hands, THINKING), _waits, as_json)
    if batches is not None:
        refuse("does not go with --batches", channels=channels)
        return _show(measure_long_channel(SEED, batches), _long_channel, as_json)
    if channels is not None:
        figures = measure_channels(SEED, channels, block_every)
        failed = figures["late"] > 0 or figures["closed"] < channels
        return _show(figures, _many_channels, as_json, failed=failed)
    with progress("bench", clock=seconds, still=True) as bar:
        figures = measure(seconds, bar.note)
    with finishing():
        if as_json:
            print_json(figures)
        else:
            show_figures(figures)
            if figures["interrupted"]:
                say(console(), "interrupted: figures that are missing were not measured")
    return exit_code(figures["interrupted"])


def _show(
    figures: Figures, lines: Callable[[Figures], Iterator[str]], as_json: bool, failed: bool = False
) -> int:
    """Print figures, as JSON or as these lines; the exit code."""
    if as_json:
        print_json(figures)
    else:
        for line in lines(figures):
            say(console(), line)
    return exit_code(False, failed)


def _many_channels(figures: Figures) -> Iterator[str]:
    """How many channels at once went."""
    yield (
        f"{counted(figures['channels'], 'channel')} at once in one process, on one node with a"
        f" block every {figures['block_seconds']:g} s: closed cleanly {figures['closed']}, late"
        f" {figures['late']}; seconds {figures['seconds']:g}, batches {figures['batches']:,}"
    )
    for reason in figures["reasons"]:
        yield f"    {reason}"


def _waits(figures: Figures) -> Iterator[str]:
    """How long each hand waited to begin, with a person at the table."""
    waits = ", ".join(f"{seconds:.2f}" for seconds in figures["waits"])
    yield (
        f"{figures['game']}, with a person who thinks for {figures['thinking_seconds']:g} s at"
        " every decision: seconds until each hand began, of which the first waits for its deck:"
        f" {waits}"
    )


def _long_channel(figures: Figures) -> Iterator[str]:
    """What many batches in one channel with its stores on disk take."""
    yield (
        f"a channel with stores on disk, batches {figures['batches']:,}, seconds"
        f" {figures['seconds']:g}: restart {figures['restart_seconds']:g} s; a batch takes"
        f" {counted(figures['bytes_per_batch'], 'byte')} of disk and"
        f" {figures['memory_per_batch']:,} of memory"
    )
    for look in figures["hidden_solution"]:
        yield (
            f"an old state of {counted(look['states'], 'state')}, whose solution the node"
            f" hides: found and preempted after {counted(look['calls'], 'call')} and"
            f" {counted(look['bytes'], 'byte')}; a later look"
            f" {counted(look['later_calls'], 'call')} and"
            f" {counted(look['later_bytes'], 'byte')}"
        )


def _crowded_blocks(rate: int, *, as_json: bool) -> int:
    """Owe spends in blocks that a crowd fills, and print which are in with which maximum fee.

    Exit code 1 if one is not in with a maximum that should suffice.
    """
    table: list[Row] = []
    interrupted = False
    with progress("bench", "row", still=True) as bar, bls.remembered():
        try:
            for row in rows(SEED, rate):
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
