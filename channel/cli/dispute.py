"""`channelsim dispute`, and what `play --adversary` and `replay` do with disputes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from channel.adversaries.base import get, names
from channel.cli.files import transcript_file
from channel.cli.options import complain, refuse
from channel.errors import UsageError
from channel.report.account import account
from channel.report.lanes import Lanes
from channel.report.matrix import show
from channel.report.progress import progress
from channel.report.tables import show_table
from channel.report.terminal import console, print_json, say
from channel.session.setup import NAMES
from channel.session.transcript import Comparer, Record, Sink
from channel.simulation.arena import Run
from channel.simulation.promises import Broken
from channel.simulation.scenario import Scenario, check
from channel.simulation.sweep import Tally, run_all
from channel.simulation.transcript import played, scenario_of
from channel.system.interrupt import exit_code, finishing
from games import registry
from games.names import LONGEST, nearest

DEFAULT_SEED = "dispute"
LONGEST_STEP = 6
"""Digits of a step: no session has a million messages."""


def list_adversaries() -> int:
    """Every adversary with what it does; the exit code."""
    rows = [(name, get(name).about) for name in names()]
    show_table(console(), (), rows, left=2)
    return 0


def named(adversary: str) -> tuple[str, int]:
    """An adversary and its step from NAME or NAME@STEP. Raises `UsageError`."""
    name, at, step = adversary.partition("@")
    kind = get(name)
    if not at:
        return name, kind.default_step
    if not (step.isascii() and step.isdigit() and len(step) <= LONGEST_STEP):
        raise UsageError(
            f"{adversary[:LONGEST]}: behind the @ is a step, as in {name}@{kind.default_step}"
        )
    return name, int(step)


def run_one(
    name: str,
    *,
    seed: str | None,
    step: int | None,
    side: str,
    games: str | None,
    weather: str,
    fees: int = 0,
    as_json: bool,
    transcript: Path | None,
    quiet: bool = False,
    **more: Any,
) -> int:
    """Run one dispute; the exit code, 1 when a promise is broken.

    `more` are other fields of the scenario; None for those that stay as they are.
    """
    if side not in NAMES:
        raise UsageError(f"--side {side}{nearest(side, NAMES)}: {' or '.join(NAMES)}")
    if "@" in name:
        refuse(f"{name} names the step already", at=step)
    name, at = named(name)
    menu = registry.names()[-1:]
    if games is not None:
        menu = tuple(game.strip() for game in games.split(",")) if games.strip() else ()
    scenario = Scenario(
        games=menu,
        seed=DEFAULT_SEED if seed is None else seed,
        adversary=name,
        step=at if step is None else step,
        side=NAMES.index(side),
        weather=weather,
        fees=fees,
    )
    given = {name: value for name, value in more.items() if value is not None}
    scenario = check(replace(scenario, **given))
    if scenario.staggered and len(scenario.games) * scenario.hands == 1:
        raise UsageError("--staggered: one hand of one game has no next one; add --hands or --game")
    with transcript_file(transcript) as file:
        return _tell(scenario, file.write, file.finish, as_json=as_json, quiet=quiet)


def play_against(
    adversary: str,
    games: str,
    *,
    seed: str | None,
    hands: int | None,
    unit: int | None,
    stack: int | None,
    balance: int | None,
    policy: str | None,
    as_json: bool,
    transcript: Path | None,
    quiet: bool,
    script: Path | None,
) -> int:
    """Hands against an adversary, from funding to the last payout; the exit code."""
    if script is not None:
        raise UsageError(
            "--script does not go with --adversary: who breaks the rules does not keep to it"
        )
    return run_one(
        adversary,
        seed=seed,
        step=None,
        side=NAMES[1],
        games=games,
        weather="calm",
        as_json=as_json,
        transcript=transcript,
        quiet=quiet,
        hands=hands,
        unit=unit,
        stack=stack,
        contribution=balance,
        policies=_policies(policy) if policy is not None else None,
    )


def _policies(text: str) -> tuple[str, str]:
    """Alice's and Bob's policies from A or A,B. Raises `UsageError`."""
    names = [name.strip() for name in text.split(",")]
    if len(names) > 2 or not all(names):
        raise UsageError(f"--policy {text}: one for Alice and one for Bob, as in `random,random`")
    return names[0], names[-1]


def replay_dispute(
    file: Path, lines: tuple[bytes, ...], header: Record, *, as_json: bool, quiet: bool
) -> int:
    """Run a recorded dispute again, line by line the same; the exit code."""
    comparer = Comparer(file, lines)
    scenario = scenario_of(file, header)
    return _tell(scenario, comparer, comparer.finish, as_json=as_json, quiet=quiet)


def _tell(
    scenario: Scenario, sink: Sink, finish: Callable[[], None], *, as_json: bool, quiet: bool
) -> int:
    """Run and tell a dispute; `finish` is called when it is through, and `sink` has every line."""
    lanes = Lanes(scenario.honest)
    try:
        with progress("dispute", "blocks") as bar:
            run, broken, digest = played(scenario, sink, lanes, lambda told: bar(lanes.height))
        finish()
    except KeyboardInterrupt:
        if as_json:
            print_json({"scenario": asdict(scenario), "height": lanes.height, "interrupted": True})
        else:
            if not quiet:
                lanes.show_rows(console(), scenario)
            say(console(), f"interrupted at height {lanes.height}: the dispute is not over")
        return exit_code()
    if as_json:
        print_json(document(run, broken, digest))
    elif not quiet:
        lanes.show(console(), run, broken, digest)
    else:
        print(digest)
    if scenario.adversary and not run.deviated:
        complain(_idle(run))
    return 1 if broken or (scenario.adversary and not run.deviated) else 0


def _idle(run: Run) -> str:
    """That nothing was tried, and where it may be."""
    scenario = run.scenario
    side = NAMES[scenario.side]
    return (
        f"{scenario.adversary} found nothing to change from step {scenario.step} on as {side}:"
        " nothing was checked; try another step, side, game or --seed"
    )


def document(run: Run, broken: list[Broken], digest: str) -> dict[str, Any]:
    """A run as JSON data: who got what, what the honest side was told, and what is broken."""
    got = [
        sum(seen.coin.amount for seen in run.chain.coins_at(end.peer.config.reward_address))
        for end in run.ends
    ]
    return {
        "scenario": asdict(run.scenario),
        "deviated": run.deviated,
        "blocks": run.blocks,
        "reorgs": run.reorgs,
        "got": dict(zip(NAMES, got, strict=True)),
        "account": account(run),
        "news": [type(news).__name__ for news in run.ends[run.scenario.honest].news],
        "broken_promises": [asdict(one) for one in broken],
        "digest": digest,
    }


def run_everything(*, seed: str | None, seeds: int, jobs: int, as_json: bool) -> int:
    """Run every adversary; the exit code, 1 when a promise is broken or something raised."""
    with progress("disputes") as bar:
        tally = run_all(
            DEFAULT_SEED if seed is None else seed,
            seeds,
            jobs,
            lambda runs, begun, of: bar(begun, of, f"{runs:,} runs, {begun} of {of} adversaries"),
        )
    with finishing():
        if as_json:
            print_json(tally_document(tally))
        else:
            show(tally, console())
    return exit_code(tally.interrupted, failed=bool(tally.broken or tally.exceptions))


def tally_document(tally: Tally) -> dict[str, Any]:
    """What many runs covered, as JSON data."""
    return {
        "runs": tally.runs,
        "broken_promises": len(tally.broken),
        "exceptions": len(tally.exceptions),
        "idle": tally.idle,
        "blocks": tally.blocks,
        "spends": tally.spends,
        "reorgs": tally.reorgs,
        "interrupted": tally.interrupted,
        "matrix": {
            name: {
                where: {
                    "runs": cell.runs,
                    "broken_promises": cell.broken,
                    "results": dict(cell.results),
                }
                for where, cell in row.items()
            }
            for name, row in tally.matrix.items()
        },
        "findings": [
            {"scenario": asdict(scenario), "promise": one.promise, "how": one.how}
            for scenario, one in tally.broken
        ]
        + [
            {"scenario": asdict(scenario), "exception": text} for scenario, text in tally.exceptions
        ],
    }
