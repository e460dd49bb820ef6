"""Coverage at the lines of the Chialisp sources, as far as compiled code can be found in them.

The compiler's output has no lines. An expression is at the line of the one place of its function
that reads like it, or else at that of the expression around it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from channelsim.channel.lab.coverage.coverage import ProgramCoverage
from channelsim.channel.lab.targets.source_lines import find_line
from channelsim.channel.lab.targets.target import Target
from channelsim.clsp.analysis.code import MAIN
from channelsim.clsp.analysis.disassembly import Form
from channelsim.clsp.programs import SOURCE


@dataclass
class SourceCoverage:
    """Coverage of one file by lines, from 1: how many cases ran each.

    `branches` are by line and expression: the numbers of cases that took each side, and of those
    that came there. `functions` are by name: the line of the definition, and the cases.
    """

    lines: dict[int, int] = field(default_factory=dict)
    branches: dict[tuple[int, str], tuple[int, int, int]] = field(default_factory=dict)
    functions: dict[str, tuple[int, int]] = field(default_factory=dict)

    def line(self, number: int, cases: int) -> None:
        """Count an expression of a line: the one that most cases ran stands for it."""
        self.lines[number] = max(cases, self.lines.get(number, 0))

    def branch(self, number: int, text: str, sides: tuple[int, int], cases: int) -> None:
        """Count a choice; programs that share it add up."""
        yes, no, all_cases = self.branches.get((number, text), (0, 0, 0))
        self.branches[number, text] = yes + sides[0], no + sides[1], all_cases + cases

    def function(self, name: str, number: int, cases: int) -> None:
        """Count the calls of a function; programs that share it add up."""
        _, before = self.functions.get(name, (number, 0))
        self.functions[name] = number, before + cases


def source_coverage(
    target: Target, programs: Iterable[ProgramCoverage], *, libraries: bool
) -> dict[Path, SourceCoverage]:
    """The coverage of each source file that has code of these programs.

    Without `libraries`, those of this package are left out, unless the target is one of its games.
    """
    ours = libraries or _is_ours(target)
    files: defaultdict[Path, SourceCoverage] = defaultdict(SourceCoverage)
    for program in programs:
        of_program: defaultdict[Path, SourceCoverage] = defaultdict(SourceCoverage)
        for function, form in program.forms():
            name = program.name if function.name == MAIN else function.name
            place = find_line(target.source_texts(program.name), function.name)
            if place is not None:
                cases = program.hits[form.node] if form.node is not None else program.entries
                of_program[place[0]].function(name, place[1], cases)
                if function.name != MAIN:
                    of_program[place[0]].line(place[1], cases)
            _walk(target, program, function.name, form, place, of_program)
        for file, covered in of_program.items():
            if ours or file.is_absolute():
                _merge(files[Path(os.path.normpath(SOURCE / file))], covered)
    return dict(sorted(files.items()))


def _is_ours(target: Target) -> bool:
    """True for a game of this package: its sources lie among the libraries."""
    own = {} if target.sources is None else target.sources.programs
    return bool(own) and all(path.is_relative_to(SOURCE) for path in own.values())


def _walk(
    target: Target,
    program: ProgramCoverage,
    function: str,
    form: Form,
    around: tuple[Path, int] | None,
    files: Mapping[Path, SourceCoverage],
) -> None:
    """Count an expression and those inside of it; `around` is the place of the one around it."""
    here = around
    if form.items is not None and form.node is not None:
        text, cases = form.text(), program.hits[form.node]
        sides = [item.side for item in form.items if item.side is not None]
        # A choice is where its test is: the choice itself may come from a macro.
        texts = [form.items[0].text(), text] if len(sides) == 2 else [text]
        places = (target.expression_place(program.name, function, words) for words in texts)
        here = next(filter(None, places), around)
        if here is not None:
            file, line = here
            files[file].line(line, cases)
            if len(sides) == 2:
                yes, no = (program.sides[side] for side in sides)
                files[file].branch(line, text, (yes, no), cases)
    for item in form.items or ():
        _walk(target, program, function, item, here, files)


def _merge(whole: SourceCoverage, part: SourceCoverage) -> None:
    """Add the coverage of a file by another program."""
    for number, cases in part.lines.items():
        whole.lines[number] = whole.lines.get(number, 0) + cases
    for (number, text), (yes, no, cases) in part.branches.items():
        whole.branch(number, text, (yes, no), cases)
    for name, (number, cases) in part.functions.items():
        whole.function(name, number, cases)
