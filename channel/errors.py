"""The three families of errors. No other error is raised on purpose.

- `UsageError`: wrong arguments, files or input of the user; one line, exit code 2.
- `Violation`: a named party broke a named rule at a named step of the protocol.
- `InvariantError`: a bug in this program.
"""

from __future__ import annotations


class UsageError(Exception):
    """Wrong arguments, files or input of a user: what is wrong, where, and what to do."""


class Violation(Exception):
    """The peer `party` broke `rule` at `step`; `detail` says how, in one line."""

    def __init__(self, rule: str, detail: str, *, party: str = "", step: str = "") -> None:
        super().__init__(rule, detail, party, step)
        self.rule = rule
        # The detail may quote bytes of the counterparty, and is printed at a terminal.
        self.detail = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in detail)
        self.party = party
        self.step = step

    def by(self, party: str, step: str) -> Violation:
        """The same violation, with who committed it, and at which step."""
        return Violation(self.rule, self.detail, party=party, step=step)

    def __str__(self) -> str:
        who = f"{self.party}, at {self.step}: " if self.party else ""
        return f"{who}{self.rule}: {self.detail}"


class InvariantError(AssertionError):
    """An internal invariant does not hold."""
