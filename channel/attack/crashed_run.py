"""A session whose processes were killed, and what went wrong in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from channelsim.channel.findings.finding import BROKEN_PROMISE, EXCEPTION, Finding
from channelsim.channel.simulation.kills import Kill
from channelsim.channel.simulation.promises.checker import SEVERITY, BrokenPromise

SIGNATURE = "signature"
"""The rule that no two messages of a side contradict each other."""

PLAIN = (SIGNATURE, EXCEPTION)
"""Rules that a finding need not name in its text."""


@dataclass(frozen=True, slots=True)
class CrashedRun:
    """A run whose honest peers were killed: when, and what went wrong, a line each.

    `scenario` is the script of the session. `kills` are the initiator's, then
    the receiver's; `node_kills` is how often the node was killed.
    """

    scenario: dict[str, Any]
    kills: tuple[tuple[Kill, ...], tuple[Kill, ...]]
    contradictions: tuple[str, ...]
    broken: tuple[BrokenPromise, ...]
    node_kills: int = 0
    title: str = ""

    @property
    def failed(self) -> bool:
        """True if anything went wrong."""
        return bool(self.contradictions or self.broken)

    @property
    def all_kills(self) -> int:
        """The number of kills, of peers and of the node."""
        return sum(map(len, self.kills)) + self.node_kills

    @property
    def details(self) -> list[str]:
        """A line for each contradiction and each broken promise."""
        return [f"    {finding.text}" for finding in self.findings]

    @property
    def findings(self) -> list[Finding]:
        """A finding for each contradiction and each broken promise."""
        broken = [BrokenPromise(SIGNATURE, how) for how in self.contradictions]
        return [
            Finding(
                rule=wrong.promise,
                place=self.title,
                severity=SEVERITY.get(wrong.promise, BROKEN_PROMISE),
                text=wrong.how if wrong.promise in PLAIN else f"{wrong.promise}: {wrong.how}",
                loss=wrong.loss,
                scenario=self.scenario,
            )
            for wrong in (*broken, *self.broken)
        ]
