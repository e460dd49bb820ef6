"""Compare reports of a process to its user, of node and link, with how these are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from channelsim.channel.peer.interface import Event, Received
from channelsim.channel.session.peer_runner import Trouble

PATIENCE = 16.0
"""Seconds in which a node that answers nothing is reported, and one that answers again; and in
which a lost connection is."""

SLOW = 10.0
"""Seconds between two answers of a node that is slow, and so not well."""

ANSWERED = 2
"""New tips that a node has to report, answering everything, before it has to be called well."""

LOST = "the connection is lost"
"""The beginning of the line of a lost connection."""

NO_CONNECTION = "no connection"
"""The beginning of the line of one that was not made."""


@dataclass(slots=True)
class NodeReports:
    """Follows what the user hears of the node: whether it can be asked, as of now."""

    time: Callable[[], float]
    said: str = ""
    failing_since: float | None = None
    well_since: float = 0.0
    answered_at: float = 0.0
    tips: int = 0
    peak: int = -1

    def reported(self, trouble: Trouble) -> Iterator[str]:
        """Find what the user hears again."""
        if trouble.reason == self.said:
            yield f"says again: {self.said[:60]!r}"
        self.said, self.tips = trouble.reason, 0

    def answered(self) -> None:
        """Note a call that the node has answered."""
        self.failing_since = None
        self._look_for_pause()

    def failed(self) -> Iterator[str]:
        """Find a node that answers nothing, of which the user does not hear."""
        now, self.tips = self.time(), 0
        self.failing_since = now if self.failing_since is None else self.failing_since
        if now - self.failing_since > PATIENCE and not self.said:
            self.failing_since = now
            yield "does not say that its node answers nothing"

    def block(self, peak: int) -> Iterator[str]:
        """Find trouble that the user still hears of, although the node answers everything."""
        self._look_for_pause()
        if peak == self.peak:
            return  # with more coins to look for; not everything is asked again
        self.peak = peak
        if not self.tips:
            self.well_since = self.time()
        self.tips += 1
        is_late = self.time() - self.well_since > PATIENCE
        if self.said and self.tips > ANSWERED and is_late:
            yield "does not say that its node answers again"

    def _look_for_pause(self) -> None:
        """A node that takes long for an answer is not called well yet."""
        now = self.time()
        if now - self.answered_at > SLOW:
            self.tips = 0
        self.answered_at = now


@dataclass(slots=True)
class LinkReports:
    """Follows what the user hears of the link, beside the messages of the other side.

    `lost_for` are the seconds for which it has had no connection; 0 if it has one.
    """

    lost_for: Callable[[], float]
    said: str = ""

    def reported(self, line: str) -> Iterator[str]:
        """Find what the user hears again."""
        if line == self.said:
            yield f"says again: {line[:60]!r}"
        self.said = line

    def looks_again(self) -> Iterator[str]:
        """Find a loss of which the user does not hear, in a process that has looked at the chain
        and so uses connections."""
        is_told = self.said.startswith((LOST, NO_CONNECTION))
        if self.lost_for() > PATIENCE and not is_told:
            yield f"has no connection, and says {self.said[:60]!r}"

    def follow(self, event: Event | None) -> Iterator[str]:
        """Find a message on a connection that the user takes for lost."""
        if isinstance(event, Received) and (not self.said or self.said.startswith(LOST)):
            yield f"hears the other side, and says {self.said[:60]!r}"
