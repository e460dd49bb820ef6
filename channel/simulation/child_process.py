"""A process that answers calls of its parent, and may be killed while it works on one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from operator import methodcaller
from time import monotonic, sleep
from typing import Any

from channelsim.channel.errors import InvariantError
from channelsim.channel.system.interrupt import SIGNALS, held
from channelsim.games.chance import Chance

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [f"channelsim.channel.simulation.{module}" for module in ("process_node", "side_process")]
)

ANSWER_TIME = 60.0
"""Seconds in which a process has to answer; it needs milliseconds."""

Opens = Callable[..., AbstractContextManager[object]]
"""Opens, in a process, what is called there; the last argument is the pipe to the parent."""


class ChildProcess:
    """A process that calls methods of what `opens` makes of these arguments; it begins at once.

    `name` is for messages. `usual` is about the time that an answer takes, in seconds.
    """

    def __init__(self, name: str, opens: Opens, *args: object, usual: float = 0.01) -> None:
        self._name = name
        self._work = opens, args
        self._usual = usual
        self._asked = 0.0
        self._begun = False
        self._process: ForkServerProcess | None = None
        self._pipe: Connection | None = None
        self.begin()

    def begin(self) -> None:
        """Begin the process; again, after a kill."""
        with held():
            self._pipe, theirs = CONTEXT.Pipe()
            self._process = CONTEXT.Process(target=_serve, args=(*self._work, theirs))
            self._process.start()
            theirs.close()
        self._begun = False  # until its first answer, which takes longer

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

    def strike(self, chance: Chance) -> None:
        """Kill the process at once, or up to a little later than an answer usually takes."""
        due = self._asked + self._usual * chance.below(1500) / 1000
        sleep(max(0.0, due - monotonic()))
        self.kill()

    def send(self, message: object) -> None:
        """Send a call to the process, or what it has asked for."""
        if self._pipe is None:
            raise InvariantError(f"{self._name} is not running")
        self._asked = monotonic()
        self._pipe.send(message)

    def receive(self) -> Any:
        """The next object from the process.

        Raises an error that the process sends, and `InvariantError` if it has ended or hangs.
        """
        if self._pipe is None or not self._pipe.poll(ANSWER_TIME):
            raise InvariantError(f"{self._name} does not answer within {ANSWER_TIME:g} s")
        try:
            answer = self._pipe.recv()
        except (EOFError, ConnectionError):
            raise InvariantError(f"{self._name} ended by itself") from None
        if isinstance(answer, Exception):
            raise answer
        if self._begun:
            self._usual = 0.9 * self._usual + 0.1 * (monotonic() - self._asked)
        self._begun = True
        return answer

    def ask(self, name: str, *args: object) -> Any:
        """Call a method, and wait for its result."""
        self.send(methodcaller(name, *args))
        return self.receive()


def _serve(opens: Opens, args: tuple[object, ...], parent: Connection) -> None:
    """The process: it leaves interrupts to its parent, which handles them and kills it."""
    for signal_number in SIGNALS:
        signal.signal(signal_number, signal.SIG_IGN)
    # A parent that ends takes its pipe with it, and perhaps the files.
    with suppress(EOFError, ConnectionError):
        try:
            with opens(*args, parent) as target:
                while True:
                    call: methodcaller = parent.recv()
                    parent.send(call(target))
        except (EOFError, ConnectionError):
            raise
        except Exception as error:
            parent.send(InvariantError(f"a process fails: {error!r}"))
