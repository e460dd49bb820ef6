"""Plant faults in the honest peer of disputes, and print what notices each.

`python -m scripts.tools.dispute_faults [--seed SEED] [--jobs N] [NAME ...]` prints a line for each
fault, or for those with these parts of names. Each check of the engine is left out in turn, and
many things are done wrongly. Exit code 1: a fault went unnoticed, without a stored reason.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from channelsim.games.amounts import counted
from scripts.tools.dispute_faults.search import FaultStatus, examined
from scripts.tools.dispute_faults.table import faults


def main() -> int:
    """Print a line for each fault, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="faults, or parts of their names")
    parser.add_argument("--seed", default="faults")
    parser.add_argument("--jobs", type=int, default=1, choices=range(1, 257), metavar="N")
    options = parser.parse_args()
    chosen = [
        fault.name
        for fault in faults()
        if not options.names or any(part in fault.name for part in options.names)
    ]
    if not chosen:
        sys.exit(f"no fault is called {' or '.join(map(repr, options.names))}")
    outcomes: Counter[FaultStatus] = Counter()
    unnoticed: list[str] = []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        results = pool.map(partial(examined, seed=options.seed), chosen)
        for name, (outcome, is_open, line) in zip(chosen, results, strict=True):
            print(line, flush=True)
            outcomes[outcome] += 1
            unnoticed += [name] * is_open
    statuses = ", ".join(f"{outcomes[status]} {status.value}" for status in FaultStatus)
    print(f"{counted(len(chosen), 'fault')}: {statuses}; open: {', '.join(unnoticed) or 'none'}")
    return bool(unnoticed)


if __name__ == "__main__":
    sys.exit(main())
