"""Try single changes of the engine, drawn at random.

`python -m scripts.tools.engine_mutants [--mutants N] [--sessions N] [--seed TEXT] [--jobs J]`
prints those that go another way, and that nothing notices.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from pkgutil import walk_packages

from channelsim.channel.attack.generations import Pool, script
from channelsim.channel.crypto.hkdf import derive
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.chance import Chance
from scripts.tools.engine_mutants.changes import Mutant, mutants_of
from scripts.tools.engine_mutants.trials import RightSession, Trial, right_session, trial

PACKAGES = ("peer", "store", "session", "watch", "network")
"""The packages of the product that are changed: what a user runs, but for rules and commands."""

SCRIPTS = 240
"""The sessions without a change, of which those are run again that run a function."""


def main() -> None:
    """Print the mutants that nothing notices, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=200, help="how many changes")
    parser.add_argument("--sessions", type=int, default=60, help="the most sessions of each")
    parser.add_argument("--seed", default="mutants")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    mutants = Chance(derive(options.seed.encode(), "mutants")).draw(
        [*all_mutants()], options.mutants
    )
    context = get_context("fork")
    attacks = [
        script(Pool(), registry.names(), f"{options.seed}/mutants", number)
        for number in range(SCRIPTS)
    ]
    with context.Pool(options.jobs) as pool:
        rights = [one for one in pool.map(right_session, attacks) if not one.is_broken]
    trials = []
    # A process is for one mutant: its engine is wrong from then on.
    with context.Pool(options.jobs, _share, (rights,), maxtasksperchild=1) as pool:
        for done in pool.imap_unordered(partial(_tried, most=options.sessions), mutants, 1):
            trials.append(done)
            if done.different and not done.noticed:
                print(f"{_named(done.mutant)}: different in {done.different} of {done.reached}")
                sys.stdout.flush()
    print(summary(trials))


def all_mutants() -> Iterator[Mutant]:
    """The changes of all modules of these packages."""
    for package in PACKAGES:
        found = import_module(f"channelsim.channel.{package}")
        for module in walk_packages(found.__path__, f"{found.__name__}."):
            if not module.ispkg:
                yield from mutants_of(module.name)


def summary(trials: Sequence[Trial]) -> str:
    """The sums, in a line."""
    noticed = sum(bool(one.noticed) for one in trials)
    missed = sum(bool(one.different and not one.noticed) for one in trials)
    same = len(trials) - noticed - missed
    effective = noticed + missed
    share = f" ({100 * noticed // effective} %)" if effective else ""
    return (
        f"{counted(len(trials), 'mutant')}: {same} change no session, and of the other {effective},"
        f" {noticed} are noticed{share}"
    )


_RIGHTS: list[RightSession] = []


def _share(rights: list[RightSession]) -> None:
    _RIGHTS[:] = rights
    # Tasks of a wrong engine may end by errors that nobody takes.
    logging.getLogger("asyncio").disabled = True


def _tried(mutant: Mutant, most: int) -> Trial:
    return trial(mutant, _RIGHTS, most)


def _named(mutant: Mutant) -> str:
    module = mutant.module.removeprefix("channelsim.channel.")
    return f"{module}:{mutant.line} {mutant.function}: {mutant.change}"


if __name__ == "__main__":
    main()
