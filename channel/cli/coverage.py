"""`channelsim coverage`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from channel.cli.progress import progress
from channel.interrupt import exit_code, finishing
from channel.lab.corpus import read
from channel.lab.page import page
from channel.lab.reached import WIDTH, Reached, Share, reached
from channel.lab.target import load
from channel.output import opened

SHOWN = 5
"""How many cases with another outcome than expected are told; the rest are counted."""


def coverage(target: str, *, corpus: Path, html: Path | None, json: bool) -> int:
    """Run a corpus and tell what it reaches; the exit code."""
    with opened("--html", html) as file:
        interrupted = False
        with progress("coverage", "cases") as bar:
            tried = load(target)
            found = reached(tried, ())
            try:
                entries = []
                for entry in read(tried, corpus):
                    entries.append(entry)
                    bar(len(entries), note=f"{len(entries):,} cases read")
                for number, entry in enumerate(entries, 1):
                    found[entry.program].add(entry)
                    bar(number, len(entries))
            except KeyboardInterrupt:
                interrupted = True
        with finishing():
            if html is not None and not interrupted:
                file.write(page(tried.name, found).encode())
                file.finish()
            if json:
                told = document(tried.name, found, interrupted)
                print(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
            else:
                _print(tried.name, found)
                if interrupted:
                    left = f"; {html} is left as it was" if html else ""
                    print(f"interrupted: not all cases were run{left}")
    return exit_code(interrupted)


def document(name: str, found: dict[str, Reached], interrupted: bool = False) -> dict[str, Any]:
    """What was reached as JSON data."""
    return {
        "target": name,
        "programs": {
            one.name: {
                "cases": one.entries,
                **msgspec.to_builtins(one.total),
                "functions": msgspec.to_builtins(one.functions),
                "unreached": [
                    {"function": function, "code": code} for function, code in one.unreached()
                ],
                "differs": one.differs,
            }
            for one in found.values()
        },
        "interrupted": interrupted,
    }


def _print(name: str, found: dict[str, Reached]) -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 100)
    table = Table(title=f"what the corpus reaches of {name}")
    table.add_column("program, function")
    for heading in ("cases", "nodes", "branches"):
        table.add_column(heading, justify="right")
    for one in found.values():
        table.add_row(one.name, f"{one.entries:,}", *_cells(one.total), style="bold")
        for function, share in one.functions.items():
            if len(one.functions) > 1:
                table.add_row(f"  {function}", "", *_cells(share))
    console.print(table)
    for one in found.values():
        for line in _never(one):
            console.print(line, markup=False, soft_wrap=True)
    for one in found.values():
        for text in one.differs[:SHOWN]:
            console.print(f"{one.name}: {text}", markup=False, soft_wrap=True)
        if len(one.differs) > SHOWN:
            console.print(f"{one.name}: and {len(one.differs) - SHOWN} more")


def _cells(share: Share) -> tuple[str, str]:
    return (
        f"{share.nodes_reached}/{share.nodes}",
        f"{share.branches_reached}/{share.branches}",
    )


def _never(one: Reached) -> Iterator[str]:
    """The functions with a place that was never reached; such lines are marked."""
    if one.total.whole:
        return
    yield f"\n{one.name}: what is marked with ! was never reached"
    for function, lines in one.listing():
        if all(piece.reached for line in lines for piece in line.pieces):
            continue
        yield f"{function.name} {'' if len(function.arguments) > WIDTH else function.arguments}"
        for line in lines:
            never = any(not piece.reached for piece in line.pieces)
            yield f"{'!' if never else ' '} {line.text}"
