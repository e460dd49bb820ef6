"""Coverage in the format of lcov, which editors and services for pull requests read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from channelsim.channel.lab.coverage.source_coverage import SourceCoverage


def lcov(files: Mapping[Path, SourceCoverage]) -> str:
    """The coverage of source files. A file inside of the current folder is named relative to it.

    >>> covered = SourceCoverage({2: 5}, {(2, "(if A B C)"): (5, 0, 5)}, {"reveal": (1, 5)})
    >>> print(lcov({Path("/a.clsp"): covered}))
    TN:
    SF:/a.clsp
    FN:1,reveal
    FNDA:5,reveal
    FNF:1
    FNH:1
    BRDA:2,0,0,5
    BRDA:2,0,1,0
    BRF:2
    BRH:1
    DA:2,5
    LF:1
    LH:1
    end_of_record
    <BLANKLINE>
    """
    return "".join(f"{line}\n" for path, covered in files.items() for line in _file(path, covered))


def _file(path: Path, covered: SourceCoverage) -> Iterator[str]:
    here = Path.cwd()
    yield "TN:"
    yield f"SF:{path.relative_to(here) if path.is_relative_to(here) else path}"
    functions = sorted(covered.functions.items(), key=lambda function: (function[1], function[0]))
    yield from (f"FN:{line},{name}" for name, (line, _) in functions)
    yield from (f"FNDA:{cases},{name}" for name, (_, cases) in functions)
    yield f"FNF:{len(functions)}"
    yield f"FNH:{sum(cases > 0 for _, (_, cases) in functions)}"
    blocks: dict[int, int] = {}
    for (line, _), (yes, no, cases) in sorted(covered.branches.items()):
        block = blocks[line] = blocks.get(line, -1) + 1
        for side, taken in enumerate((yes, no)):
            yield f"BRDA:{line},{block},{side},{taken if cases else '-'}"
    sides = [side for yes, no, _ in covered.branches.values() for side in (yes, no)]
    yield f"BRF:{len(sides)}"
    yield f"BRH:{sum(side > 0 for side in sides)}"
    lines = sorted(covered.lines.items())
    yield from (f"DA:{line},{cases}" for line, cases in lines)
    yield f"LF:{len(lines)}"
    yield f"LH:{sum(cases > 0 for _, cases in lines)}"
    yield "end_of_record"
