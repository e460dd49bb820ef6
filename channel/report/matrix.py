"""The results of many disputes at a terminal: a row per adversary, a column per phase."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from channelsim.channel.report.tables import Cell as Shown
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import say
from channelsim.channel.simulation.run_results import RunResult, columns
from channelsim.channel.simulation.sweep import Cell, SweepTotals, dealer_of_menus
from channelsim.games import registry
from channelsim.games.amounts import counted

LETTERS = {
    RunResult.NO_CHANNEL: "n",
    RunResult.CLOSED: "c",
    RunResult.SLASHED: "s",
    RunResult.PREEMPTED: "p",
    RunResult.PLAYED: "m",
    RunResult.PAID: "u",
}
"""A letter for each outcome; a count follows it if there are several."""

MOST_FINDINGS = 20


def show(tally: SweepTotals, console: Console) -> None:
    """Print the matrix, its legend, the counts, and what broke."""
    used = {where for row in tally.matrix.values() for where in row}
    shown = [
        where for where in columns(game.name for game in registry.channel_games()) if where in used
    ]
    rows = [
        (name, *(_cell(row.get(where)) for where in shown)) for name, row in tally.matrix.items()
    ]
    show_table(console, ("adversary", *shown), rows, left=1 + len(shown))
    legend = (f"{LETTERS[one]} {one.value}" for one in RunResult)
    say(console)
    say(console, f"The honest peer: {', '.join(legend)}; ! a broken promise", "dim")
    say(
        console,
        f"{counted(tally.runs, 'run')} ({tally.idle} without anything to check):"
        f" {counted(len(tally.broken), 'broken promise')},"
        f" {counted(len(tally.exceptions), 'exception')};"
        f" {counted(tally.blocks, 'block')}, {counted(tally.spends, 'spend')}"
        f" ({tally.paid} with a fee of the honest peer),"
        f" {counted(tally.reorgs, 'reorganisation')}",
    )
    if (dealer := dealer_of_menus()) is not None:
        say(console, f"Cards of decks are from a {dealer}.")
    if tally.interrupted:
        console.print("interrupted: not every adversary was run")
    for scenario, one in tally.broken[:MOST_FINDINGS]:
        say(console, f"{scenario}: {one.promise}: {one.how}", "red")
    for scenario, text in tally.exceptions[:MOST_FINDINGS]:
        say(console, f"{scenario}: {text}", "red")


def _cell(cell: Cell | None) -> Shown:
    if cell is None:
        return ""
    if cell.broken:
        return Text(f"{cell.broken}!", "red")
    counts = ((LETTERS[one], cell.results[one.value]) for one in RunResult)
    return " ".join(f"{letter}{count if count > 1 else ''}" for letter, count in counts if count)
