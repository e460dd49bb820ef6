"""Faults planted in the product, each in turn, and the sessions until `attack` notices it.

`python -m tools.attack_faults [--runs N] [--seed S] [NAME ...]` prints a line for each. A fault is
noticed if a session with it breaks a monitor, and its shrunk script breaks none without it.
Never change the search so that a fault of this table is noticed: judge it by other seeds, and add
faults.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any
from unittest import mock

from msgspec.structs import replace

from channelsim.channel.attack.actions import Attack
from channelsim.channel.attack.campaign import broken_by, default_games
from channelsim.channel.attack.drawing import draw
from channelsim.channel.attack.shrinking import shrunk
from channelsim.channel.chain.full_node import NodeError
from channelsim.channel.chain.interface import Answer, PushResult
from channelsim.channel.crypto import bls
from channelsim.channel.network.connection import Connection, Limits
from channelsim.channel.network.link import Link
from channelsim.channel.peer import machine
from channelsim.channel.peer.deadlines import Awaited
from channelsim.channel.peer.interface import Act, Close, Connected, Received, Send
from channelsim.channel.peer.peer_state import PeerState, Phase
from channelsim.channel.peer.phases import resuming
from channelsim.channel.session import peer_runner
from channelsim.channel.session.peer_runner import PeerRunner
from channelsim.channel.session.side_player import SidePlayer
from channelsim.channel.store import durable_peer
from channelsim.channel.store.durable_peer import DurablePeer
from channelsim.channel.store.sqlite_store import SqliteStore
from channelsim.channel.store.watched_peer import WatchedPeer
from channelsim.channel.watch.pusher import Pusher

Planting = Callable[[ExitStack], object]
"""Plants a fault until the stack is closed."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault: the part that it is in, and what is wrong there."""

    name: str
    part: str
    what: str
    plant: Planting


def function(owner: Any, name: str, wrong: Callable[..., Any]) -> Planting:
    """Replace a function of a class or module; the wrong one gets the right one first."""
    right = getattr(owner, name)
    return value(owner, name, lambda *given, **more: wrong(right, *given, **more))


def value(owner: Any, name: str, wrong: object) -> Planting:
    """Replace a value of a class or module."""
    return lambda stack: stack.enter_context(mock.patch.object(owner, name, wrong))


def transition(event: type, wrong: Callable[..., Any]) -> Planting:
    """Replace the handler of an event during play; the wrong one gets the right one first."""

    def replaced(phase: Phase) -> Any:
        table: Any = machine.TRANSITIONS[phase]
        right = table[event]
        return mock.patch.dict(table, {event: lambda *given: wrong(right, *given)})

    def plant(stack: ExitStack) -> None:
        for phase in (Phase.FUNDING, Phase.PLAYING, Phase.CLOSING):
            stack.enter_context(replaced(phase))

    return plant


# --- the runner, the link and the player ----------------------------------------------------------


async def _connected_once(right: Any, runner: Any, link: Any) -> None:
    if not hasattr(runner, "connected_before"):
        runner.connected_before = True
        await right(runner, link)
    runner._link = link  # noqa: SLF001


def _taken_for_accepted(right: Any, chain: Any, push: Any) -> Any:
    try:
        return right(chain, push)
    except NodeError:
        return PushResult(Answer.ACCEPTED), ()


async def _until_first_error(right: Any, runner: Any) -> None:
    try:
        await right(runner)
    except NodeError:
        await asyncio.get_running_loop().create_future()


def _only_with_connection(right: Any, runner: Any, message: bytes) -> None:
    if runner._link is None:  # noqa: SLF001
        raise RuntimeError("no connection")
    right(runner, message)


def _must_be_possible(right: Any, runner: Any, command: Any) -> bool:
    runner.command(command)
    return True


async def _first_connection(right: Any, link: Any, connection: Any) -> None:
    if not hasattr(link, "served_before"):
        link.served_before = True
        await right(link, connection)
    connection.close()


def _waiting_for_ever(right: Any, connection: Any, reader: Any, writer: Any) -> None:
    right(connection, reader, writer, Limits(idle=1e9))


def _no_close(right: Any, player: Any) -> Any:
    command = right(player)
    return None if isinstance(command, Close) else command


# --- the store and the watcher --------------------------------------------------------------------


@contextmanager
def _swallowed(right: Any, store: Any) -> Iterator[None]:
    with suppress(sqlite3.Error):
        yield


def _unless(kind: type) -> Callable[..., Any]:
    def keep(right: Any, durable: Any, event: Any, before: Any, effects: Any) -> None:
        if not isinstance(event, kind):
            right(durable, event, before, effects)

    return keep


def _losing(change: Callable[[PeerState], PeerState], *, coins: bool = False) -> Planting:
    """Change a state that is read from a snapshot, or lose the coins that it watches."""

    def decode(right: Any, *given: Any) -> Any:
        state, watched, reveals = right(*given)
        return change(state), [] if coins else watched, reveals

    return function(durable_peer, "decode_snapshot", decode)


def _play(**fields: Any) -> Callable[[PeerState], PeerState]:
    """Change fields of play."""
    return lambda state: replace(state, play=replace(state.play, **fields) if state.play else None)


def _but_the_last(right: Any, store: Any, events: Sequence[bytes], overview: bytes = b"") -> None:
    right(store, events[:-1] if len(events) > 1 else events, overview)


def _one_behind(right: Any, watched: Any, state: PeerState) -> None:
    play = state.play
    if play is not None and play.history.older is not None:
        play = replace(play, history=play.history.older)
    right(watched, replace(state, play=play))


# --- the engine -----------------------------------------------------------------------------------


def _silently(right: Any, config: Any, state: PeerState, event: Connected) -> Any:
    after, effects = right(config, state, event)
    return after, [effect for effect in effects if not isinstance(effect, Send)]


def _signing_at_once(right: Any, config: Any, state: PeerState, event: Connected) -> Any:
    after, effects = right(config, state, event)
    return replace(after, resuming=False), effects


def _without_memory(right: Any, config: Any, state: PeerState, blob: bytes) -> Any:
    return right(config, replace(state, last_received=b"", last_batch=b""), blob)


def _without_early(right: Any, config: Any, state: PeerState) -> Any:
    return right(config, replace(state, early=()))


def _without(name: str) -> Callable[..., Any]:
    def push(right: Any, runner: Any, push: Any) -> None:
        if push.name != name:
            right(runner, push)

    return push


FAULTS = (
    Fault(
        "reports-one-connection",
        "runner",
        "a second connection is not reported to the peer",
        function(PeerRunner, "connected", _connected_once),
    ),
    Fault(
        "takes-silence-for-yes",
        "runner",
        "a push without an answer is taken for an accepted one",
        function(peer_runner, "_offer", _taken_for_accepted),
    ),
    Fault(
        "tries-a-push-once",
        "runner",
        "a push without an answer is not tried again before the next block",
        value(peer_runner, "MOST_TRIES", 1),
    ),
    Fault(
        "looks-no-more",
        "runner",
        "after an error of the node nobody looks at the chain again",
        function(PeerRunner, "_report_tip", _until_first_error),
    ),
    Fault(
        "fails-without-connection",
        "runner",
        "a message without a connection ends the process",
        function(PeerRunner, "send", _only_with_connection),
    ),
    Fault(
        "fails-at-a-late-command",
        "runner",
        "a command that comes too late ends the process",
        function(PeerRunner, "_carried_out", _must_be_possible),
    ),
    Fault(
        "keeps-old-connection",
        "runner",
        "a lost connection is still taken for one",
        function(PeerRunner, "disconnected", lambda right, runner, link: None),
    ),
    Fault(
        "serves-one-connection",
        "link",
        "a lost connection is never made again",
        function(Link, "serve", _first_connection),
    ),
    Fault(
        "waits-on-silence",
        "link",
        "a silent connection is never given up",
        function(Connection, "__init__", _waiting_for_ever),
    ),
    Fault(
        "never-closes",
        "player",
        "the player does not close after the last hand",
        function(SidePlayer, "next_command", _no_close),
    ),
    Fault(
        "swallows-errors",
        "store",
        "a statement that fails is taken for one that was done",
        function(SqliteStore, "_reported", _swallowed),
    ),
    Fault(
        "stores-no-actions",
        "store",
        "the journal lacks the actions of the player",
        function(DurablePeer, "_keep", _unless(Act)),
    ),
    Fault(
        "stores-no-messages",
        "store",
        "the journal lacks the messages of the other side",
        function(DurablePeer, "_keep", _unless(Received)),
    ),
    Fault(
        "loses-the-last-of-several",
        "store",
        "of events that are written together the last is lost",
        function(SqliteStore, "append", _but_the_last),
    ),
    Fault(
        "asks-no-more",
        "store",
        "a player is not asked again after a restart",
        function(DurablePeer, "_questions", lambda right, durable: []),
    ),
    Fault(
        "snapshot-without-last-message",
        "store",
        "a snapshot lacks our last message",
        _losing(lambda state: replace(state, last_sent=b"")),
    ),
    Fault(
        "snapshot-without-queue",
        "store",
        "a snapshot lacks the commands that wait",
        _losing(_play(queue=())),
    ),
    Fault(
        "snapshot-without-closing",
        "store",
        "a snapshot lacks the wish for a shutdown",
        _losing(_play(closing=False)),
    ),
    Fault(
        "snapshot-without-request",
        "store",
        "a snapshot lacks the request for the potato",
        _losing(_play(we_asked=False)),
    ),
    Fault(
        "snapshot-without-coins",
        "store",
        "a snapshot lacks the coins that are watched",
        _losing(lambda state: state, coins=True),
    ),
    Fault(
        "watch-data-one-behind",
        "watcher",
        "the watcher's data lack the newest state",
        function(WatchedPeer, "_follow", _one_behind),
    ),
    Fault(
        "watcher-only-looks",
        "watcher",
        "a watcher pushes nothing",
        function(Pusher, "push", lambda right, *given: None),
    ),
    Fault(
        "silent-on-connections",
        "engine",
        "nothing is said on a new connection",
        transition(Connected, _silently),
    ),
    Fault(
        "signs-before-numbers",
        "engine",
        "it signs before the other side's numbers are known",
        transition(Connected, _signing_at_once),
    ),
    Fault(
        "repeats-nothing",
        "engine",
        "it does not repeat what the other side lacks",
        function(resuming, "_repeated", lambda right, state, message: []),
    ),
    Fault(
        "handles-repeats",
        "engine",
        "a message that comes twice is handled twice",
        function(machine, "_on_bytes", _without_memory),
    ),
    Fault(
        "drops-early-messages",
        "engine",
        "a message before the funding is deep is lost",
        function(machine, "_on_block", _without_early),
    ),
    Fault(
        "gives-up-early",
        "engine",
        "the other side has three blocks for everything",
        value(Awaited, "limit", lambda awaited, times: 3),
    ),
    Fault(
        "waits-without-end",
        "engine",
        "a deadline of the other side never passes",
        value(Awaited, "limit", lambda awaited, times: 1 << 30),
    ),
    Fault(
        "never-times-out",
        "engine",
        "the timeout of a published state is not used",
        function(PeerRunner, "push", _without("unroll-timeout")),
    ),
)
"""The table."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """The first session that noticed a fault: its number, the shrunk script, and what it broke.

    `is_clean`: without the fault, the script breaks nothing.
    """

    sessions: int
    script: Attack
    monitor: str
    text: str
    is_clean: bool


def search(fault: Fault, runs: int, seed: str) -> Noticed | None:
    """Run sessions with a fault until one of them breaks a monitor; None if none does."""
    for number in range(runs):
        script = draw(default_games(), f"{seed}/{number}")
        with bls.remembered():
            with ExitStack() as stack:
                fault.plant(stack)
                broken = broken_by(script)
                if not broken:
                    continue
                monitor = next(iter(broken))
                script = shrunk(script, lambda plainer: monitor in broken_by(plainer), 12)  # noqa: B023
                text = broken_by(script)[monitor]
            clean = not broken_by(script)
        return Noticed(number + 1, script, monitor, text, clean)
    return None


def main() -> None:
    """Print a line for each fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", default="planted")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if not options.names or fault.name in options.names]
    noticed = 0
    for fault in chosen:
        found = search(fault, options.runs, options.seed)
        noticed += found is not None and found.is_clean
        if found is None:
            result = f"not noticed in {options.runs}"
        else:
            actions = "; ".join(action.text for action in found.script.actions) or "no fault"
            result = f"{found.sessions}: {found.monitor} ({actions}): {found.text[:90]}"
            result += "" if found.is_clean else " [ALSO WITHOUT THE FAULT]"
        print(f"{fault.name} ({fault.part}, {fault.what}): {result}", flush=True)
    print(f"{noticed} of {len(chosen)} noticed")


if __name__ == "__main__":
    main()
