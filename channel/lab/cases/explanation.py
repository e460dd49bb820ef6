"""Lines of text on a case that a target's program decides in another way than expected."""

from __future__ import annotations

from collections.abc import Iterator

from channelsim.channel.lab.cases.comparison import compared, side_by_side
from channelsim.channel.lab.cases.decision import deciding_line
from channelsim.channel.lab.targets.target import Target
from channelsim.games.vectors import Case, arguments


def explanation(target: Target, case: Case) -> Iterator[str]:
    """Both results side by side, and the line of the author's source that decides.

    No line for a case that ends as expected. Raises `BadCase`.
    """
    parts = compared(target, case)
    if not parts:
        return
    yield from side_by_side(parts)
    environment = arguments(case, target.name, target.programs)
    line = deciding_line(target, case.validator, environment)
    if line:
        yield f"source: {line}"
