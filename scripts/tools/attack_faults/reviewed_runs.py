"""Faults that a reviewer thought of, in the runner of a peer and in the commands of its user."""

from __future__ import annotations

from typing import Any

from channelsim.channel.peer.peer_state import Phase
from channelsim.channel.session.ending_player import EndingPlayer
from channelsim.channel.session.peer_runner import PeerRunner
from scripts.tools.attack_faults.planting import Fault, Reach, compared, marking

# ruff: noqa: SLF001


async def _first_peak(reach: Reach, right: Any, runner: Any) -> int:
    peak = await right(runner)
    first = runner.__dict__.setdefault("first_peak", peak)
    if first != peak:
        reach.mark()
    return int(peak if reach.probes else first)


def _tasks_stay(reach: Reach, right: Any, runner: Any, work: Any) -> Any:
    task = right(runner, work)
    if len(runner._tasks) > 3:
        reach.mark()
    if not reach.probes:
        task.remove_done_callback(runner._tasks.pop)
    return task


async def _no_turns(reach: Reach, right: Any, runner: Any) -> None:
    before = [*runner._pushes]
    try:
        await right(runner)
    finally:
        first = [bundle for bundle in before if bundle in runner._pushes]
        if first and first != [*runner._pushes][: len(first)]:
            reach.mark()
            if not reach.probes:
                rest = {one: push for one, push in runner._pushes.items() if one not in first}
                runner._pushes = {**{one: runner._pushes[one] for one in first}, **rest}


def _not_while_closing(right: Any, player: Any) -> Any:
    is_closing = player.peer.phase is Phase.CLOSING
    return None if player.reason is not None and is_closing else right(player)


def _not_in_a_game(right: Any, player: Any) -> Any:
    play = player.peer.state.play
    is_live = play is not None and play.state.games
    return None if player.reason is None and is_live else right(player)


REVIEWED_RUNS = (
    Fault(
        "times-from-the-start-of-the-process",
        "runner",
        "a peer that waits for its link begins at the height at which its process began",
        marking(PeerRunner, "_peak", _first_peak, _first_peak),
    ),
    Fault(
        "keeps-finished-tasks",
        "runner",
        "a runner keeps each task that it has finished",
        marking(PeerRunner, "_spawn", _tasks_stay, _tasks_stay),
    ),
    Fault(
        "one-push-keeps-the-others",
        "runner",
        "a push that gets no answer is tried again before all others",
        marking(PeerRunner, "_offer_pushes", _no_turns, _no_turns),
    ),
    Fault(
        "recover-waits-for-a-shutdown",
        "commands",
        "`recover` wants nothing while a shutdown is asked for",
        compared(EndingPlayer, "next_command", _not_while_closing),
    ),
    Fault(
        "close-waits-for-its-games",
        "commands",
        "`close` asks for the shutdown once no game is live",
        compared(EndingPlayer, "next_command", _not_in_a_game),
    ),
)
