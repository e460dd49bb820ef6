"""Disputes as options describe them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import msgspec

from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.side_processes import SideProcesses, side_processes
from channelsim.channel.cli.attacked_disputes import run_attacked
from channelsim.channel.cli.option_groups import SessionFiles
from channelsim.channel.cli.options import game_names
from channelsim.channel.cli.session_files import displayed
from channelsim.channel.errors import UsageError
from channelsim.channel.simulation.bounds import DEFAULT_SEED
from channelsim.channel.simulation.scenario import Scenario, check, reasons_against
from channelsim.channel.simulation.terms import TOGETHER, Terms
from channelsim.games import registry
from channelsim.games.amounts import counted
from channelsim.games.errors import UnknownGame
from channelsim.games.names import LONGEST

LONGEST_STEP = 6
"""Most digits of a step: no session has a million messages."""


def adversary_and_step(text: str) -> tuple[str, int | None]:
    """An adversary and its step from NAME or NAME@STEP, None without one. Raises `UsageError`."""
    name, at, step = text.partition("@")
    kind = get(name)
    if not at:
        return name, None
    if not (step.isascii() and step.isdigit() and len(step) <= LONGEST_STEP):
        raise UsageError(
            f"{text[:LONGEST]}: after the @ comes a step, as in {name}@{kind.default_step}"
        )
    return name, int(step)


def described_scenario(
    adversary: str, *, games: str | None, step: int | None, **fields: Any
) -> Scenario:
    """The scenario that the options of a command describe. Raises `UsageError`.

    `step` None is the adversary's default. `fields` are other fields of the scenario, and of its
    terms; None keeps the default.
    """
    menu = (registry.DEFAULT,) if games is None else menu_of(games)
    step = get(adversary).default_step if step is None else step
    given = {name: value for name, value in fields.items() if value is not None}
    terms = {name: given.pop(name) for name in Terms.__struct_fields__ if name in given}
    described = {"seed": DEFAULT_SEED, "terms": msgspec.structs.replace(TOGETHER, **terms), **given}
    return check(Scenario(games=menu, adversary=adversary, step=step, **described))


def menu_of(text: str) -> tuple[str, ...]:
    """The games of a list with commas. Raises `UsageError` for one that is not installed."""
    try:
        return tuple(registry.asked(name).name for name in game_names(text))
    except UnknownGame as error:
        raise UsageError(str(error)) from None


def able_in(games: tuple[str, ...]) -> list[str]:
    """The number of adversaries that can do something in these games, and the others, in lines."""
    number, skipped = len(names()), reasons_against(games)
    able = number - sum(map(len, skipped.values()))
    return [
        f"{able} of {counted(number, 'adversary')} can do something in {', '.join(games)}",
        *(f"skipped: {', '.join(others)} ({reason})" for reason, others in skipped.items()),
    ]


def dispute_with_files(script: Attack, files: SessionFiles, *, quiet: bool, anywhere: bool) -> int:
    """Run a dispute as its options say; the exit code. `anywhere` as in `run_attacked`."""
    with ExitStack() as stack, displayed(files, quiet=quiet) as (display, file):

        def begin(attack: Attack) -> SideProcesses | None:
            """Begin the processes of a run, if it has any."""
            return stack.enter_context(side_processes(attack)) if files.processes else None

        return run_attacked(
            script, file.write, file.finish, display, anywhere=anywhere, begin=begin
        )
