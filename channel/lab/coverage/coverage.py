"""Coverage of a target's programs: nodes and branches that a corpus reaches, by function.

Of a crosscheck only some runs are traced: a few of each way to end, in turn, as many as a budget
of cost allows. Every other case leaves a fingerprint.

Why no run can reach a place is stored in `unreachable.toml` beside each game:

    [[unreachable]]
    validator = "draw"
    function  = "pending_size"     # of the source
    reason    = "nobody owes an open card after a draw"
    places    = ["33 of (if (f (r (r (f pending)))) 33 32)"]   # as `channelsim conform` prints them

Programs of several games share sources, so a program may contain what only another one uses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest

import msgspec

from channelsim.channel.errors import UsageError
from channelsim.channel.lab.cases.corpus import StoredCase
from channelsim.channel.lab.cases.trial import LabTally, Sample
from channelsim.channel.lab.targets.stored_reasons import Place, Reason, ReasonsFile, read_reasons
from channelsim.channel.lab.targets.target import Target
from channelsim.channel.system.file_kinds import Kind
from channelsim.clsp.analysis.code import LET, Function
from channelsim.clsp.analysis.disassembly import Disassembly, Form, Line, layout, missing
from channelsim.clsp.analysis.tracer import Coverage, CoverageCounts, Tracer
from channelsim.games.registry import package_of

WIDTH = 96
"""Columns of disassembled code."""


@dataclass
class ProgramCoverage:
    """Coverage of one program; `differs` are entries whose outcome is not as expected.

    `hits` and `sides` count the entries that reach each node and each branch.
    `line_of` is the `file:line` of a function in the author's source, or of an expression of it.
    """

    name: str
    tracer: Tracer
    text: Disassembly
    line_of: Callable[..., str]
    entries: int = 0
    reached: Coverage = field(default_factory=Coverage)
    hits: Counter[int] = field(default_factory=Counter)
    sides: Counter[int] = field(default_factory=Counter)
    differs: list[str] = field(default_factory=list)

    def add(self, entry: StoredCase) -> bool:
        """Run an entry; whether it reached something new."""
        reach = self.tracer.reach(entry.arguments)
        new = self.reached.add(reach)
        self.hits.update(reach.nodes)
        self.sides.update(reach.branches)
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
        places = [
            (function.name, code)
            for function, form in self.forms()
            for code in missing(form, self.reached)
        ]
        if not places and not self.total.whole:
            places.append((self.tracer.code.functions[0].name, "code that is never called"))
        return places

    def line_of_place(self, function: str, code: str) -> str:
        """The `file:line` of a place of `unreached`: of a constant side, that of its `if`."""
        return self.line_of(function, code.partition(" of ")[2] or code)

    def listing(self) -> list[tuple[Function, list[Line]]]:
        """The functions of the source, as lines of code."""
        return [(function, layout(form, self.reached, WIDTH)) for function, form in self.forms()]

    def forms(self) -> list[tuple[Function, Form]]:
        """The functions of the source, with their code."""
        code = self.tracer.code
        return [
            (function, self.text.form(function.body, code.places[number]))
            for function in code.functions
            if function.name != LET and (number := code.id_of(function.body)) is not None
        ]


def corpus_coverage(
    target: Target, entries: Iterable[StoredCase], names: Iterable[str] | None = None
) -> dict[str, ProgramCoverage]:
    """Run the entries and collect the coverage of programs, of every one that there is by default,
    run or not.

    Raises `UsageError` for a program that cannot be traced.
    """
    programs = {}
    for name in target.traceable if names is None else names:
        tracer = target.tracer(name)
        text = Disassembly(tracer.code, target.hash_names)
        programs[name] = ProgramCoverage(name, tracer, text, partial(target.source_line, name))
    for entry in entries:
        programs[entry.program].add(entry)
    return programs


FILE = "unreachable.toml"


class _File(ReasonsFile, frozen=True):
    reasons: tuple[Reason, ...] = msgspec.field(name="unreachable")


def stored_reasons(target: Target) -> Mapping[Place, str]:
    """The reasons for those programs of a target that are the installed ones, byte for byte."""
    package = package_of(target.game.name) if target.rules is not None else ""
    return read_reasons(package, FILE, _File, Kind.UNREACHABLE, target.unchanged)


def unexplained(program: ProgramCoverage, reasons: Mapping[Place, str]) -> list[tuple[str, str]]:
    """The places of a program that were not reached and have no reason: function and code."""
    return [
        (function, code)
        for function, code in program.unreached()
        if (program.name, function, code) not in reasons
    ]


BUDGET = 30_000_000
"""The total CLVM cost of the traced runs of one validator: a fraction of a second."""

UNKNOWN = 20_000
"""The assumed cost of a run that raised: the interpreter does not report it."""


class SampledCoverage(msgspec.Struct, frozen=True):
    """Coverage of one validator by sampled runs; None where nothing was traced: its runs do not
    end, or it is nested too deep."""

    fingerprints: int
    reached: CoverageCounts | None = None


def sampled_coverage(target: Target, tally: LabTally) -> dict[str, SampledCoverage]:
    """Trace samples of a crosscheck's runs, and count what they reach, by validator."""
    return {
        name: SampledCoverage(
            len(tally.prints.get(name, ())),
            None if name in tally.runaway else _counts(target, name, tally.samples.get(name, {})),
        )
        for name in target.present
    }


def _counts(target: Target, name: str, by_end: dict[str, list[Sample]]) -> CoverageCounts | None:
    """The code that samples of one program's runs reach; None for one that is nested too deep."""
    try:
        tracer = target.tracer(name)
    except UsageError:
        return None
    covered = Coverage()
    budget = BUDGET
    for cost, arguments in in_turn(by_end):
        budget -= cost or UNKNOWN
        if budget < 0:
            break
        covered.add(tracer.reach(arguments))
    return covered.counts(tracer)


def in_turn(by_end: dict[str, list[Sample]]) -> Iterator[Sample]:
    """The stored runs, one of each way to end, then the second ones, and so on.

    >>> list(in_turn({"valid": [(9, b"1"), (8, b"3")], "RULE-1": [(7, b"2")]}))
    [(9, b'1'), (7, b'2'), (8, b'3')]
    """
    for runs in zip_longest(*by_end.values()):
        yield from (run for run in runs if run is not None)
