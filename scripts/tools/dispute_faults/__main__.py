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

from channelsim.channel.crypto import bls
from scripts.tools.dispute_faults.search import FaultReport, FaultStatus, examine
from scripts.tools.dispute_faults.table import ARGUED, faults


def main() -> int:
    """Print a line for each fault, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="faults, or parts of their names")
    parser.add_argument("--seed", default="faults")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
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
        results = pool.map(partial(_examined, seed=options.seed), chosen)
        for name, (outcome, is_open, line) in zip(chosen, results, strict=True):
            print(line, flush=True)
            outcomes[outcome] += 1
            unnoticed += [name] * is_open
    statuses = ", ".join(f"{outcomes[status]} {status.value}" for status in FaultStatus)
    print(f"{len(chosen)} faults: {statuses}; open: {', '.join(unnoticed) or 'none'}")
    return bool(unnoticed)


def _examined(name: str, seed: str) -> tuple[FaultStatus, bool, str]:
    """The result for the fault of this name, whether it is open, and its line."""
    (fault,) = (fault for fault in faults() if fault.name == name)
    # Its runs begin alike: no message is signed twice.
    with bls.remembered():
        report = examine(fault, seed)
    return report.outcome, report.is_open, _line(report)


def _line(report: FaultReport) -> str:
    fault, scenario = report.fault, report.scenario
    line = f"{report.outcome.value}: {fault.name} ({', '.join(fault.about)}), {fault.what}"
    if scenario is not None:
        who = f"{scenario.adversary}@{scenario.step}" if scenario.adversary else "honest play"
        return f"{line}: by {who}: {report.promise}: {report.how}"
    return f"{line}: {ARGUED[fault.name]}" if fault.name in ARGUED else line


if __name__ == "__main__":
    sys.exit(main())
