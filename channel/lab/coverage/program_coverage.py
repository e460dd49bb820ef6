"""Coverage of each program of a target by a corpus: nodes and branches, by function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from channelsim.channel.lab.cases.corpus import Entry
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.code import LET, Function
from channelsim.clsp.analysis.disassembly import Disassembly, Form
from channelsim.clsp.analysis.layout import Line, layout, missing
from channelsim.clsp.analysis.tracer import Coverage, CoverageCounts, Tracer

WIDTH = 96
"""Columns of disassembled code."""


@dataclass
class ProgramCoverage:
    """Coverage of one program; `differs` are entries whose outcome is not as expected.

    `line_of` is the `file:line` of a function in the author's source, or of an expression of it.
    """

    name: str
    tracer: Tracer
    text: Disassembly
    line_of: Callable[..., str]
    entries: int = 0
    reached: Coverage = field(default_factory=Coverage)
    differs: list[str] = field(default_factory=list)

    def add(self, entry: Entry) -> bool:
        """Run an entry; whether it reached something new."""
        new = self.reached.add(self.tracer.reach(entry.arguments))
        self.entries += 1
        if entry.differs is not None:
            self.differs.append(f"{entry.id}: {entry.differs}")
        return new

    @property
    def total(self) -> CoverageCounts:
        """The counts of the whole program."""
        return self.reached.counts(self.tracer)

    @property
    def functions(self) -> dict[str, CoverageCounts]:
        """The counts of each function, in the order in which they are written."""
        code = self.tracer.code
        of_sides = [code.owners[choice] for choice in code.choices for _ in range(2)]
        nodes, branches = Counter(code.owners), Counter(of_sides)
        nodes_reached = Counter(code.owners[node] for node in self.reached.nodes)
        branches_reached = Counter(of_sides[side] for side in self.reached.branches)
        return {
            name: CoverageCounts(
                nodes[name], nodes_reached[name], branches[name], branches_reached[name]
            )
            for name in dict.fromkeys(code.owners)
        }

    def unreached(self) -> list[tuple[str, str]]:
        """The places that were not reached inside of others that were: function and code."""
        found = [
            (function.name, one)
            for function, form in self._forms()
            for one in missing(form, self.reached)
        ]
        if not found and not self.total.whole:
            found.append((self.tracer.code.functions[0].name, "code that is never called"))
        return found

    def listing(self) -> list[tuple[Function, list[Line]]]:
        """The functions of the source, as lines of code."""
        return [(function, layout(form, self.reached, WIDTH)) for function, form in self._forms()]

    def _forms(self) -> list[tuple[Function, Form]]:
        code = self.tracer.code
        return [
            (function, self.text.form(function.body, code.places[number]))
            for function in code.functions
            if function.name != LET and (number := code.id_of(function.body)) is not None
        ]


def corpus_coverage(target: Target, entries: Iterable[Entry]) -> dict[str, ProgramCoverage]:
    """Run the entries and collect the coverage of every program that there is, run or not.

    Raises `UsageError` for a program that cannot be traced.
    """
    found = {}
    for name in target.traceable:
        tracer = target.tracer(name)
        text = Disassembly(tracer.code, target.hash_names)
        found[name] = ProgramCoverage(name, tracer, text, partial(target.source_line, name))
    for entry in entries:
        found[entry.program].add(entry)
    return found
