"""Run the peer of a directory until it has ended, or until an interrupt, and print its lines."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from channelsim.channel.chain.rpc_server import read_address
from channelsim.channel.cli.messages import complain, discard
from channelsim.channel.cli.option_groups import FeeOptions
from channelsim.channel.errors import UsageError
from channelsim.channel.network.identity import Pairing
from channelsim.channel.peer.interface import FeeLimits
from channelsim.channel.peer_text.peer_lines import Line, PeerLines
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.session.linked_peer import Place, run_linked
from channelsim.channel.session.peer_runner import PeerRunner, Trouble
from channelsim.channel.session.threads import SYSTEM_THREADS, in_thread
from channelsim.channel.store.data_directory import DataDirectory

T = TypeVar("T")

POLL_TIME = 0.1
"""Seconds after which an interrupt is noticed."""


async def until_interrupted(
    work: Coroutine[None, None, None], interrupted: Callable[[], bool]
) -> bool:
    """Do some work; False if an interrupt ended it."""
    # A connection that breaks in TLS is reported by us, without a traceback.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    running = asyncio.ensure_future(work)
    while not running.done() and not interrupted():
        await asyncio.wait([running], timeout=POLL_TIME)
    if running.done():
        running.result()
        return True
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    return False


def unless_interrupted(call: Callable[[], T], interrupted: Callable[[], bool]) -> T | None:
    """The result of a call that may block, as one of a node; None if an interrupt comes first."""

    async def wait() -> T | None:
        """Wait for the thread, and look for an interrupt now and then."""
        calling = asyncio.ensure_future(in_thread(SYSTEM_THREADS, call))
        while not calling.done() and not interrupted():
            await asyncio.wait([calling], timeout=POLL_TIME)
        if calling.done():
            return calling.result()
        calling.cancel()
        return None

    return asyncio.run(wait())


def has_ended(
    work: Coroutine[None, None, None], interrupted: Callable[[], bool], lines: PeerLines
) -> bool:
    """Do the work of a peer until it is done; False, after a line, if an interrupt ended it."""
    if asyncio.run(until_interrupted(work, interrupted)):
        return True
    lines.add("Interrupted", "stopped; start again with the same DIR to go on")
    return False


def with_link(
    runner: PeerRunner, data: DataDirectory, pairing: Pairing, lines: PeerLines, name: str = ""
) -> Coroutine[None, None, None]:
    """Run a peer with its link to the other side; `name` follows the address where it listens."""

    def bound(address: tuple[str, int]) -> None:
        """Print where this side listens."""
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        lines.add("Listening", f"listening at {host}:{address[1]}{name}")

    place = Place(read_address(data.settings.address), data.settings.listens)
    return run_linked(runner, place, pairing, lambda line: lines.add("Link", line), bound)


@contextmanager
def printing() -> Iterator[None]:
    """Print in this block. Raises `UsageError` if the reader of the output has gone."""
    try:
        yield
    except BrokenPipeError:
        discard(sys.stdout)
        raise UsageError(
            "the reader of the output has gone: stopped; start again with the same DIR to go on"
        ) from None


def line_printer(*, as_json: bool) -> Callable[[Line], None]:
    """Make the function that prints each line of a peer, as text or JSON."""

    def show(line: Line) -> None:
        """Print one line."""
        with printing():
            if as_json:
                print(json_line(line), flush=True)
            else:
                say(console(), f"height {line['height']}: {line['text']}")

    return show


def report_trouble(trouble: Trouble) -> None:
    """Print that the node cannot be asked, or that it can again."""
    complain(f"{trouble.reason}; asking again" if trouble.reason else "the node answers again")


def fee_limits(options: FeeOptions) -> FeeLimits:
    """The player's maxima of fees."""
    return FeeLimits(options.max_fee, options.max_fees)
