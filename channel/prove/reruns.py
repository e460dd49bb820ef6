"""Sides that run a program on arguments of their own, one after the other along a path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from channelsim.channel.prove.arguments import EVIDENCE, MORE, part, replaced
from channelsim.channel.prove.executor import Ending, Returned, SymbolicProgram, Unknown
from channelsim.channel.prove.judged import Judged, judged, real_ending
from channelsim.channel.prove.lemma_checks import Used
from channelsim.channel.prove.path import Path
from channelsim.channel.prove.symbols import Symbolic, Undecided
from channelsim.clsp.programs import Program
from channelsim.clsp.run import Outcome, ProgramSlash, run
from channelsim.clsp.values import NIL, Value
from channelsim.games.lemma import Lemma


def plain(environment: Any) -> Any:
    """The arguments of a validator, without a claim's own inputs behind them."""
    return replaced(environment, MORE, NIL)


OTHER = (*MORE, 0)
"""The place of the first further input of a claim: another move, or other evidence."""


def with_other_evidence(environment: Any) -> Any:
    """The arguments of a validator with the claim's other evidence."""
    return plain(replaced(environment, EVIDENCE, part(environment, OTHER)))


@dataclass(eq=False)
class Run:
    """A side that runs a program on arguments made from the inputs by `change`.

    After another run it is done only where that one ended as `wanted`, as its own `reads` has it;
    elsewhere it counts as a slash that costs nothing.
    """

    name: str
    program: Program
    change: Callable[[Any], Any] = plain
    after: Run | None = None
    wanted: Callable[[Judged], bool] = lambda ended: True
    reads: Callable[[Path, Ending], Judged] = judged
    lemmas: tuple[Lemma, ...] = ()
    _symbolic: SymbolicProgram = field(init=False)
    last: Ending = field(init=False, default=Unknown("not run"))

    def __post_init__(self) -> None:
        self._symbolic = SymbolicProgram(self.name, self.program, self.lemmas)

    @property
    def uses(self) -> Mapping[int, tuple[Used, ...]]:
        """The functions that lemmas are about, by the identity of their code."""
        return self._symbolic.uses

    def run(self, path: Path, environment: Symbolic) -> Ending:
        """Run along a path."""
        try:
            if self.after is not None and not self._is_wanted(path, self.after, self.after.last):
                self.last = Returned(NIL)
            else:
                self.last = self._symbolic.run(path, self.change(path.shape(environment)))
        except Undecided as undecided:
            self.last = Unknown(undecided.reason)
        return self.last

    def real(self, environment: Value) -> Outcome:
        """Run for real."""
        if self.after is not None:
            before = real_ending(self.after.real(environment))
            if not self._is_wanted(Path(None, (), inf), self.after, before):
                return ProgramSlash(0)
        return run(self.program, self.change(environment))

    def _is_wanted(self, path: Path, before: Run, ending: Ending) -> bool:
        return self.wanted(before.reads(path, ending))

    def place(self, node: Any) -> str:
        """An expression of the program with its function, as text."""
        return self._symbolic.place(node)

    def constants(self) -> Iterator[int]:
        """The atoms of the program as numbers."""
        return self._symbolic.constants()
