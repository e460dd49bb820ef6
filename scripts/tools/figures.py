"""Print the figures that a change of the structure must not make worse.

The size of the product, always; with `--checks`, how many mutants are killed, how many planted
faults are noticed, and how many lines the quick tests run. With `--since COMMIT`, all of these for
that commit too: its files are checked out beside this folder, and installed there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scripts.tools import ROOT
from scripts.tools.tokens import LAYERS, show_sizes

PRODUCT = ("clsp", "games", "channel")
"""The folders whose lines are counted."""

INSTALL = "extra=test; . scripts/env.sh; .venv/bin/python -m pip install --quiet 'coverage>=7.6'"


def main() -> None:
    """Print the figures that are asked for."""
    parser = argparse.ArgumentParser(prog="scripts/figures", description=__doc__)
    parser.add_argument("folders", nargs="*", default=list(LAYERS), help="of the sizes")
    parser.add_argument("--since", metavar="COMMIT", help="also the differences from this commit")
    parser.add_argument("--checks", action="store_true", help="also what the checks find (hours)")
    parser.add_argument("--games", default="spacepoker,calpoker", help="whose mutants are hunted")
    parser.add_argument("--seconds", default="60", help="of work for each mutant (60)")
    options = parser.parse_args()
    show_sizes(options.since, options.folders)
    if options.checks:
        games = options.games.split(",")
        now = dict(_checks(ROOT, games, options.seconds))
        before: dict[str, int] = {}
        if options.since:
            with _checkout(options.since) as folder:
                before = dict(_checks(folder, games, options.seconds))
        for name, count in now.items():
            print(f"{name:44} {count:>9,}" + (f"  (was {before[name]:,})" if before else ""))


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """A folder with the files of a commit."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "before"
        subprocess.run(["git", "worktree", "add", "--detach", path, commit], cwd=ROOT, check=True)
        try:
            yield path
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", path], cwd=ROOT, check=True)


def _checks(folder: Path, games: list[str], seconds: str) -> Iterator[tuple[str, int]]:
    """The figures of what is in this folder, by names."""
    subprocess.run(["bash", "-euc", INSTALL], cwd=folder, check=True)
    for game in games:
        total = _document(folder, "mutants", game, "--seconds", seconds, "--json")["total"]
        yield f"mutants of {game}", total["made"]
        yield f"mutants of {game} that are killed", total["killed"]
    faults = _printed(folder, "-m", "scripts.tools.attack_faults", "--runs", "30")
    yield "planted faults", len(faults) - 1
    yield "planted faults that are noticed", int(faults[-1].split()[0])
    tests = ("-m", "pytest", "-p", "no:xdist")
    _run(folder, "-m", "coverage", "run", f"--source={','.join(PRODUCT)}", *tests)
    _run(folder, "-m", "coverage", "json", "--quiet", "-o", "build-coverage.json")
    file = folder / "build-coverage.json"
    lines = json.loads(file.read_bytes())["totals"]
    file.unlink()
    yield "lines", lines["num_statements"]
    yield "lines that the quick tests run", lines["covered_lines"]


def _document(folder: Path, *arguments: str) -> dict[str, Any]:
    """The document that a command prints. Exit code 1 is a finding, which its figures have."""
    command = folder / ".venv" / "bin" / "channelsim"
    ran = subprocess.run([command, *arguments, "--quiet"], cwd=folder, stdout=subprocess.PIPE)
    if ran.returncode not in (0, 1):
        sys.exit(f"scripts/figures: `channelsim {' '.join(arguments)}` failed in {folder}")
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def _printed(folder: Path, *arguments: str) -> list[str]:
    """The lines that a tool prints. Exit code 1 is a finding, which its lines have."""
    python = folder / ".venv" / "bin" / "python"
    ran = subprocess.run([python, *arguments], cwd=folder, stdout=subprocess.PIPE, text=True)
    if ran.returncode not in (0, 1):
        sys.exit(f"scripts/figures: `python {' '.join(arguments)}` failed in {folder}")
    return ran.stdout.splitlines()


def _run(folder: Path, *arguments: str) -> None:
    if subprocess.run([folder / ".venv" / "bin" / "python", *arguments], cwd=folder).returncode:
        sys.exit(f"scripts/figures: `python {' '.join(arguments)}` failed in {folder}")


if __name__ == "__main__":
    main()
