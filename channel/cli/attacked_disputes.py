"""Run a dispute that is a script and report it: `dispute run --old-copy`, and its `replay`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import findings
from channelsim.channel.attack.disputes import Dispute, honest_side, recorded
from channelsim.channel.cli.messages import complain
from channelsim.channel.cli.session_files import Display
from channelsim.channel.findings.finding import Finding, summary
from channelsim.channel.report.account import account
from channelsim.channel.report.html.attack_page import attack_page
from channelsim.channel.report.html.session_page import session_html
from channelsim.channel.report.lanes import Lanes
from channelsim.channel.report.progress import progress
from channelsim.channel.report.terminal import console, say
from channelsim.channel.session.setup import NAMES
from channelsim.channel.session.transcript import Sink
from channelsim.channel.system.interrupt import exit_code


def run_attacked(attack: Attack, sink: Sink, finish: Callable[[], None], display: Display) -> int:
    """Run a script and report it; the exit code, 1 if something is broken or nothing was checked.

    `sink` receives each line of the transcript, and `finish` is called after the last one.
    """
    as_json, quiet, show, page = display
    lanes = Lanes(honest_side(attack))
    try:
        with progress("dispute", "block", shown=not quiet) as bar:
            dispute, digest = recorded(attack, sink, lanes, lambda event: bar(lanes.height))
            finish()
            broken = findings(dispute.shrunk())
        if page is not None:
            page(session_html(attack_page(attack)))
    except KeyboardInterrupt:
        if as_json:
            so_far = {"scenario": msgspec.to_builtins(attack), "height": lanes.height}
            show({**so_far, "interrupted": True})
        else:
            say(console(), f"interrupted at height {lanes.height}: the dispute is not over")
        return exit_code()
    if as_json:
        show(_document(dispute, broken, digest))
    elif quiet:
        print(digest)
    else:
        lanes.show(console(), dispute.run, dispute.broken, digest)
    if not dispute.is_checked:
        complain(
            "nothing was checked: the adversary found nothing to change, or the old copy lacked no"
            " state; try another step, --old-copy or --seed"
        )
    return int(bool(broken) or not dispute.is_checked)


def _document(dispute: Dispute, broken: list[Finding], digest: str) -> dict[str, Any]:
    """A dispute as JSON data: payouts, the news of the honest peer, and what is broken."""
    run = dispute.run
    return {
        "scenario": msgspec.to_builtins(dispute.attack),
        "dealer": None,
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
