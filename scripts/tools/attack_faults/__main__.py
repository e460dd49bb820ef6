"""Search for each fault.

`python -m scripts.tools.attack_faults [--runs N] [--out FILE] [NAME ...]` prints a line for each.

Several of it may work on one FILE. Started again, or with more runs, it goes on where they were.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from channelsim.channel.crypto import bls
from scripts.tools.attack_faults.planting import PARTS, Fault
from scripts.tools.attack_faults.search import Result, ResultFile, Search, examine
from scripts.tools.attack_faults.stream import Stream
from scripts.tools.attack_faults.table import faults

FORGET = 50
"""Faults after which what was signed is forgotten, to bound the memory."""


def main() -> None:
    """Print a line for each fault, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="faults, or parts of the product")
    parser.add_argument("--runs", type=int, default=100, help="the most sessions of each fault")
    parser.add_argument(
        "--tries", type=int, default=1_000_000, help="the most of those that reach the fault"
    )
    parser.add_argument("--seed", default="planted")
    parser.add_argument("--shrink", type=int, default=12, help="the most sessions to shrink one")
    parser.add_argument("--fast", action="store_true", help="search with a keyed hash for BLS")
    parser.add_argument("--out", type=Path, help="the file of results")
    parser.add_argument("--sessions", type=Path, help="the file of sessions without a fault")
    parser.add_argument("--list", action="store_true", help="list the faults, and run nothing")
    options = parser.parse_args()
    wanted = {*options.names}
    chosen = [fault for fault in faults() if not wanted or {fault.name, fault.part} & wanted]
    if options.list:
        for fault in chosen:
            print(f"{fault.part}: {fault.name}: {fault.what}")
        parts = Counter(fault.part for fault in chosen)
        print(f"{len(chosen)} faults: {', '.join(f'{parts[part]} {part}' for part in PARTS)}")
        return
    with TemporaryDirectory() as folder:
        file = ResultFile(options.out or Path(folder) / "results.json", options.seed)
        try:
            file.read()
        except ValueError as error:
            sys.exit(str(error))
        path = options.sessions or Path(folder) / "sessions.jsonl"
        stream = Stream(chosen, options.seed, path, fast=options.fast)
        search = Search(options.runs, stream, options.shrink, options.fast, options.tries)
        try:
            results = _searched(chosen, file, search)
        except ValueError as error:
            sys.exit(str(error))
    noticed = sum(bool(result.noticed) for result in results)
    print(f"{noticed} of {len(results)} noticed")


def _searched(chosen: list[Fault], file: ResultFile, search: Search) -> list[Result]:
    """Search for faults that nobody else searches for, and print a line for each."""
    results: list[Result] = []
    with ExitStack() as memory:
        for count, fault in enumerate(file.claimed(chosen)):
            if count % FORGET == 0:
                memory.close()
                memory.enter_context(bls.remembered())
            result = file.read().results.get(fault.name, Result(fault.name))
            unfinished = result.sessions < search.runs and result.reached < search.tries
            if not result.noticed and unfinished:
                result = examine(fault, result, search)
                file.write(result)
                print(_line(fault, result), flush=True)
            results.append(result)
    return results


def _line(fault: Fault, result: Result) -> str:
    if not result.noticed and not result.reached:
        return f"{fault.name} ({fault.part}, {fault.what}): not reached in {result.sessions}"
    if not result.noticed:
        return (
            f"{fault.name} ({fault.part}, {fault.what}): not noticed in {result.sessions},"
            f" reached in {result.reached}"
        )
    actions = result.script.actions if result.script is not None else ()
    scripted = "; ".join(action.text for action in actions) or "no action"
    return (
        f"{fault.name} ({fault.part}, {fault.what}): {result.noticed}: {result.monitor}"
        f" ({scripted}): {result.text[:90]}"
    )


if __name__ == "__main__":
    main()
