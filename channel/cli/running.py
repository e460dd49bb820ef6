"""Run a peer on its event loop until it has ended, or until an interrupt, and print its lines."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress

from channelsim.channel.cli.messages import complain, discard
from channelsim.channel.errors import UsageError
from channelsim.channel.report.peer_lines import Line
from channelsim.channel.report.terminal import console, json_line, say
from channelsim.channel.session.peer_runner import Trouble

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
