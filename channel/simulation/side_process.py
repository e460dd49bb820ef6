"""The process of one side that its parent directs, and that can be restored from an older copy."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree, rmtree
from typing import Any

from channelsim.channel.errors import InvariantError
from channelsim.channel.simulation.child_process import ChildProcess
from channelsim.channel.simulation.directed_process import LINKED, Work, serve


class SideProcess:
    """Begins the process of a side, speaks with it, and ends it."""

    def __init__(self, work: Work) -> None:
        self._process = ChildProcess("a peer's process", serve, work)
        self._directory = Path(work.directory)
        self._copy = self._directory.with_name(f"{self._directory.name}.copy")
        self._address: object = None

    def begin(self) -> None:
        """Begin the process."""
        self._process.begin()

    def end(self) -> None:
        """Kill the process, if it runs."""
        self._process.kill()

    def ask(self, order: object) -> None:
        """Send an object to the process."""
        self._process.send(order)

    def answer(self) -> Any:
        """The next object from the process. Raises `InvariantError` if it has ended or hangs."""
        found = self._process.receive()
        if isinstance(found, Exception):
            raise found
        return found

    # --- the link to the other side ---

    def listen(self, address: object) -> object:
        """Let the process listen at this address; returns it as it is bound."""
        self.ask(address)
        self._address = self.answer()
        return self._address

    def connect(self, address: object) -> None:
        """Let the process connect to this address."""
        self._address = address
        self.ask(address)

    def wait_for_link(self) -> None:
        """Wait until the process is linked to the other side's."""
        if self.answer() != LINKED:
            raise InvariantError("the processes of the peers are out of step")

    # --- an older copy ---

    def copy(self) -> None:
        """Copy the directory, as it is while the process waits for an order."""
        copytree(self._directory, self._copy)

    def restore(self, *, listens: bool) -> None:
        """Kill the process, and begin another one from the copy, linked at the same address."""
        self.end()
        rmtree(self._directory)
        self._copy.rename(self._directory)
        self.begin()
        if listens:
            self.listen(self._address)
        else:
            self.connect(self._address)
        self.wait_for_link()
