"""The results of many disputes at a terminal: a row per adversary, a column per phase."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from channelsim.channel.documents.disputes import DisputesDocument
from channelsim.channel.report.tables import Cell as Shown
from channelsim.channel.report.tables import show_table
from channelsim.channel.report.terminal import say
from channelsim.channel.simulation.run import RunResult, columns
from channelsim.channel.simulation.sweep import Cell
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


def show(document: DisputesDocument, console: Console) -> None:
    """Print the matrix, its legend, what broke, and the counts."""
    used = {where for row in document.matrix.values() for where in row}
    shown = [
        where for where in columns(game.name for game in registry.channel_games()) if where in used
    ]
    rows = [
        (name, *(_cell(row.get(where)) for where in shown)) for name, row in document.matrix.items()
    ]
    show_table(console, ("adversary", *shown), rows, left=1 + len(shown))
    legend = (f"{LETTERS[one]} {one.value}" for one in RunResult)
    say(console)
    say(console, f"The honest peer: {', '.join(legend)}; ! a broken promise", "dim")
    if document.dealer is not None:
        say(console, f"Cards of decks are from a {document.dealer}.")
    if document.interrupted:
        console.print("interrupted: not every adversary was run")
    for finding in document.findings[:MOST_FINDINGS]:
        say(console, f"{finding.line} ({counted(finding.times, 'time')})", "red")
        if finding.replay:
            say(console, finding.replay)
    if len(document.findings) > MOST_FINDINGS:
        say(console, f"and {counted(len(document.findings) - MOST_FINDINGS, 'more finding')}")
    say(
        console,
        f"{counted(document.runs, 'run')} ({document.idle} without anything to check);"
        f" {counted(document.blocks, 'block')}, {counted(document.spends, 'spend')}"
        f" ({document.paid} with a fee),"
        f" {counted(document.reorgs, 'reorganisation')}",
    )
    say(console, document.summary)


def _cell(cell: Cell | None) -> Shown:
    if cell is None:
        return ""
    if cell.broken:
        return Text(f"{cell.broken}!", "red")
    counts = ((LETTERS[one], cell.results[one.value]) for one in RunResult)
    return " ".join(f"{letter}{count if count > 1 else ''}" for letter, count in counts if count)
