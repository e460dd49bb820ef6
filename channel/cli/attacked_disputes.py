"""Run a dispute as an attacked session: `dispute run`, `play --adversary`, and their `replay`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import msgspec

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.deviating import deviating
from channelsim.channel.attack.disputes import (
    Dispute,
    dispute_script,
    honest_side,
    recorded,
    scenario_in,
)
from channelsim.channel.attack.side_processes import SideProcesses
from channelsim.channel.attack.sides import scenario_of
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.session_files import Display
from channelsim.channel.findings.finding import Finding, summary
from channelsim.channel.report.account import account
from channelsim.channel.report.html.attack_page import PROMISES_KEPT, attack_page
from channelsim.channel.report.html.session_data import CHAIN
from channelsim.channel.report.html.session_page import dispute_log, dispute_page, session_html
from channelsim.channel.report.lanes import Lanes
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.session_events import Listener, SessionEvent
from channelsim.channel.session.setup import NAMES
from channelsim.channel.session.transcript import Record, Sink
from channelsim.channel.simulation.run import step_in_play
from channelsim.channel.simulation.scenario import Scenario
from channelsim.channel.simulation.scenario_command import command_of
from channelsim.channel.system.interrupt import exit_code

Begin: TypeAlias = Callable[[Attack], SideProcesses | None]
"""Begins the processes of a script, which outlive its run: the node tells the payouts."""


def run_attacked(
    attack: Attack,
    sink: Sink,
    finish: Callable[[], None],
    display: Display,
    *,
    anywhere: bool = False,
    begin: Begin = lambda attack: None,
    head: Record | None = None,
) -> int:
    """Run a script and report it; the exit code, 1 if something is broken or nothing was checked.

    `sink` receives each line of the transcript, and `finish` is called after the last one.
    `anywhere`: where the adversary finds nothing to change from its step on, as in a hand that is
    over by then, it tries once more from a step inside of the hand. `begin` begins the
    processes of a run, if it has any. `head` is that of a transcript which is replayed.
    """
    as_json, quiet, show, page = display
    watched = _Watched(attack, page is not None, begin)
    try:
        with progress("dispute", "block", shown=not quiet) as bar:

            def on_event(event: SessionEvent) -> None:
                bar(watched.lanes.height)

            lines: list[bytes] = []
            watched.run(lines.append if anywhere else sink, on_event, head)
            step = step_in_play(watched.dispute.run) if anywhere else None
            if step is not None and not watched.dispute.is_checked:
                scenario = replace(watched.dispute.run.scenario, step=step)
                watched, lines = _Watched(dispute_script(scenario), page is not None, begin), []
                watched.run(sink, on_event)
            for line in lines:
                sink(line)
            finish()
            broken = watched.dispute.findings()
        if page is not None:
            page(watched.page())
    except KeyboardInterrupt:
        if as_json:
            so_far = {"scenario": msgspec.to_builtins(watched.attack), "dealer": watched.dealer}
            show({**so_far, "height": watched.lanes.height, "interrupted": True})
        else:
            if not quiet:
                watched.lanes.show_rows(console(), watched.scenario)
            say(console(), f"interrupted at height {watched.lanes.height}: the dispute is not over")
        return exit_code()
    dispute, digest = watched.dispute, watched.digest
    if as_json:
        show(_document(dispute, broken, watched.dealer, digest))
    elif quiet:
        print(digest)
    else:
        watched.lanes.show(console(), dispute.run, dispute.broken, digest)
    if not dispute.is_checked:
        complain(_idle(dispute))
    return int(bool(broken) or not dispute.is_checked)


class _Watched:
    """A dispute and all who watch it: its lanes, and the log of its page if it has one."""

    dispute: Dispute
    digest = ""

    def __init__(self, attack: Attack, with_page: bool, begin: Begin) -> None:
        self.attack = attack
        self._begin = begin
        self.known = scenario_in(attack)
        self.scenario = self.known or replace(scenario_of(attack), side=1 - honest_side(attack))
        has_dealer = not attack.terms.proposals.is_agreed
        self.dealer = self.scenario.dealer if has_dealer else None
        self.lanes = Lanes(self.scenario.honest, self.dealer)
        self._log = dispute_log(self.scenario) if with_page and self.known is not None else None

    def run(self, sink: Sink, on_event: Listener, head: Record | None = None) -> None:
        """Run it, and write its transcript."""
        log = self._log
        listeners: list[Listener] = [self.lanes, *([log] if log is not None else []), on_event]

        def on_fault(side: int | None, text: str) -> None:
            """Show a fault in the lane of a side, or of the chain."""
            if log is not None:
                log.fault(CHAIN if side is None else side, text)

        real = self._begin(self.attack)
        self.dispute, self.digest = recorded(
            self.attack, sink, *listeners, on_fault=on_fault, head=head, real=real
        )

    def page(self) -> str:
        """The page: that of a dispute, or of an attack, which is run again, for another script."""
        if self._log is None:
            return session_html(attack_page(self.attack))
        run, broken = self.dispute.run, self.dispute.broken
        return session_html(dispute_page(run, broken, self.digest, self._log, PROMISES_KEPT))


def _idle(dispute: Dispute) -> str:
    """A line about a dispute in which nothing was checked, with advice."""
    scenario = dispute.run.scenario
    if dispute.is_copied or not scenario.adversary:
        return (
            "nothing was checked: the adversary found nothing to change, or the old copy lacked no"
            " state; try another step, --old-copy or --seed"
        )
    return nothing_changed(scenario)


def _document(
    dispute: Dispute, broken: list[Finding], dealer: str | None, digest: str
) -> dict[str, Any]:
    """A dispute as JSON data: payouts, the news of the honest peer, and what is broken."""
    run = dispute.run
    return {
        "scenario": msgspec.to_builtins(dispute.attack),
        "dealer": dealer,
        "deviated": run.deviated,
        "blocks": run.blocks,
        "reorgs": run.reorgs,
        "got": {name: run.paid(side) for side, name in enumerate(NAMES)},
        "account": account(run),
        "news": [type(news).__name__ for news in run.party.news],
        "broken_promises": msgspec.to_builtins(dispute.broken),
        "findings": msgspec.to_builtins(broken),
        "summary": summary(broken),
        "digest": digest,
    }


def nothing_changed(scenario: Scenario) -> str:
    """A line about an adversary that found nothing to change, with a command with which it does."""
    near = deviating(scenario)
    hint = (
        "try another step, side, game or --seed"
        if near is None
        else f"it does something with `{command_of(near)}`"
    )
    return (
        f"{scenario.adversary} found nothing to change from step {scenario.step} on"
        f" as the {NAMES[scenario.side]}: nothing was checked; {hint}"
    )
