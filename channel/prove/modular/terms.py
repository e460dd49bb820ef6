"""Expressions over the arguments of a function; equal ones are one object."""

from __future__ import annotations

from typing import Any

from channelsim.clsp.values import Value


class Term:
    """An expression: its `kind`, and the `parts` that it is made of.

    >>> terms = Terms()
    >>> terms.make("f", terms.make("input", 0)) is terms.make("f", terms.make("input", 0))
    True
    """

    __slots__ = ("kind", "number", "parts")

    def __init__(self, kind: str, parts: tuple[Any, ...], number: int) -> None:
        self.kind, self.parts, self.number = kind, parts, number

    def __repr__(self) -> str:
        inner = ", ".join(
            part.hex() if isinstance(part, bytes) else repr(part) for part in self.parts
        )
        return f"{self.kind}({inner:.300})"


class Terms:
    """All terms of a proof.

    A constant pair is a `code`: it is told apart by its identity, as functions are.
    """

    def __init__(self) -> None:
        self._terms: dict[Any, Term] = {}

    def make(self, kind: str, *parts: Any) -> Term:
        """The term of this kind with these parts."""
        key = kind, *parts
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = Term(kind, parts, len(self._terms))
        return found

    def constant(self, value: Value) -> Term:
        """A known value."""
        if isinstance(value, bytes):
            return self.make("atom", value)
        key = "code", id(value)
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = Term("code", (value,), len(self._terms))
        return found
