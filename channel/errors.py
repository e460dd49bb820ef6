"""The three families of errors. Nothing else is raised on purpose, nothing is swallowed.

- `UsageError`: whoever called used us wrongly; one line, exit code 2.
- `Violation`: a named party broke a named rule at a named step of the protocol.
- `InvariantError`: cannot happen; if it does, it is a bug of ours.
"""

from __future__ import annotations


class UsageError(Exception):
    """Bad arguments, files or answers of a person: what is wrong, where, what to do."""


class Violation(Exception):
    """The peer `party` broke `rule` at `step`; `detail` says how, in one line."""

    def __init__(self, rule: str, detail: str, *, party: str = "", step: str = "") -> None:
        super().__init__(rule, detail, party, step)
        self.rule = rule
        # The detail may quote what a stranger sent, and goes to somebody's terminal.
        self.detail = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in detail)
        self.party = party
        self.step = step

    def __str__(self) -> str:
        who = f"{self.party}, at {self.step}: " if self.party else ""
        return f"{who}{self.rule}: {self.detail}"


class InvariantError(AssertionError):
    """A promise that this program makes to itself does not hold."""
