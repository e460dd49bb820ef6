"""Conditions whose truth a path knows without asking the solver."""

from __future__ import annotations

from collections.abc import Iterable

import z3

from channelsim.channel.prove.symbols import Condition, Term


class Facts:
    """Terms that are true or false on a path, by the solver's ids of them."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}
        self._kept: list[Term] = []  # so that the solver's ids stay theirs

    def simplified(self, condition: Condition) -> tuple[bool | None, Term]:
        """The truth of a condition, None where it is not known, and its simplest term."""
        if isinstance(condition, bool):
            return condition, None
        term = z3.simplify(condition)
        if z3.is_true(term):
            return True, term
        if z3.is_false(term):
            return False, term
        inner, flipped = (term.arg(0), True) if z3.is_not(term) else (term, False)
        known = self._known.get(inner.get_id())
        return (None if known is None else known != flipped), term

    def learn(self, term: Term, value: bool) -> list[int]:
        """Remember what a condition says, and its parts; the ids that are new."""
        if z3.is_not(term):
            return self.learn(term.arg(0), not value)
        new = []
        if term.get_id() not in self._known:
            self._known[term.get_id()] = value
            self._kept.append(term)
            new.append(term.get_id())
        if (z3.is_and(term) and value) or (z3.is_or(term) and not value):
            for part in term.children():
                new += self.learn(part, value)
        return new

    def forget(self, terms: Iterable[int]) -> None:
        """Know no more of these terms, by their ids."""
        for number in terms:
            del self._known[number]
