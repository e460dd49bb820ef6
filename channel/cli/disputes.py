"""Disputes as options describe them, and those with processes, or of older transcripts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, replace
from typing import Any

from channelsim.channel.adversaries.registry import get, names
from channelsim.channel.attack.disputes import dispute_script
from channelsim.channel.cli.attacked_disputes import nothing_changed, run_attacked
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.option_groups import SessionFiles
from channelsim.channel.cli.options import game_names
from channelsim.channel.cli.session_files import Display, displayed
from channelsim.channel.errors import UsageError
from channelsim.channel.findings.finding import summary
from channelsim.channel.report.account import account
from channelsim.channel.report.html.session_page import dispute_log, dispute_page, session_html
from channelsim.channel.report.lanes import Lanes
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.session_events import Listener
from channelsim.channel.session.setup import NAMES
from channelsim.channel.session.transcript import Record, Sink
from channelsim.channel.simulation.bounds import DEFAULT_SEED
from channelsim.channel.simulation.promises.checker import BrokenPromise
from channelsim.channel.simulation.run import Run, step_in_play
from channelsim.channel.simulation.scenario import Scenario, check, reasons_against
from channelsim.channel.simulation.session_processes import SessionProcesses, session_processes
from channelsim.channel.simulation.sweep_campaign import of_run
from channelsim.channel.simulation.transcript import played
from channelsim.channel.system.interrupt import exit_code
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

    `step` None is the adversary's default. `fields` are other fields of the scenario; None keeps
    the default.
    """
    menu = (registry.DEFAULT,) if games is None else menu_of(games)
    step = get(adversary).default_step if step is None else step
    given = {name: value for name, value in fields.items() if value is not None}
    described = {"seed": DEFAULT_SEED, **given}
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


def dispute_with_files(
    scenario: Scenario, files: SessionFiles, *, quiet: bool, anywhere: bool
) -> int:
    """Run a dispute as its options say; the exit code. `anywhere` as in `run_attacked`."""

    with displayed(files, quiet=quiet) as (display, file):
        if not files.processes:
            script = dispute_script(scenario)
            return run_attacked(script, file.write, file.finish, display, anywhere=anywhere)
        with ExitStack() as stack:

            def apart() -> SessionProcesses:
                """Begin the processes of a run, which end after it: the node tells the payouts."""
                processes = session_processes(scenario.seed, mixed=scenario.mixed)
                return stack.enter_context(processes)

            return run_dispute(
                scenario, file.write, file.finish, display, anywhere=anywhere, apart=apart
            )


def run_dispute(
    scenario: Scenario,
    sink: Sink,
    finish: Callable[[], None],
    display: Display,
    *,
    anywhere: bool = False,
    apart: Callable[[], SessionProcesses | None] = lambda: None,
    head: Record | None = None,
) -> int:
    """Run a dispute and report it; the exit code, 1 for a broken promise or an idle adversary.

    `sink` receives each line of the transcript, and `finish` is called after the last one.
    `anywhere`: where the adversary finds nothing to change from its step on, as in a hand that is
    over by then, it tries once more from a step inside of the hand. `apart` begins the processes of
    a run, if it has any.
    `head` is that of a transcript which is replayed.
    """
    as_json, quiet, show, page = display
    lanes, log = Lanes(scenario.honest, scenario.dealer), dispute_log(scenario)
    try:
        with progress("dispute", "block", shown=not quiet) as bar:
            lines: list[bytes] = []
            first = lines.append if anywhere else sink
            listeners: list[Listener] = [lanes, *([log] if page is not None else [])]
            listeners.append(lambda event: bar(lanes.height))
            run, broken, digest = played(scenario, first, *listeners, apart=apart(), head=head)
            step = step_in_play(run) if anywhere and not run.deviated else None
            if step is not None:
                scenario, lines = replace(scenario, step=step), []
                lanes, log = Lanes(scenario.honest, scenario.dealer), dispute_log(scenario)
                listeners[:-1] = [lanes, *([log] if page is not None else [])]
                run, broken, digest = played(scenario, sink, *listeners, apart=apart())
        for line in lines:
            sink(line)
        finish()
        if page is not None:
            page(session_html(dispute_page(run, broken, digest, log)))
    except KeyboardInterrupt:
        if as_json:
            so_far = {"scenario": asdict(scenario), "dealer": scenario.dealer}
            show({**so_far, "height": lanes.height, "interrupted": True})
        else:
            if not quiet:
                lanes.show_rows(console(), scenario)
            say(console(), f"interrupted at height {lanes.height}: the dispute is not over")
        return exit_code()
    if as_json:
        show(document(run, broken, digest))
    elif quiet:
        print(digest)
    else:
        lanes.show(console(), run, broken, digest)
    idle = bool(scenario.adversary) and not run.deviated
    if idle:
        complain(nothing_changed(scenario))
    return 1 if broken or idle else 0


def document(run: Run, broken: list[BrokenPromise], digest: str) -> dict[str, Any]:
    """A run as JSON data: payouts, the news of the honest peer, and the broken promises."""
    return {
        "scenario": asdict(run.scenario),
        "dealer": run.scenario.dealer,
        "deviated": run.deviated,
        "blocks": run.blocks,
        "reorgs": run.reorgs,
        "got": {name: run.paid(side) for side, name in enumerate(NAMES)},
        "account": account(run),
        "news": [type(news).__name__ for news in run.parties[run.scenario.honest].news],
        "broken_promises": [asdict(promise) for promise in broken],
        "summary": summary(of_run(run, broken)),
        "digest": digest,
    }
