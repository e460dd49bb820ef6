"""The three families of errors. No other error is raised on purpose.

- `UsageError`: wrong arguments, files or input of the user; one line, exit code 2.
- `Violation`: a message breaks a named rule; `Blame` adds the party and the step.
- `InvariantError`: a bug in this program.
"""

from __future__ import annotations

from dataclasses import dataclass


class UsageError(Exception):
    """Wrong arguments, files or input of a user. The message is one line, with the remedy."""


class Violation(Exception):
    """A message breaks `rule`; `detail` says how, in one line.

    Checks raise it; a peer adds the party that is to blame (`Blame`).
    """

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(rule, detail)
        self.rule = rule
        # The detail may quote bytes of the counterparty, and is printed at a terminal.
        self.detail = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in detail)

    def __str__(self) -> str:
        return f"{self.rule}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Blame:
    """The peer `party` broke `rule` at `step` of the protocol; `detail` says how, in one line."""

    party: str
    step: str
    rule: str
    detail: str

    def __str__(self) -> str:
        return f"{self.party}, at {self.step}: {self.rule}: {self.detail}"


class InvariantError(AssertionError):
    """An internal invariant does not hold."""
