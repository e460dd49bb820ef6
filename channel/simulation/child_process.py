"""A process of its own with a pipe to its parent, which may kill it at any time."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from channelsim.channel.errors import InvariantError
from channelsim.channel.system.interrupt import held

CONTEXT = get_context("forkserver")

ANSWER_TIME = 60.0
"""Seconds in which a process has to answer; it needs milliseconds."""


class ChildProcess:
    """Runs `serve(*given, pipe)` in a process, once it is begun, and again after a kill.

    `name` is for messages.
    """

    def __init__(self, name: str, serve: Callable[..., None], *given: object) -> None:
        self._name = name
        self._serve = serve
        self._given = given
        self._process: ForkServerProcess | None = None
        self._pipe: Connection | None = None

    def begin(self) -> None:
        """Begin the process."""
        with held():
            ours, theirs = CONTEXT.Pipe()
            self._pipe = ours
            self._process = CONTEXT.Process(target=self._serve, args=(*self._given, theirs))
            self._process.start()
            theirs.close()

    def kill(self) -> None:
        """Kill the process by SIGKILL, if it runs."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None

    def send(self, message: object) -> None:
        """Send an object to the process."""
        if self._pipe is None:
            raise InvariantError(f"{self._name} is not running")
        self._pipe.send(message)

    def receive(self) -> Any:
        """The next object from the process. Raises `InvariantError` if it has ended or hangs."""
        if self._pipe is None or not self._pipe.poll(ANSWER_TIME):
            raise InvariantError(f"{self._name} does not answer within {ANSWER_TIME:g} s")
        try:
            return self._pipe.recv()
        except (EOFError, ConnectionError):
            raise InvariantError(f"{self._name} ended by itself") from None
