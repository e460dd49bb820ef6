"""Situations and goals that guided scripts of `attack` reach, and as many that are only drawn.

`python -m scripts.tools.guidance [--runs N] [--seed S] [GAME ...]` runs both in fast mode with the
same seeds, and prints a line after every 50 sessions. Half of the guided scripts are the drawn
ones.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import AttackTotals, attack_fast, default_games
from channelsim.channel.attack.drawing import draw, swept
from channelsim.channel.attack.generations import GuidedSearch
from channelsim.channel.attack.goals import reached as goals_of
from channelsim.channel.attack.remembering import remembered
from channelsim.channel.attack.session import Session
from channelsim.games.amounts import counted

EVERY = 50
"""Sessions between two lines."""


def drawn(games: Sequence[str], seed: str, runs: int) -> Iterator[Session | None]:
    """Sessions of scripts that are drawn."""
    return (
        _session(draw(games, f"{seed}/{number}", adversaries=swept(seed, number)))
        for number in range(runs)
    )


def guided(games: Sequence[str], seed: str, runs: int) -> Iterator[Session | None]:
    """Sessions of scripts that are guided by those before."""
    search = GuidedSearch(games, seed)
    for _ in range(runs):
        attack = search.next()
        session = _session(attack)
        if session is not None:
            search.learn(attack, session.done, session.situations)
        yield session


def _session(attack: Attack) -> Session | None:
    with remembered():
        return attack_fast(attack, AttackTotals())


def reached(sessions: Iterator[Session | None], tell: Callable[[str], None]) -> tuple[int, int]:
    """Tell how much some sessions reach; the situations and the goals of all."""
    situations, goals = set[str](), set[str]()
    for number, session in enumerate(sessions, 1):
        if session is not None:
            situations.update(session.situations)
            goals.update(goals_of(session))
        if number % EVERY == 0:
            reach = f"{counted(len(situations), 'situation')}, {counted(len(goals), 'goal')}"
            tell(f"{number:,} sessions: {reach}")
    return len(situations), len(goals)


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=default_games())
    parser.add_argument("--runs", type=int, default=700)
    parser.add_argument("--seed", default="guidance")
    options = parser.parse_args()
    for name, sessions in (("drawn", drawn), ("guided", guided)):
        print(name, flush=True)
        all_sessions = sessions(tuple(options.games), options.seed, options.runs)
        reached(all_sessions, lambda line: print(f"  {line}", flush=True))


if __name__ == "__main__":
    main()
